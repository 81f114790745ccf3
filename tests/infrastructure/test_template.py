"""The template against the code that it deploys, and against the rules that every deployment keeps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from fencepost.http.errors import ERRORS
from fencepost.http.routing import Route
from fencepost.kernel.errors import ErrorCode
from fencepost.observability.powertools.metrics import NAMESPACE
from fencepost.settings import Settings
from fencepost.turns.routes.stateless_chat import Chat
from fencepost.turns.routes.turns import TurnRoutes
from fencepost.web.routes import ROUTES
from local import template
from local.paths import ROOT

# The key itself never stands in a function's environment: it is a secret's first value.
NO_VARIABLES = {"ANTHROPIC_API_KEY"}
# Actions that name no resource, each with the reason.
WILDCARD_RESOURCES = {
    "xray:PutTraceSegments": "X-Ray knows no resources",
    "xray:PutTelemetryRecords": "X-Ray knows no resources",
    "dynamodb:ListStreams": "AWS lets it name no resource",
}
# What an operator sets up stays until an operator changes it.
KEPT_UNTIL_CHANGED = {"DirectoryTable"}
# Versions would keep what was erased.
ERASABLE = {"ContentBucket"}
type Resource = dict[str, Any]


def resources(kind: str) -> dict[str, Resource]:
    found: dict[str, Resource] = {
        name: resource for name, resource in template.load()["Resources"].items() if resource["Type"] == kind
    }
    return found


def properties(kind: str) -> dict[str, dict[str, Any]]:
    return {name: resource.get("Properties", {}) for name, resource in resources(kind).items()}


FUNCTIONS = properties("AWS::Serverless::Function")
PARAMETERS: dict[str, dict[str, Any]] = template.load()["Parameters"]
GLOBALS: dict[str, Any] = template.load()["Globals"]["Function"]


def referenced(value: Any) -> str:
    """Return what a variable is made of: a parameter, or a resource that may be conditional."""
    if "If" in value:
        _, wanted, otherwise = value["If"]
        return str(otherwise["Ref"] if otherwise else wanted["GetAtt"].partition(".")[0])
    return str(value["Ref"])


@pytest.mark.parametrize("name", ["ChatFunction", "ApiFunction", "RelayFunction", "JobsFunction"])
def test_every_setting_is_set_from_a_parameter_or_a_resource_and_nothing_else_is(name: str) -> None:
    variables = FUNCTIONS[name]["Environment"]["Variables"]
    aliases = {field.alias for field in Settings.model_fields.values()}
    assert set(variables) == aliases - NO_VARIABLES
    known = PARAMETERS.keys() | template.load()["Resources"].keys()
    assert all(referenced(value) in known for value in variables.values())


def test_every_parameter_is_used() -> None:
    text = (ROOT / "template.yaml").read_text()
    for name in PARAMETERS:
        assert re.search(rf"(!Ref |\$\{{|\[|, ){name}\b", text.partition("Conditions:")[2]), name


def test_every_handler_is_in_the_template_and_the_other_way_round() -> None:
    folders = {str(path.parent.relative_to(ROOT)) for path in (ROOT / "functions").glob("*/app.py")}
    assert {function["CodeUri"] for function in FUNCTIONS.values()} == folders


def test_functions_run_as_promised() -> None:
    assert GLOBALS["Runtime"] == "python3.13"
    assert PARAMETERS[GLOBALS["Architectures"][0]["Ref"]]["Default"] == "arm64"
    assert GLOBALS["AutoPublishAlias"]
    assert PARAMETERS[GLOBALS["SnapStart"]["ApplyOn"]["Ref"]]["Default"] == "PublishedVersions"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_has_its_own_role_and_json_logs_that_expire(name: str) -> None:
    function = FUNCTIONS[name]
    assert function["LoggingConfig"]["LogFormat"] == "JSON"
    group = properties("AWS::Logs::LogGroup")[function["LoggingConfig"]["LogGroup"]["Ref"]]
    assert group["RetentionInDays"]
    users = [other for other in FUNCTIONS.values() if other["Role"] == function["Role"]]
    assert users == [function]


def test_every_log_group_expires() -> None:
    assert all("RetentionInDays" in group for group in properties("AWS::Logs::LogGroup").values())


def statements() -> Iterator[tuple[str, dict[str, Any]]]:
    for kind in ("AWS::IAM::Role", "AWS::IAM::ManagedPolicy"):
        for name, role in properties(kind).items():
            documents = [policy["PolicyDocument"] for policy in role.get("Policies", ())]
            for document in [*documents, *([role["PolicyDocument"]] if "PolicyDocument" in role else [])]:
                for statement in document["Statement"]:
                    yield from ((name, either) for either in alternatives(statement))


def alternatives(statement: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a statement, or both of those that a condition chooses from."""
    if "If" not in statement:
        yield statement
        return
    _, *either = statement["If"]
    yield from (one for one in either if one != {"Ref": "AWS::NoValue"})


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_policies_name_their_actions_and_resources() -> None:
    for name, statement in statements():
        actions = as_list(statement["Action"])
        assert not [action for action in actions if "*" in action], name
        if "*" in as_list(statement["Resource"]):
            assert set(actions) <= WILDCARD_RESOURCES.keys(), name


