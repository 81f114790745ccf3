"""Jobs are authorised again as they run: after a revocation, or for another owner's conversation, they do nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from fencepost.queue.domain import Job, Purpose
from fencepost.queue.sqs import message
from tests.integration.isolation.memories import remembered
from tests.integration.isolation.town import Somebody, Town
from tests.worlds.api_client import waited_for

IN_THE_BACKGROUND = [Purpose.TITLE, Purpose.SUMMARISE, Purpose.PROPOSE_FACTS, Purpose.REMEMBER, Purpose.ARCHIVE]


@pytest.fixture
def member(town: Town) -> Somebody:
    return town.member(town.user(), town.acme)


def test_a_job_that_comes_again_after_a_revocation_is_dropped(town: Town, member: Somebody) -> None:
    conversation_id = titled(member)
    jobs = [job_of(town, member, conversation_id, purpose) for purpose in IN_THE_BACKGROUND]
    town.stack.grant(town.acme, user_of(member), None)
    before, town_calls = rows(town), town.stack.provider.calls()
    assert run(town, *jobs) == []
    assert rows(town) == before
    assert town.stack.provider.calls() == town_calls
    assert results(town, "refused") >= len(jobs)


def test_a_job_of_another_owner_finds_nothing(town: Town, member: Somebody) -> None:
    """The owner moved, or the job was forged: what it names is not in the partition that it is authorised for."""
    conversation_id = titled(member)
    other = town.member(town.user(), town.acme)
    forged = [job_of(town, other, conversation_id, purpose) for purpose in IN_THE_BACKGROUND]
    before = rows(town)
    assert run(town, *forged) == []
    assert rows(town) == before


def test_a_job_whose_actor_is_not_its_owner_is_refused(town: Town, member: Somebody) -> None:
    conversation_id = titled(member)
    other = town.member(town.user(), town.acme)
    job = job_of(town, member, conversation_id, Purpose.SUMMARISE)
    before = rows(town)
    assert run(town, replace(job, actor=f"member:{user_of(other)}")) == []
    assert rows(town) == before


def test_a_job_of_the_same_owner_in_another_organisation_finds_nothing(town: Town, member: Somebody) -> None:
    conversation_id = titled(member)
    town.member(user_of(member), town.zeta)
    job = job_of(town, member, conversation_id, Purpose.TITLE)
    before = rows(town)
    assert run(town, replace(job, org=town.zeta)) == []
    assert rows(town) == before


def test_an_export_that_was_asked_for_before_a_revocation_is_not_made(town: Town, member: Somebody) -> None:
    conversation_id = titled(member)
    town.stack.grant(town.acme, user_of(member), None)
    record = str(uuid4())
    job = replace(job_of(town, member, conversation_id, Purpose.EXPORT), record=record)
    assert run(town, job) == []
    stored = town.stack.client("s3").list_objects_v2(Bucket=town.stack.physical("ContentBucket"))
    assert not [entry for entry in stored.get("Contents", ()) if record in entry["Key"]]


def test_a_job_for_another_incarnation_does_nothing(town: Town, member: Somebody) -> None:
    conversation_id = titled(member)
    job = replace(job_of(town, member, conversation_id, Purpose.SUMMARISE), incarnation="another")
    before = rows(town)
    assert run(town, job) == []
    assert rows(town) == before


def titled(member: Somebody) -> str:
    """Begin a conversation and wait until its own jobs are through."""
    conversation_id = member.begin()
    waited_for(lambda: member.client.get(f"/v1/conversations/{conversation_id}"), lambda row: row["title"])
    remembered(member.town, conversation_id)
    member.town.stack.settle()
    return conversation_id


def user_of(somebody: Somebody) -> str:
    return somebody.name.partition(" ")[0]


def job_of(town: Town, somebody: Somebody, conversation_id: str, purpose: Purpose) -> Job:
    """Return a job as the stream would have made it for somebody."""
    owner = f"member:{user_of(somebody)}"
    return Job(
        org=town.acme,
        owner=owner,
        actor=owner,
        purpose=purpose,
        permission_version=1,
        created_at=datetime.now(UTC),
        conversation=conversation_id,
        incarnation=incarnation(town, conversation_id),
    )


def incarnation(town: Town, conversation_id: str) -> str:
    """Return the incarnation of a conversation, whoever's it is."""
    found = [row for row in rows(town) if row["sk"]["S"] == f"conv#{conversation_id}"]
    return str(found[0]["incarnation"]["S"])


def rows(town: Town) -> list[dict[str, Any]]:
    """Return all rows of the town's organisations in the conversations' table."""
    client, table = town.stack.client("dynamodb"), town.stack.physical("ConversationsTable")
    pages = client.get_paginator("scan").paginate(TableName=table)
    ours = (f"org#{town.acme}#", f"org#{town.zeta}#")
    found = [item for page in pages for item in page["Items"] if item["pk"]["S"].startswith(ours)]
    return sorted(found, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))


def run(town: Town, *jobs: Job) -> list[Any]:
    """Deliver jobs as the queue does, and return those that would be delivered again."""
    records = [
        {
            "messageId": str(uuid4()),
            "receiptHandle": "r",
            "body": message(job),
            "attributes": {"ApproximateReceiveCount": "1"},
            "messageAttributes": {},
            "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:jobs",
            "awsRegion": "us-east-1",
        }
        for job in jobs
    ]
    failures: list[Any] = town.stack.invoke("JobsFunction", {"Records": records})["batchItemFailures"]
    return failures


def results(town: Town, result: str) -> int:
    """Return how many jobs ended so, by the log."""
    lines = (json.loads(line) for line in town.stack.logs() if line.startswith("{") and '"event":"job"' in line)
    return sum(line.get("result") == result for line in lines)
