"""Jobs on the emulator: rows, races and lost answers of their store, and the way from its stream to the queue.

What every `JobStore` does is in `tests.conformance.jobs`.
"""

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
from fencepost.queue.domain import JobState, Purpose
from fencepost.queue.dynamodb import DynamoDbJobStore
from fencepost.queue.rows import RECORDS_KEPT
from fencepost.queue.service import new_record
from fencepost.queue.sqs import SqsJobQueue, SqsRetryQueue
from local.emulator import Emulator
from tests.conformance.jobs import is_busy
from tests.conformance.samples import NOW, job_for, lease, visitor_scope
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables
from tests.integration.tables import lose_answers

_owners = count()


@pytest.fixture
def store(tables: ConversationTables) -> DynamoDbJobStore:
    return DynamoDbJobStore(tables.conversations, lambda: tables.client, lambda: NOW + timedelta(seconds=5))


@pytest.fixture
def scope() -> Scope:
    return visitor_scope(visitor=f"j{next(_owners)}", action=Action.EXPORT)


def test_a_record_is_kept_for_a_month(tables: ConversationTables, store: DynamoDbJobStore, scope: Scope) -> None:
    record = new_record(scope, Purpose.EXPORT, NOW)
    store.queue(scope, record)
    [row] = tables.rows(keys.owner(scope))
    assert int(row["expires_at"]["N"]) == int((NOW + RECORDS_KEPT).timestamp())


def test_of_many_workers_at_once_one_gets_the_lease(
    tables: ConversationTables, store: DynamoDbJobStore, scope: Scope
) -> None:
    tables.begin(scope)
    with ThreadPoolExecutor(12) as pool:
        busy = list(pool.map(lambda number: is_busy(store, scope, lease(f"w{number}")), range(12)))
    assert sorted(busy) == [False, *[True] * 11]


@pytest.mark.parametrize("changes", [{"incarnation": "i2"}, {"conversation": "c9"}, {"conversation": None}])
def test_no_row_is_left_where_a_conversation_is_gone(
    tables: ConversationTables, store: DynamoDbJobStore, scope: Scope, changes: dict[str, str | None]
) -> None:
    tables.begin(scope)
    job = job_for(scope, **changes)
    assert store.begin(scope, job, lease("one")) is None
    store.end(scope, job, lease("one"), 3)
    assert tables.rows(keys.conversation(scope, "c1")) == tables.rows(keys.conversation(scope, "c9")) == []


def test_advancing_a_missing_record_leaves_no_row(
    tables: ConversationTables, store: DynamoDbJobStore, scope: Scope
) -> None:
    assert not store.advance(scope, "j9", JobState.DONE, progress={})
    assert tables.rows(keys.owner(scope)) == []


def test_a_lease_whose_answer_was_lost_is_held(
    store: DynamoDbJobStore, scope: Scope, tables: ConversationTables, emulator: Emulator
) -> None:
    tables.begin(scope)
    lossy = open_conversation_tables(emulator.endpoint_url)
    lose_answers(lossy.client, 1)
    other = DynamoDbJobStore(tables.conversations, lambda: lossy.client)
    assert other.begin(scope, job_for(scope), lease("one")) == 0
    assert is_busy(store, scope, lease("two"))


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