def test_no_function_gets_a_policy_by_another_way() -> None:
    for function in (GLOBALS, *FUNCTIONS.values()):
        assert not function.keys() & {"Policies", "PermissionsBoundary"}
    assert {role["Ref"] for role in managed_policies()} <= properties("AWS::IAM::ManagedPolicy").keys()


def managed_policies() -> Iterator[dict[str, str]]:
    for name in {function["Role"]["GetAtt"].partition(".")[0] for function in FUNCTIONS.values()}:
        for policy in properties("AWS::IAM::Role")[name].get("ManagedPolicyArns", ()):
            _, wanted, otherwise = policy["If"]
            assert otherwise == {"Ref": "AWS::NoValue"}
            yield wanted


def test_the_meta_function_reaches_no_store_and_no_secret() -> None:
    actions = {
        action for name, statement in statements() if name == "MetaRole" for action in as_list(statement["Action"])
    }
    assert actions == {"logs:CreateLogStream", "logs:PutLogEvents"}


@pytest.mark.parametrize("name", properties("AWS::DynamoDB::Table"))
def test_tables_are_on_demand_restorable_and_expire_items(name: str) -> None:
    table = resources("AWS::DynamoDB::Table")[name]
    assert table["Properties"]["BillingMode"] == "PAY_PER_REQUEST"
    assert table["Properties"]["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert (name in KEPT_UNTIL_CHANGED) != ("TimeToLiveSpecification" in table["Properties"])
    if name not in KEPT_UNTIL_CHANGED:
        assert table["Properties"]["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert table["Properties"]["SSESpecification"] == {"SSEEnabled": True}
    assert table["DeletionPolicy"] == table["UpdateReplacePolicy"]


@pytest.mark.parametrize("name", ["LedgerTable", "DirectoryTable", "ConversationsTable"])
def test_what_cannot_be_had_again_outlives_the_stack(name: str) -> None:
    assert resources("AWS::DynamoDB::Table")[name]["DeletionPolicy"] == "Retain"


@pytest.mark.parametrize("name", properties("AWS::S3::Bucket"))
def test_buckets_are_private_encrypted_and_tls_only(name: str) -> None:
    bucket = properties("AWS::S3::Bucket")[name]
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["BucketEncryption"]
    assert bucket.get("VersioningConfiguration") == (None if name in ERASABLE else {"Status": "Enabled"})
    policies = [
        policy["PolicyDocument"]["Statement"]
        for policy in properties("AWS::S3::BucketPolicy").values()
        if policy["Bucket"] == {"Ref": name}
    ]
    assert [row for rows in policies for row in rows if row["Effect"] == "Deny" and row["Sid"] == "TlsOnly"]


@pytest.mark.parametrize(
    ("function", "path", "methods"),
    [
        ("ChatFunction", "/api/ai-chat", {"POST", "OPTIONS", "GET", "HEAD", "PUT", "PATCH", "DELETE"}),
        ("ChatFunction", "/v1/chat", {"POST", "OPTIONS", "GET", "PUT", "PATCH", "DELETE"}),
        ("ApiFunction", "/v1/{proxy+}", {"POST", "OPTIONS", "GET", "PUT", "PATCH", "DELETE"}),
    ],
)
def test_each_method_is_named_and_reaches_its_function(function: str, path: str, methods: set[str]) -> None:
    events = FUNCTIONS[function]["Events"].values()
    assert {event["Type"] for event in events} == {"Api"}
    assert {event["Properties"]["Method"] for event in events if event["Properties"]["Path"] == path} == methods


def api_events() -> dict[str, tuple[str, set[str]]]:
    """Return, for each path of the template's API events, the function and the methods that reach it."""
    found: dict[str, tuple[str, set[str]]] = {}
    for name, function in FUNCTIONS.items():
        for event in function.get("Events", {}).values():
            if event["Type"] == "Api":
                owner, methods = found.setdefault(event["Properties"]["Path"], (name, set()))
                assert owner == name
                methods.add(event["Properties"]["Method"])
    return found


def event_path(route_path: str) -> str:
    """Return the template's path that the gateway matches a route's path with: a literal one before a greedy one."""
    literal = [path for path in api_events() if path == route_path]
    greedy = [
        path
        for path in api_events()
        if path.endswith("{proxy+}") and route_path.startswith(path.removesuffix("{proxy+}"))
    ]
    return [*literal, *greedy][0]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation_id)
def test_every_route_reaches_the_function_that_serves_it(route: Route) -> None:
    function, methods = api_events()[event_path(route.path)]
    chat = {row.path for group in (Chat, TurnRoutes) for row in group.table}
    assert function == ("ChatFunction" if route.path in chat else "ApiFunction")
    assert {route.method, "OPTIONS"} <= methods


def test_every_path_of_the_template_has_a_route() -> None:
    assert {event_path(route.path) for route in ROUTES} == api_events().keys() - {"/health", "/openapi.json"}
    assert all(api_events()[path] == ("MetaFunction", {"GET"}) for path in ("/health", "/openapi.json"))


GATEWAY_RESPONSES: dict[str, dict[str, Any]] = properties("AWS::Serverless::Api")["Api"]["GatewayResponses"]


@pytest.mark.parametrize("kind", GATEWAY_RESPONSES)
def test_what_the_gateway_answers_by_itself_is_a_row_of_our_table(kind: str) -> None:
    response = GATEWAY_RESPONSES[kind]
    body = json.loads(response["ResponseTemplates"]["application/json"])
    row = ERRORS[ErrorCode(body["code"])]
    assert body == {"error": row.sentence, "code": body["code"], "requestId": "$context.requestId"}
    if not kind.startswith("DEFAULT_"):
        assert response["StatusCode"] == row.status
    headers = dict(response["ResponseParameters"]["Headers"])
    assert headers.pop("Retry-After", None) == (f"'{row.retry_after}'" if row.retry_after else None)
    assert headers == {
        "Access-Control-Allow-Origin": "'*'",
        "Access-Control-Expose-Headers": "'Retry-After'",
        "Cache-Control": "'no-store'",
    }


def test_the_gateways_families_and_what_has_a_code_of_ours_are_covered() -> None:
    assert GATEWAY_RESPONSES.keys() >= {
        "DEFAULT_4XX",
        "DEFAULT_5XX",
        "MISSING_AUTHENTICATION_TOKEN",
        "INVALID_SIGNATURE",
        "UNAUTHORIZED",
        "REQUEST_TOO_LARGE",
        "THROTTLED",
    }


@pytest.mark.parametrize("kind", ["MISSING_AUTHENTICATION_TOKEN", "INVALID_SIGNATURE", "RESOURCE_NOT_FOUND"])
def test_what_is_not_there_is_not_there_with_and_without_a_token(kind: str) -> None:
    assert GATEWAY_RESPONSES[kind]["StatusCode"] == 404


def test_the_gateway_waits_longer_than_the_function_and_the_function_than_the_provider() -> None:
    gateway_seconds = 29
    assert GLOBALS["Timeout"] <= gateway_seconds
    field = Settings.model_fields["provider_timeout_seconds"]
    longest = max(limit.le for limit in field.metadata if hasattr(limit, "le"))
    assert longest < GLOBALS["Timeout"]


def test_the_stage_throttles() -> None:
    (settings,) = properties("AWS::Serverless::Api")["Api"]["MethodSettings"]
    assert settings["ResourcePath"] == "/*"
    assert {settings["ThrottlingRateLimit"]["Ref"], settings["ThrottlingBurstLimit"]["Ref"]} <= PARAMETERS.keys()


def test_access_logs_hold_nothing_of_a_visitor() -> None:
    _, wanted, _ = properties("AWS::Serverless::Api")["Api"]["AccessLogSetting"]["If"]
    names = re.findall(r"\$context\.([\w.]+)", wanted["Format"])
    assert names
    assert not [
        name
        for name in names
        if re.search("identity|authorizer|path$|querystring|header", name, re.IGNORECASE) and name != "resourcePath"
    ]


def test_the_metrics_namespace_is_the_codes() -> None:
    assert GLOBALS["Environment"]["Variables"]["POWERTOOLS_METRICS_NAMESPACE"] == NAMESPACE
