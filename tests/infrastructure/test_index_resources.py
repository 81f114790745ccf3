"""The index's collection: made where it is asked for, reached by whom it concerns, and never without a limit."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from fencepost.retrieval.domain.search import EmbeddingModel
from fencepost.retrieval.indexes.opensearch.mapping import ALIAS, IndexPlan
from local import template

RESOURCES: dict[str, dict[str, Any]] = template.load()["Resources"]
MADE = {name: row for name, row in RESOURCES.items() if row["Type"].startswith("AWS::OpenSearchServerless::")}
NAME = "fencepost-1a2b3c4d"


def policy(resource: str) -> Any:
    """Return a policy's document as it is in a stack, with roles by their logical ids."""
    text, parts = MADE[resource]["Properties"]["Policy"]["Sub"]
    known: dict[str, str] = {"Name": NAME, "Operator": parts.get("Operator", {}).get("If", ["", {"Sub": ""}])[1]["Sub"]}
    for _ in range(2):
        text = re.sub(r"\$\{(\w+)[.\w]*\}", lambda found: known.get(found[1], str(found[1])), text)
    return json.loads(text)


def permissions(role: str, kind: str) -> dict[str, set[str]]:
    """Return what a role may do with resources of a kind, by their pattern."""
    (statement,) = [each for each in policy("IndexAccess") if role in each["Principal"]]
    rules = [rule for rule in statement["Rules"] if rule["ResourceType"] == kind]
    return {pattern: set(rule["Permission"]) for rule in rules for pattern in rule["Resource"]}


def test_nothing_is_made_unless_it_is_asked_for() -> None:
    conditions = {name: row["Condition"] for name, row in MADE.items()}
    assert conditions.pop("IndexGroup") == "HasNextGeneration"
    assert set(conditions.values()) == {"HasCollection"}
    assert template.load()["Parameters"]["Index"]["Default"] == "none"


def test_the_collection_searches_vectors_and_is_in_the_group_of_its_generation() -> None:
    collection, group = MADE["IndexCollection"]["Properties"], MADE["IndexGroup"]["Properties"]
    assert collection["Type"] == "VECTORSEARCH"
    assert collection["CollectionGroupName"]["If"][:2] == ["HasNextGeneration", group["Name"]]
    assert group["Generation"] == "NEXTGEN"


def test_the_next_generation_sleeps_when_nobody_asks_and_never_grows_without_a_limit() -> None:
    limits = MADE["IndexGroup"]["Properties"]["CapacityLimits"]
    assert [limits[f"Min{kind}CapacityInOcu"] for kind in ("Indexing", "Search")] == [0, 0]
    assert [limits[f"Max{kind}CapacityInOcu"] for kind in ("Indexing", "Search")] == [{"Ref": "IndexCapacity"}] * 2


@pytest.mark.parametrize("resource", ["IndexEncryption", "IndexNetwork"])
def test_the_policies_are_of_this_collection_alone(resource: str) -> None:
    (document,) = policy(resource) if resource == "IndexNetwork" else [policy(resource)]
    assert [rule["Resource"] for rule in document["Rules"]] == [[f"collection/{NAME}"]]


def test_names_are_what_the_service_takes() -> None:
    names = [row["Properties"]["Name"] for row in MADE.values()]
    assert all(name == names[0] for name in names)
    text, parts = names[0]["Sub"]
    assert text == "fencepost-${Stack}"
    # The first eight digits of the stack's own UUID.
    assert parts["Stack"] == {
        "Select": [0, {"Split": ["-", {"Select": [2, {"Split": ["/", {"Ref": "AWS::StackId"}]}]}]}]
    }


@pytest.mark.parametrize("role", ["ChatRole", "ScheduleRole"])
def test_who_answers_or_compares_may_search_and_write_nothing(role: str) -> None:
    assert permissions(role, "index") == {f"index/{NAME}/{ALIAS}*": {"aoss:ReadDocument", "aoss:DescribeIndex"}}
    assert permissions(role, "collection") == {}


def test_who_is_asked_to_erase_may_remove_entries_and_no_index() -> None:
    allowed = {"aoss:ReadDocument", "aoss:WriteDocument", "aoss:DescribeIndex"}
    assert permissions("ApiRole", "index") == {f"index/{NAME}/{ALIAS}*": allowed}
    assert permissions("ApiRole", "collection") == {}


def test_an_operator_may_what_the_worker_may_and_only_where_one_is_named() -> None:
    assert permissions("IndexOperator", "index") == permissions("JobsRole", "index")
    _, parts = MADE["IndexAccess"]["Properties"]["Policy"]["Sub"]
    condition, _, otherwise = parts["Operator"]["If"]
    assert (condition, otherwise) == ("HasIndexOperator", "")
    assert template.load()["Parameters"]["IndexOperator"]["Default"] == ""


def test_who_works_on_documents_may_write_and_move_and_reaches_nothing_but_our_indices() -> None:
    ((pattern, allowed),) = permissions("JobsRole", "index").items()
    assert allowed >= {"aoss:WriteDocument", "aoss:CreateIndex", "aoss:DeleteIndex"}
    plan = IndexPlan(
        EmbeddingModel(name="amazon.titan-embed-text-v2:0/1024", dimensions=1_024, max_tokens=8_192), "faiss"
    )
    assert plan.name.startswith(pattern.removeprefix(f"index/{NAME}/").removesuffix("*"))
    assert set(permissions("JobsRole", "collection")) == {f"collection/{NAME}"}


@pytest.mark.parametrize("role", ["ChatRole", "ApiRole", "JobsRole", "ScheduleRole"])
def test_each_may_sign_requests_to_the_collection(role: str) -> None:
    attached = [each["If"][1]["Ref"] for each in RESOURCES[role]["Properties"]["ManagedPolicyArns"]]
    assert "IndexPolicy" in attached
    (statement,) = RESOURCES["IndexPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    assert statement == {
        "Effect": "Allow",
        "Action": "aoss:APIAccessAll",
        "Resource": {"GetAtt": "IndexCollection.Arn"},
    }


def test_an_index_has_a_name_that_opensearch_takes() -> None:
    plan = IndexPlan(EmbeddingModel(name="Amazon.Titan-Embed: v2/1024 " * 9, dimensions=1_024, max_tokens=1), "faiss")
    assert re.fullmatch(r"[a-z][a-z0-9-]{2,100}", plan.name)
