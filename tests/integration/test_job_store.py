"""Records of jobs, leases of work, and the way from the table's stream to the queue, on the emulator."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Action, Scope
from fencepost.jobs.dynamodb.outbox import jobs_of
from fencepost.jobs.handlers.consumer import read_job
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.queue.domain import JobState, Purpose, WorkLease
from fencepost.queue.dynamodb import RECORDS_KEPT, DynamoDbJobStore
from fencepost.queue.service import new_record
from fencepost.queue.sqs.jobs import SqsJobQueue
from fencepost.queue.sqs.retries import SqsRetryQueue
from local.emulator import Emulator
from tests.integration.conversation_tables import (
    NOW,
    ConversationTables,
    job_for,
    open_conversation_tables,
    visitor_scope,
)
from tests.integration.tables import lose_answers

_owners = count()


@pytest.fixture
def store(tables: ConversationTables) -> DynamoDbJobStore:
    return DynamoDbJobStore(tables.conversations, lambda: tables.client, lambda: NOW + timedelta(seconds=5))


@pytest.fixture
def scope() -> Scope:
    return visitor_scope(visitor=f"j{next(_owners)}", action=Action.EXPORT)


def lease(holder: str, after: int = 0) -> WorkLease:
    now = NOW + timedelta(seconds=after)
    return WorkLease(holder, now, now + timedelta(seconds=60))


def is_busy(store: DynamoDbJobStore, scope: Scope, wanted: WorkLease) -> bool:
    """Ask for a lease of work on a conversation that is there, and say whether another worker has it."""
    try:
        store.begin(scope, job_for(scope), wanted)
    except FencepostError as error:
        return error.code is ErrorCode.CONVERSATION_BUSY
    return False


def test_a_record_is_stored_once_and_moves_on(
    tables: ConversationTables, store: DynamoDbJobStore, scope: Scope
) -> None:
    record = new_record(scope, Purpose.EXPORT, NOW, site="docs", parameters={"format": "jsonl"})
    store.queue(scope, record)
    assert store.job(scope, record.id) == record
    assert store.advance(scope, record.id, JobState.RUNNING, progress={"messages": 3})
    store.queue(scope, record)
    running = replace(record, state=JobState.RUNNING, progress={"messages": 3}, updated_at=NOW + timedelta(seconds=5))
    assert store.job(scope, record.id) == running
    assert store.advance(scope, record.id, JobState.FAILED, progress={}, error="bundle_invalid")
    assert store.job(scope, record.id) == replace(running, state=JobState.FAILED, progress={}, error="bundle_invalid")


def test_a_record_is_kept_for_a_month(tables: ConversationTables, store: DynamoDbJobStore, scope: Scope) -> None:
    record = new_record(scope, Purpose.EXPORT, NOW)
    store.queue(scope, record)
    [row] = tables.rows(keys.owner(scope))
    assert int(row["expires_at"]["N"]) == int((NOW + RECORDS_KEPT).timestamp())


def test_a_record_that_is_gone_does_not_come_back(
    tables: ConversationTables, store: DynamoDbJobStore, scope: Scope
) -> None:
    assert not store.advance(scope, "j9", JobState.DONE, progress={})
    assert store.job(scope, "j9") is None
    assert tables.rows(keys.owner(scope)) == []


def test_a_record_belongs_to_its_owner(store: DynamoDbJobStore, scope: Scope) -> None:
    record = new_record(scope, Purpose.EXPORT, NOW)
    store.queue(scope, record)
    elsewhere = visitor_scope("umbrella", scope.owner.removeprefix("visitor:"))
    for other in (visitor_scope(visitor="x"), elsewhere):
        assert store.job(other, record.id) is None
        assert not store.advance(other, record.id, JobState.DONE, progress={})


def test_one_worker_holds_the_lease(tables: ConversationTables, store: DynamoDbJobStore, scope: Scope) -> None:
    tables.begin(scope)
    job = job_for(scope)
    assert store.begin(scope, job, lease("one")) == 0
    assert is_busy(store, scope, lease("two"))
    assert store.begin(scope, job, lease("one")) == 0
    assert store.begin(scope, replace(job, purpose=Purpose.PROPOSE_FACTS), lease("two")) == 0
    store.end(scope, job, lease("two"), 99)
    assert is_busy(store, scope, lease("two"))
    store.end(scope, job, lease("one"), 7)
    assert store.begin(scope, job, lease("two")) == 7


def test_a_lease_ends_by_itself(tables: ConversationTables, store: DynamoDbJobStore, scope: Scope) -> None:
    tables.begin(scope)
    job = job_for(scope)
    assert store.begin(scope, job, lease("dead")) == 0
    assert is_busy(store, scope, lease("two", after=59))
    assert store.begin(scope, job, lease("two", after=60)) == 0
    store.end(scope, job, lease("dead"), 99)
    store.end(scope, job, lease("two"), 3)
    assert store.begin(scope, job, lease("three", after=61)) == 3


def test_of_many_workers_at_once_one_gets_the_lease(
    tables: ConversationTables, store: DynamoDbJobStore, scope: Scope
) -> None:
    tables.begin(scope)
    with ThreadPoolExecutor(12) as pool:
        busy = list(pool.map(lambda number: is_busy(store, scope, lease(f"w{number}")), range(12)))
    assert sorted(busy) == [False, *[True] * 11]


@pytest.mark.parametrize("changes", [{"incarnation": "i2"}, {"conversation": "c9"}, {"conversation": None}])
def test_no_lease_is_left_where_a_conversation_is_gone(
    tables: ConversationTables, store: DynamoDbJobStore, scope: Scope, changes: dict[str, str | None]
) -> None:
    tables.begin(scope)
    job = job_for(scope, **changes)
    assert store.begin(scope, job, lease("one")) is None
    store.end(scope, job, lease("one"), 3)
    assert tables.rows(keys.conversation(scope, "c1")) == tables.rows(keys.conversation(scope, "c9")) == []


def test_a_lease_whose_answer_was_lost_is_held(
    store: DynamoDbJobStore, scope: Scope, tables: ConversationTables, emulator: Emulator
) -> None:
    tables.begin(scope)
    lossy = open_conversation_tables(emulator.endpoint_url)
    lose_answers(lossy.client, 1)
    other = DynamoDbJobStore(tables.conversations, lambda: lossy.client)
    assert other.begin(scope, job_for(scope), lease("one")) == 0
    assert is_busy(store, scope, lease("two"))


def test_a_store_that_does_not_answer_is_said_to(tables: ConversationTables, scope: Scope) -> None:
    store = DynamoDbJobStore("no-such-table", lambda: tables.client)
    record = new_record(scope, Purpose.EXPORT, NOW)
    for call in (
        lambda: store.queue(scope, record),
        lambda: store.job(scope, record.id),
        lambda: store.advance(scope, record.id, JobState.DONE, progress={}),
        lambda: store.begin(scope, job_for(scope), lease("one")),
        lambda: store.end(scope, job_for(scope), lease("one"), 1),
    ):
        with pytest.raises(FencepostError) as raised:
            call()
        assert raised.value.code is ErrorCode.CONVERSATIONS_UNAVAILABLE


def _stream(emulator: Emulator, table: str) -> list[dict[str, Any]]:
    """Return all records of a table's stream as Lambda gets them."""
    arn = emulator.client("dynamodb").describe_table(TableName=table)["Table"]["LatestStreamArn"]
    client = emulator.client("dynamodbstreams")
    [shard] = client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    iterator = client.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")
    records = client.get_records(ShardIterator=iterator["ShardIterator"])["Records"]
    return [json.loads(json.dumps(record, default=str)) for record in records]


