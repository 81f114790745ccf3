"""The jobs that records of the stream ask for."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fencepost.bootstrap.relay import relay_handler
from fencepost.conversations.domain.archives import BLOCK_MESSAGES
from fencepost.conversations.domain.messages import Conversation, OpenTurn
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Action, Scope, Visitor, authorize, own
from fencepost.identity.rows import ConversationsTableRow
from fencepost.jobs.dynamodb.outbox import jobs_of
from fencepost.jobs.handlers.consumer import read_job
from fencepost.jobs.handlers.relay import Relay
from fencepost.kernel.aws.rows import to_item
from fencepost.memory.domain.chunk_rows import BACK
from fencepost.queue import rows as queue_rows
from fencepost.queue.domain import Job, Purpose
from fencepost.queue.service import new_record
from fencepost.queue.sqs import message

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ODD = Visitor("acme", "docs", "v#1/ü own#x")


def scope(caller: Visitor = ODD, action: Action = Action.EXPORT) -> Scope:
    return authorize(caller, action, own(caller))


def row(next_seq: int, seq: int | None = None, **changes: Any) -> Conversation:
    """Return a row; with `seq`, one whose open turn has the question of that number."""
    turn = None if seq is None else OpenTurn(message_id="q", seq=seq, holder="h", until=NOW)
    conversation = Conversation(
        id="c#1",
        site="docs",
        incarnation="i1",
        title="A title",
        created_at=NOW,
        updated_at=NOW,
        next_seq=next_seq,
        open_turn=turn,
    )
    return replace(conversation, **changes)


def record(before: Conversation | None, after: Conversation | None, event: str = "MODIFY") -> dict[str, Any]:
    key = keys.conversation_row(scope(), "c#1")
    change: dict[str, Any] = {"Keys": key}
    if before:
        change["OldImage"] = to_item(before) | key
    if after:
        change["NewImage"] = to_item(after) | key
    return {"eventName": event, "dynamodb": json.loads(json.dumps(change))}


def purposes(before: Conversation | None, after: Conversation | None) -> list[str]:
    return [job.purpose.value for job in jobs_of(record(before, after))]


def test_a_settled_turn_is_followed_by_work_on_its_conversation() -> None:
    title, *others = jobs_of(record(row(1, 0, title=""), row(3, title="")))
    purposes = [Purpose.TITLE, Purpose.PROPOSE_FACTS, Purpose.REMEMBER]
    assert [job.purpose for job in (title, *others)] == purposes
    assert title == replace(
        title,
        org="acme",
        owner=ODD.owner,
        actor=ODD.owner,
        site="docs",
        conversation="c#1",
        incarnation="i1",
        created_at=NOW,
        record=None,
        revises=False,
    )


def test_a_title_is_made_once() -> None:
    assert "title" not in purposes(row(1, 0), row(3))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (row(3, 0), row(5), True),
        (row(1, 0), row(3), False),
        (row(21, 0, summarised_through=20), row(23, summarised_through=20), False),
        (row(23, 0, summarised_through=20), row(25, summarised_through=20), True),
    ],
)
def test_a_summary_is_looked_at_once_something_may_have_left_the_window(
    before: Conversation, after: Conversation, expected: bool
) -> None:
    assert ("summarise" in purposes(before, after)) == expected


@pytest.mark.parametrize(("seq", "revises"), [(3, True), (4, True), (5, False), (9, False)])
def test_an_answer_made_anew_revises_a_summary_that_covers_its_question(seq: int, revises: bool) -> None:
    jobs = jobs_of(record(row(9, seq, summarised_through=4), row(10, summarised_through=4)))
    assert [job.revises for job in jobs if job.purpose is Purpose.SUMMARISE] == [revises]


def test_a_fresh_question_stands_behind_everything_that_is_summarised() -> None:
    jobs = jobs_of(record(row(9, 0, summarised_through=8), row(11, summarised_through=4)))
    assert [job.revises for job in jobs if job.purpose is Purpose.SUMMARISE] == [False]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (row(3), row(3, 0)),  # claimed
        (row(3, 0), row(3)),  # gone without an answer
        (row(3), row(3, title="Another")),  # renamed
        (row(3), row(3, summarised_through=2)),  # summarised
        (row(60), row(60, archived_through=50)),  # archived
    ],
)
def test_what_is_no_new_message_asks_for_nothing(before: Conversation, after: Conversation) -> None:
    assert purposes(before, after) == []


def test_a_conversation_that_is_gone_asks_for_nothing() -> None:
    assert list(jobs_of(record(row(3), None, "REMOVE"))) == []


@pytest.mark.parametrize(
    ("began", "ended", "expected"),
    [(1, 3, False), (BLOCK_MESSAGES - 2, BLOCK_MESSAGES, True), (BLOCK_MESSAGES, BLOCK_MESSAGES + 2, False)],
)
def test_the_archive_is_looked_at_when_a_block_is_full(began: int, ended: int, expected: bool) -> None:
    assert ("archive" in purposes(row(began, 0), row(ended))) == expected


def test_retention_is_looked_at_with_the_first_turn_of_a_day() -> None:
    assert "archive" in purposes(row(1, 0), row(3, updated_at=NOW + timedelta(days=1)))


@pytest.mark.parametrize(("through", "expected"), [(4, ["summarise", "remember"]), (0, ["remember"])])
def test_what_retention_removed_leaves_the_summary_and_the_index(through: int, expected: list[str]) -> None:
    before, after = row(9, summarised_through=through), row(9, summarised_through=through, kept_from=3)
    assert purposes(before, after) == expected
    assert all(job.revises for job in jobs_of(record(before, after)))


def test_an_imported_conversation_is_worked_on_like_any_other() -> None:
    assert purposes(None, row(101, title="")) == ["title", "summarise", "propose_facts", "archive", "remember"]


@pytest.mark.parametrize(
    ("before", "after", "revises"),
    [
        (None, row(101), False),
        (row(40, 0), row(42), False),
        (row(40, 40 - BACK), row(41), False),
        (row(40, 39 - BACK), row(41), True),
        (row(40, 3), row(41, kept_from=1), True),
        (row(40), row(40, kept_from=9), True),
    ],
)
def test_messages_are_remembered_after_a_turn_and_anew_where_it_answered_far_back(
    before: Conversation | None, after: Conversation, revises: bool
) -> None:
    jobs = jobs_of(record(before, after))
    assert [job.revises for job in jobs if job.purpose is Purpose.REMEMBER] == [revises]


@pytest.mark.parametrize(("index", "expected"), [("none", []), ("embedded", ["remember"])])
def test_without_an_index_nothing_is_to_be_remembered(
    monkeypatch: pytest.MonkeyPatch, index: str, expected: list[str]
) -> None:
    monkeypatch.setenv("FENCEPOST_INDEX", index)
    monkeypatch.setenv("FENCEPOST_INDEX_PATH", "index.db")
    relay = relay_handler()
    assert isinstance(relay, Relay)
    jobs = relay.jobs_of(record(row(40), row(40, kept_from=9)))
    assert [job.purpose.value for job in jobs] == expected


def asked_for(event: str = "INSERT", **changes: Any) -> dict[str, Any]:
    made = new_record(scope(), Purpose.EXPORT, NOW, site="docs", conversation="c#1")
    item = to_item(replace(made, job=replace(made.job, **changes)))
    key = queue_rows.job_row(scope(), made.id)
    return {"eventName": event, "dynamodb": {"Keys": key, "NewImage": item | key}}


def test_a_job_that_a_client_asked_for_is_queued_as_it_was_stored() -> None:
    [job] = jobs_of(asked_for())
    assert (job.purpose, job.actor, job.org) == (Purpose.EXPORT, ODD.owner, "acme")
    assert job.record


def test_a_job_whose_record_changes_is_not_queued_again() -> None:
    assert list(jobs_of(asked_for("MODIFY"))) == []


@pytest.mark.parametrize("changes", [{"org": "umbrella"}, {"owner": "member:u2"}])
def test_a_job_in_a_foreign_partition_is_none(changes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="another owner"):
        jobs_of(asked_for(**changes))


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"dynamodb": {}},
        {
            "eventName": "MODIFY",
            "dynamodb": {"Keys": ConversationsTableRow.key("org#acme#", "conv#c1"), "NewImage": {"id": {"S": "c1"}}},
        },
        {"eventName": "MODIFY", "dynamodb": record(None, row(3))["dynamodb"] | {"NewImage": {"id": {"S": "c1"}}}},
    ],
)
def test_what_is_no_record_of_ours_is_said_to_be_none(broken: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each says it in its own words
        jobs_of(broken)


@pytest.mark.parametrize("sort", ["m#000000000001", "summary", "msg#q1", "fact#pinned#f1", "work#facts", "erased"])
def test_other_rows_ask_for_nothing(sort: str) -> None:
    key = ConversationsTableRow.key(keys.owner(scope()), sort)
    assert list(jobs_of({"eventName": "INSERT", "dynamodb": {"Keys": key, "NewImage": key}})) == []


def removed(sort: str, by: str | None = "dynamodb.amazonaws.com") -> dict[str, Any]:
    """Return the record of a deletion, by the table's TTL unless another principal is given."""
    key = ConversationsTableRow.key(keys.owner(scope()), sort)
    old = key | {"conversation_id": {"S": "c#1"}, "expires_at": {"N": str(int(NOW.timestamp()))}}
    identity = {"userIdentity": {"type": "Service", "principalId": by}} if by else {}
    return {"eventName": "REMOVE", **identity, "dynamodb": {"Keys": key, "OldImage": old}}


def test_what_the_ttl_takes_has_the_archive_look_at_the_conversation() -> None:
    (job,) = jobs_of(removed("msg#q1"))
    assert job == Job(
        org="acme",
        owner=ODD.owner,
        actor="operator",
        purpose=Purpose.ARCHIVE,
        permission_version=0,
        created_at=NOW,
        conversation="c#1",
    )


@pytest.mark.parametrize(
    ("sort", "by"), [("msg#q1", None), ("msg#q1", "somebody"), ("job#j1", "dynamodb.amazonaws.com")]
)
def test_what_is_removed_otherwise_asks_for_nothing(sort: str, by: str | None) -> None:
    assert list(jobs_of(removed(sort, by))) == []


def test_an_import_is_looked_at_by_the_archive_however_short_it_is() -> None:
    assert "archive" in purposes(None, row(3))
    assert "archive" not in purposes(None, row(1, 0))


def test_a_job_survives_its_way_through_the_queue() -> None:
    job = Job(
        org="acme",
        owner=ODD.owner,
        actor="operator",
        purpose=Purpose.ERASE,
        permission_version=3,
        created_at=NOW,
        conversation="c#1",
        revises=True,
    )
    assert read_job(message(job)) == job
