"""Each function's role against the code that the function is built with: no action too many, and none too few."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from fencepost.identity import rows as keys
from fencepost.jobs import rows as jobs_rows
from tests.infrastructure.code_calls import actions_of, adapters_of
from tests.infrastructure.test_template import alternatives, as_list, properties

ROLES = properties("AWS::IAM::Role")
WORK = {"dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:BatchWriteItem"}
"""What jobs do to a document's rows."""
FUNCTIONS = {
    "chat": "ChatRole",
    "api": "ApiRole",
    "relay": "RelayRole",
    "jobs": "JobsRole",
    "schedule": "ScheduleRole",
}
HOMES = {
    "limits.dynamodb.limiter": "LimitsTable",
    "limits.dynamodb.ledger": "LedgerTable",
    "observability.dynamodb.audit": "AuditTable",
    "identity.dynamodb.directory": "DirectoryTable",
    "identity.dynamodb.directory_admin": "DirectoryTable",
    "jobs.dynamodb.registry": "DirectoryTable",
    "documents.dynamodb.documents": "CorpusTable",
    "jobs.dynamodb.reconciler": "CorpusTable",
    "retrieval.dynamodb": "CorpusTable",
    "documents.s3": "LlmsFullBucket",
    "blobs.s3": "ContentBucket",
    "queue.sqs": "JobsQueue",
    "access.sts": "OrganisationRole",
}
"""What an adapter reaches; all others reach the conversations' table."""
ALSO_IN_THE_DIRECTORY = {
    "turns.dynamodb.turns": {"dynamodb:BatchGetItem"},
    "turns.dynamodb.writes": {"dynamodb:ConditionCheckItem"},
}
"""A turn looks at the membership in the same transaction, and in the same read, as at the conversation."""
NO_SDK_OF_ITS_OWN = {"documents.fetching.pinned_http"}
NOT_USED = {"chat": {"memory.rows"}, "schedule": {"blobs.s3", "memory.rows"}}
"""What a function imports along with something else, and never calls: no role has to allow it."""
NEVER_CALLED = {
    # Only the worker puts a job off.
    **{(function, "queue.sqs"): {"sqs:ChangeMessageVisibility"} for function in ("chat", "api", "relay", "schedule")},
    # Pages of all sites are asked for by the functions with an API.
    ("jobs", "identity.dynamodb.directory"): {"dynamodb:Query"},
    # A turn's objects last.
    ("chat", "blobs.s3"): {"s3:DeleteObject", "s3:PutObjectTagging"},
    # Who answers reads what was found, who administers and who sweeps changes documents' rows: jobs do the rest.
    ("chat", "documents.dynamodb.documents"): {*WORK, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"},
    ("api", "documents.dynamodb.documents"): WORK,
    ("schedule", "documents.dynamodb.documents"): WORK,
    # It compares what is there, and lets jobs repair it.
    ("schedule", "conversations.dynamodb.conversations"): {
        *WORK,
        "dynamodb:BatchGetItem",
        "dynamodb:ConditionCheckItem",
    },
    ("schedule", "memory.dynamodb.chunks"): {*WORK, "dynamodb:PutItem", "dynamodb:ConditionCheckItem"},
}
"""What an adapter does for other functions than this one."""
ONLY_NAMED = {("schedule", "retrieval.bedrock")}
"""Who needs to know which model embeds, and asks it for nothing."""
LAMBDAS_OWN = {
    "logs:CreateLogStream",
    "logs:PutLogEvents",
    "secretsmanager:GetSecretValue",
    "dynamodb:DescribeStream",
    "dynamodb:GetRecords",
    "dynamodb:GetShardIterator",
    "dynamodb:ListStreams",
    "sqs:ReceiveMessage",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
}
"""What the runtime and event sources ask for, and secrets, which have a test of their own."""

type Grants = Mapping[str, set[str]]


def granted(role: str, *, by_tenant_role: bool = False) -> Grants:
    """Return the actions that a role allows, by the resource."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for policy in ROLES[role]["Policies"]:
        for statement in policy["PolicyDocument"]["Statement"]:
            for chosen in chosen_of(statement, by_tenant_role=by_tenant_role):
                for resource in as_list(chosen["Resource"]):
                    found[name_of(resource)].update(set(as_list(chosen["Action"])) - LAMBDAS_OWN)
    return {name: actions for name, actions in found.items() if actions}


def chosen_of(statement: dict[str, Any], *, by_tenant_role: bool) -> Iterator[dict[str, Any]]:
    if "If" not in statement:
        yield statement
        return
    condition, wanted, otherwise = statement["If"]
    assert condition == "HasTenantRole"
    chosen = wanted if by_tenant_role else otherwise
    if chosen != {"Ref": "AWS::NoValue"}:
        yield chosen


def name_of(resource: Any) -> str:
    if resource == "*":
        return "*"
    text = next(iter(resource.values()))
    found = re.search(r"\w+", text)
    assert found
    return found[0]


def asked(function: str) -> Grants:
    """Return the actions that a function's code asks for, by the resource."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for module in adapters_of(function):
        adapter = module.removeprefix("fencepost.")
        if module.startswith("fencepost.kernel.aws.") or adapter in {
            *NO_SDK_OF_ITS_OWN,
            *NOT_USED.get(function, set()),
            "access.sts",
        }:
            continue
        actions = actions_of(module)
        if actions:
            home = HOMES.get(adapter, "ConversationsTable")
            found[home].update(actions - NEVER_CALLED.get((function, adapter), set()))
        found["DirectoryTable"].update(ALSO_IN_THE_DIRECTORY.get(adapter, set()))
    return {name: actions for name, actions in found.items() if actions}


def test_the_code_is_read_at_all() -> None:
    assert asked("chat")["LedgerTable"] == {"dynamodb:UpdateItem"}
    assert asked("api")["ContentBucket"] >= {"s3:DeleteObject", "s3:GetObject"}
    assert asked("relay") == {"JobsQueue": {"sqs:SendMessage"}}
    assert asked("meta") == {}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_role_allows_what_its_functions_code_asks_for_and_nothing_else(function: str) -> None:
    allowed = dict(granted(FUNCTIONS[function]))
    # The event source writes there what the function could not handle.
    allowed.pop("RelayDeadLetters", None)
    # Listing is what makes S3 say that an object is absent, rather than that it may not be seen.
    for bucket in ("LlmsFullBucket", "ContentBucket"):
        if bucket in allowed:
            allowed[bucket] -= {"s3:ListBucket"}
    wanted = {name: actions - {"s3:ListBucket"} for name, actions in asked(function).items()}
    assert allowed == wanted


TENANTS = {"ConversationsTable", "ContentBucket", "CorpusTable"}
"""What holds what organisations have."""


@pytest.mark.parametrize("function", ["chat", "api", "jobs", "schedule"])
def test_with_the_tenant_role_no_function_reaches_what_organisations_have_by_itself(function: str) -> None:
    allowed = dict(granted(FUNCTIONS[function], by_tenant_role=True))
    assert allowed["OrganisationRole"] == {"sts:AssumeRole", "sts:TagSession"}
    # The agenda has no organisation, and holds keys alone.
    agenda = allowed.pop("CorpusTable", None)
    assert agenda == ({"dynamodb:Query"} if function == "schedule" else None)
    assert not allowed.keys() & TENANTS


def test_the_schedule_reads_the_agenda_and_the_roll_alone_of_what_has_no_scope() -> None:
    agenda, roll = [
        statement
        for policy in ROLES["ScheduleRole"]["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
        if "dynamodb:Query" in as_list(statement.get("Action"))
    ]
    assert agenda["Resource"] == {"Sub": "${CorpusTable.Arn}/index/agenda"}
    assert roll["Condition"] == {
        "ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [keys.REGISTRY, jobs_rows.round_row()["pk"]["S"]]},
        "Null": {"dynamodb:LeadingKeys": "false"},
    }
    (index,) = properties("AWS::DynamoDB::Table")["CorpusTable"]["GlobalSecondaryIndexes"]
    assert index["Projection"] == {"ProjectionType": "KEYS_ONLY"}


def test_the_tenant_role_allows_what_the_functions_together_ask_for() -> None:
    allowed = granted("OrganisationRole")
    for name in TENANTS:
        assert allowed[name] == set().union(*(asked(function).get(name, set()) for function in FUNCTIONS))
    assert allowed["DirectoryTable"] == set().union(*ALSO_IN_THE_DIRECTORY.values())
    assert allowed.keys() == {*TENANTS, "DirectoryTable"}


@pytest.mark.parametrize(
    ("adapter", "policy"),
    [("retrieval.bedrock", "EmbeddingPolicy"), ("retrieval.indexes.opensearch.cluster", "IndexPolicy")],
)
def test_who_embeds_and_who_searches_is_allowed_to(adapter: str, policy: str) -> None:
    built_with = {f"fencepost.{adapter}" in adapters_of(function) for function in FUNCTIONS}
    assert built_with == {True, False}
    for function, role in FUNCTIONS.items():
        allowed = [row["If"][1]["Ref"] for row in ROLES[role]["ManagedPolicyArns"]]
        used = f"fencepost.{adapter}" in adapters_of(function) and (function, adapter) not in ONLY_NAMED
        assert (policy in allowed) == used, function


@pytest.mark.parametrize(
    ("role", "secrets"),
    [
        ("ChatRole", {"ProviderSecret", "SigningSecret", "EdgeSecret"}),
        ("ApiRole", {"ProviderSecret", "SigningSecret", "EdgeSecret"}),
        ("JobsRole", {"ProviderSecret", "SigningSecret"}),
        ("RelayRole", set()),
        ("ScheduleRole", set()),
        ("MetaRole", set()),
        ("OrganisationRole", set()),
    ],
)
def test_a_role_reads_the_secrets_that_its_function_needs(role: str, secrets: set[str]) -> None:
    read = {
        name_of(resource)
        for policy in ROLES[role]["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
        for chosen in alternatives(statement)
        if "secretsmanager:GetSecretValue" in as_list(chosen["Action"])
        for resource in as_list(chosen["Resource"])
    }
    assert read == secrets
