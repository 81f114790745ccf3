"""The archive of documents on an emulated S3: round trips, and failures that never reach a visitor."""

from __future__ import annotations

import gzip
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING
from uuid import uuid4

import boto3
import pytest
from botocore.config import Config
from botocore.parsers import ResponseParserError

from fencepost.documents.ports import ArchivedDocument
from fencepost.documents.s3 import S3DocumentArchive
from fencepost.kernel.ports import RawDocument, Validators
from fencepost.observability.domain.events import DocumentsEvent, Event
from local.emulator import Emulator
from local.processes import free_port

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

URL = "https://docs.example/llms-full.txt"
NOON = datetime(2026, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC)
COPY = ArchivedDocument(RawDocument("# 柵 🌿\n", Validators('W/"7"', "Sun, 01 Mar 2026 12:00:00 GMT")), NOON)


class EventLog:
    """Collects events."""

    def __init__(self) -> None:
        self.entries: list[Event] = []

    def emit(self, event: Event) -> None:
        self.entries.append(event)


@pytest.fixture
def log() -> EventLog:
    return EventLog()


@pytest.fixture(scope="module")
def client(emulator: Emulator) -> S3Client:
    made: S3Client = emulator.client("s3")
    return made


@pytest.fixture
def bucket(client: S3Client) -> str:
    name = f"documents-{uuid4()}"
    client.create_bucket(Bucket=name)
    return name


@pytest.fixture
def archive(bucket: str, client: S3Client, log: EventLog) -> S3DocumentArchive:
    return S3DocumentArchive(bucket, log, client=lambda: client)


def failures(log: EventLog) -> list[str | None]:
    assert all(isinstance(entry, DocumentsEvent) and entry.result == "archive_failed" for entry in log.entries)
    return [entry.reason for entry in log.entries if isinstance(entry, DocumentsEvent)]


def only_key(client: S3Client, bucket: str) -> str:
    (entry,) = client.list_objects_v2(Bucket=bucket)["Contents"]
    return entry["Key"]


@pytest.mark.parametrize(
    "copy",
    [
        COPY,
        ArchivedDocument(RawDocument("no validators", Validators()), NOON),
        ArchivedDocument(RawDocument("only one", Validators(etag='"a  b"')), NOON),
        ArchivedDocument(RawDocument("", Validators(last_modified="yesterday")), NOON),
        ArchivedDocument(RawDocument("柵" * 1_000_000, Validators()), NOON),
    ],
    ids=["full", "no validators", "etag", "empty", "large"],
)
def test_a_copy_comes_back_as_it_went(archive: S3DocumentArchive, log: EventLog, copy: ArchivedDocument) -> None:
    archive.save(URL, copy)
    assert archive.load(URL) == copy
    assert log.entries == []


