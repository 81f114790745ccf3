"""The second wall: what a session of one organisation may name."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.blobs import domain as blobs_domain
from fencepost.conversations.rows import messages as conversations_keys
from fencepost.documents import rows as corpus_keys
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Action, Scope, Visitor, authorize, own
from fencepost.identity.domain.sites import FactState
from fencepost.lifecycle import rows as lifecycle_rows
from fencepost.memory import rows as memory_keys
from fencepost.queue import rows as queue_rows
from fencepost.queue.domain import Purpose
from fencepost.retrieval import rows as retrieval_rows
from tests.infrastructure.test_template import as_list, properties

ROLE = properties("AWS::IAM::Role")["OrganisationRole"]


def scope(org: str, owner: str) -> Scope:
    caller = Visitor(org, "docs", owner)
    return authorize(caller, Action.READ, own(caller))


def leading_keys(org: str, owner: str, name: str) -> set[str]:
    """Return the partition of every key that can be made from a scope."""
    of = scope(org, owner)
    made = (
        keys.conversation_row(of, name),
        conversations_keys.message_row(of, name, 1),
        conversations_keys.pointer_row(of, name),
        *(memory_keys.fact_row(of, state, name) for state in FactState),
        queue_rows.job_row(of, name),
        conversations_keys.file_row(of, name),
        conversations_keys.import_row(of, name),
        conversations_keys.block_row(of, name, 1),
        conversations_keys.rating_row(of, name, 1),
        memory_keys.chunk_row(of, name, 1, 0),
        memory_keys.summary_row(of, name),
        queue_rows.work_row(of, name, Purpose.TITLE),
        conversations_keys.erased_row(of),
        conversations_keys.gone_row(of, name),
        lifecycle_rows.diagnosis_row(of, name),
        lifecycle_rows.look_row(of, name, "2026", "0"),
        keys.membership_row(org, owner),
        corpus_keys.document_row(of, name),
        corpus_keys.work_row(of, name),
        corpus_keys.chunk_row(of, name, name),
        corpus_keys.places_row(of, name, 1, "0"),
        retrieval_rows.embedding_row(of, name, name),
    )
    return {str(key["pk"]["S"]) for key in made}


def statements_of_the_tenant_role() -> list[dict[str, Any]]:
    (policy,) = ROLE["Policies"]
    rows: list[dict[str, Any]] = policy["PolicyDocument"]["Statement"]
    return rows


def pattern(text: str, org: str) -> str:
    """Return what IAM compares with, for a session that bears this tag."""
    filled = text.replace("${aws:PrincipalTag/org}", org).replace("${!aws:PrincipalTag/org}", org)
    assert "${aws" not in filled
    return filled


def may_name(org: str, leading_key: str) -> bool:
    patterns = {
        wanted
        for row in statements_of_the_tenant_role()
        for wanted in row.get("Condition", {}).get("ForAllValues:StringLike", {}).get("dynamodb:LeadingKeys", ())
    }
    (only,) = patterns
    return fnmatchcase(leading_key, pattern(only, org))


def may_touch(org: str, name: str) -> bool:
    (resource,) = [row["Resource"]["Sub"] for row in statements_of_the_tenant_role() if "Sub" in row["Resource"]]
    return fnmatchcase(f"bucket/{name}", pattern(resource.replace("${ContentBucket.Arn}", "bucket"), org))


orgs = st.from_regex(r"[a-z0-9][a-z0-9-]{0,62}", fullmatch=True)
names = st.text(min_size=1, max_size=30)


@given(org=orgs, owner=names, name=names)
def test_a_session_may_name_every_key_and_object_of_its_organisation(org: str, owner: str, name: str) -> None:
    assert all(may_name(org, key) for key in leading_keys(org, owner, name))
    assert may_touch(org, f"{blobs_domain.object_prefix(scope(org, owner))}{name}")
    assert may_touch(org, f"{corpus_keys.object_prefix(scope(org, owner))}{name}")


@given(org=orgs, other=orgs, owner=names, name=names)
def test_a_session_may_name_no_key_and_no_object_of_another(org: str, other: str, owner: str, name: str) -> None:
    if org != other:
        assert not any(may_name(org, key) for key in leading_keys(other, owner, name))
        assert not may_touch(org, f"{blobs_domain.object_prefix(scope(other, owner))}{name}")
        assert not may_touch(org, f"{corpus_keys.object_prefix(scope(other, owner))}{name}")


@pytest.mark.parametrize(("org", "other"), [("acme", "acme-2"), ("a", "aa"), ("acme-2", "acme")])
def test_names_that_begin_alike_are_kept_apart(org: str, other: str) -> None:
    assert not any(may_name(org, key) for key in leading_keys(other, "v1", "c1"))
    assert not may_touch(org, f"{other}/v1/x")


def test_a_request_that_names_no_key_is_refused() -> None:
    for row in statements_of_the_tenant_role():
        if any(action.startswith("dynamodb:") for action in as_list(row["Action"])):
            assert row["Condition"]["Null"] == {"dynamodb:LeadingKeys": "false"}


def test_nobody_gets_a_session_without_the_tag_or_with_another() -> None:
    (trust,) = ROLE["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Condition"] == {
        "StringLike": {"aws:RequestTag/org": "?*"},
        "ForAllValues:StringEquals": {"aws:TagKeys": ["org"]},
    }


def test_the_list_of_remembered_conversations_holds_keys_alone_and_each_organisation_reads_its_own() -> None:
    (index,) = properties("AWS::DynamoDB::Table")["ConversationsTable"]["GlobalSecondaryIndexes"]
    assert (index["IndexName"], index["Projection"]) == (keys.REMEMBERED, {"ProjectionType": "KEYS_ONLY"})
    assert may_name("acme", keys.organisation("acme"))
    assert not may_name("acme", keys.organisation("acme-2"))