def test_what_is_stored_comes_out_of_the_queue_as_a_job(emulator: Emulator) -> None:
    tables = open_conversation_tables(emulator.endpoint_url)
    scope = visitor_scope(visitor="odd #/ö", action=Action.EXPORT)
    record = new_record(scope, Purpose.EXPORT, NOW, site="docs")
    tables.begin(scope)
    DynamoDbJobStore(tables.conversations, lambda: tables.client).queue(scope, record)
    sqs = emulator.client("sqs")
    url = sqs.create_queue(QueueName=f"jobs-{time.time_ns()}")["QueueUrl"]
    queue = SqsJobQueue(url, lambda: sqs)
    for change in _stream(emulator, tables.conversations):
        queue.send(jobs_of(change))
    received = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    jobs = {job.purpose: job for job in (read_job(message["Body"]) for message in received)}
    assert jobs[Purpose.EXPORT] == record.job
    assert jobs[Purpose.SUMMARISE] == replace(jobs[Purpose.TITLE], purpose=Purpose.SUMMARISE)
    assert (jobs[Purpose.TITLE].owner, jobs[Purpose.TITLE].incarnation) == (scope.owner, "i1")


def test_more_jobs_than_a_request_takes_are_sent_in_several(emulator: Emulator, scope: Scope) -> None:
    sqs = emulator.client("sqs")
    url = sqs.create_queue(QueueName=f"jobs-{time.time_ns()}")["QueueUrl"]
    SqsJobQueue(url, lambda: sqs).send([job_for(scope)] * 23)
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"])["Attributes"]
    assert attributes["ApproximateNumberOfMessages"] == "23"


def test_a_message_comes_again_when_its_worker_says(emulator: Emulator, scope: Scope) -> None:
    sqs = emulator.client("sqs")
    url = sqs.create_queue(QueueName=f"jobs-{time.time_ns()}", Attributes={"VisibilityTimeout": "720"})["QueueUrl"]
    SqsJobQueue(url, lambda: sqs).send([job_for(scope)] * 2)
    first, second = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    retries = SqsRetryQueue(url, lambda: sqs)
    retries.retry(first["ReceiptHandle"], timedelta())
    retries.retry(second["ReceiptHandle"], timedelta(hours=1))
    again = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    assert [message["MessageId"] for message in again] == [first["MessageId"]]


def test_a_receipt_that_the_queue_does_not_know_is_said_to_be_none(emulator: Emulator) -> None:
    sqs = emulator.client("sqs")
    url = sqs.create_queue(QueueName=f"jobs-{time.time_ns()}")["QueueUrl"]
    with pytest.raises(FencepostError) as raised:
        SqsRetryQueue(url, lambda: sqs).retry("receipt-1", timedelta())
    assert raised.value.code is ErrorCode.CONVERSATIONS_UNAVAILABLE


def test_a_queue_that_is_not_there_is_said_to_be(emulator: Emulator, scope: Scope) -> None:
    sqs = emulator.client("sqs")
    with pytest.raises(FencepostError) as raised:
        SqsJobQueue("http://127.0.0.1:9/000000000000/none", lambda: sqs).send([job_for(scope)])
    assert raised.value.code is ErrorCode.CONVERSATIONS_UNAVAILABLE