def test_its_own_client_finds_the_store_through_the_environment(
    emulator: Emulator, bucket: str, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", emulator.endpoint_url)
    archive = S3DocumentArchive(bucket, log)
    archive.save(URL, COPY)
    assert archive.load(URL) == COPY
    assert log.entries == []


def test_the_moment_comes_back_in_utc(archive: S3DocumentArchive) -> None:
    tokyo = timezone(timedelta(hours=9))
    archive.save(URL, ArchivedDocument(COPY.document, NOON.astimezone(tokyo)))
    loaded = archive.load(URL)
    assert loaded is not None
    assert (loaded.confirmed_at, loaded.confirmed_at.tzinfo) == (NOON, UTC)


def test_no_copy_is_no_failure(archive: S3DocumentArchive, log: EventLog) -> None:
    assert archive.load(URL) is None
    assert log.entries == []


def test_instances_share_a_copy_and_sites_do_not(client: S3Client, bucket: str, log: EventLog) -> None:
    first, second = (S3DocumentArchive(bucket, log, client=lambda: client) for _ in range(2))
    first.save(URL, COPY)
    assert second.load(URL) == COPY
    assert second.load(URL.replace("docs", "other")) is None


def test_a_later_copy_replaces_an_earlier_one_and_all_its_validators(archive: S3DocumentArchive) -> None:
    archive.save(URL, COPY)
    later = ArchivedDocument(RawDocument("later", Validators()), NOON + timedelta(hours=1))
    archive.save(URL, later)
    assert archive.load(URL) == later


def test_an_operator_can_read_the_object(archive: S3DocumentArchive, client: S3Client, bucket: str) -> None:
    archive.save(URL, COPY)
    stored = client.get_object(Bucket=bucket, Key=only_key(client, bucket))
    assert gzip.decompress(stored["Body"].read()).decode() == COPY.document.text
    assert stored["ContentEncoding"] == "gzip"
    assert stored["ContentType"] == "text/plain; charset=utf-8"


GOOD_METADATA = {"confirmed-at": NOON.isoformat()}


@pytest.mark.parametrize(
    ("body", "metadata"),
    [
        (b"plain", GOOD_METADATA),
        (gzip.compress(b"cut short")[:-4], GOOD_METADATA),
        (gzip.compress(b"flipped")[:-8] + b"\0" * 8, GOOD_METADATA),
        (gzip.compress(b"\xff"), GOOD_METADATA),
        (gzip.compress(b"ok"), {}),
        (gzip.compress(b"ok"), {"confirmed-at": "noon"}),
    ],
    ids=["plain", "cut", "checksum", "not utf-8", "no moment", "bad moment"],
)
def test_a_corrupt_object_is_reported_and_counts_as_none(
    client: S3Client, bucket: str, log: EventLog, body: bytes, metadata: dict[str, str]
) -> None:
    archive = S3DocumentArchive(bucket, log, client=lambda: client)
    archive.save(URL, COPY)
    client.put_object(Bucket=bucket, Key=only_key(client, bucket), Body=body, Metadata=metadata)
    assert archive.load(URL) is None
    assert failures(log) == ["corrupt"]


def test_a_missing_bucket_is_reported_and_never_raised(client: S3Client, log: EventLog) -> None:
    archive = S3DocumentArchive(f"absent-{uuid4()}", log, client=lambda: client)
    assert archive.load(URL) is None
    archive.save(URL, COPY)
    assert failures(log) == ["read_failed", "write_failed"]


@pytest.mark.parametrize("bucket", ["", "No Such Name!"])
def test_an_invalid_bucket_is_reported_and_never_raised(client: S3Client, log: EventLog, bucket: str) -> None:
    archive = S3DocumentArchive(bucket, log, client=lambda: client)
    assert archive.load(URL) is None
    archive.save(URL, COPY)
    assert failures(log) == ["read_failed", "write_failed"]


def test_a_store_that_does_not_answer_is_reported_and_never_raised(log: EventLog) -> None:
    deaf = boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{free_port()}",
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(connect_timeout=1, read_timeout=1, retries={"total_max_attempts": 1}),
    )
    archive = S3DocumentArchive("documents", log, client=lambda: deaf)
    assert archive.load(URL) is None
    archive.save(URL, COPY)
    assert failures(log) == ["read_failed", "write_failed"]


def test_an_answer_that_cannot_be_read_is_reported_and_never_raised(emulator: Emulator, log: EventLog) -> None:
    def fail(**_: object) -> None:
        raise ResponseParserError

    client = emulator.client("s3")
    client.meta.events.register("before-send.s3", fail)
    archive = S3DocumentArchive("documents", log, client=lambda: client)
    assert archive.load(URL) is None
    archive.save(URL, COPY)
    assert failures(log) == ["read_failed", "write_failed"]


def test_validators_that_no_header_can_carry_are_reported(archive: S3DocumentArchive, log: EventLog) -> None:
    archive.save(URL, ArchivedDocument(RawDocument("text", Validators(etag='"柵"')), NOON))
    assert failures(log) == ["write_failed"]


def test_the_sdk_is_not_loaded_before_the_archive_is_used() -> None:
    program = (
        "import sys; from fencepost.documents.s3 import S3DocumentArchive; S3DocumentArchive('b', None);"
        "sys.exit(any(name in sys.modules for name in ('boto3', 'botocore', 'urllib3')))"
    )
    path = f"import sys; sys.path[:0] = {sys.path!r}; "
    subprocess.run([sys.executable, "-c", path + program], check=True)
