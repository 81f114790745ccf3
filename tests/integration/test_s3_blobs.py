"""Objects under their owner's prefix on an emulated S3: round trips, hashes, links and forms."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING
from uuid import uuid4

import httpx
import pytest
from botocore.parsers import ResponseParserError

from fencepost.blobs import domain as objects
from fencepost.blobs.s3 import S3BlobStore
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.s3 import blob_client
from fencepost.kernel.errors import ErrorCode, FencepostError
from local.emulator import Emulator
from tests.conformance.samples import visitor_scope

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

ALICE, BOB, ELSEWHERE = visitor_scope(), visitor_scope(visitor="v2"), visitor_scope(org="globex")
NAME = "conv/c1/big/000000000001-abc"
TEXT = "text/plain; charset=utf-8"


@pytest.fixture
def client(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> S3Client:
    """Return a client of the store's own making, which finds the emulator through the environment."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", emulator.endpoint_url)
    return blob_client.__wrapped__()


@pytest.fixture
def bucket(client: S3Client) -> str:
    name = f"conversations-{uuid4()}"
    client.create_bucket(Bucket=name)
    return name


@pytest.fixture
def blobs(bucket: str, client: S3Client) -> S3BlobStore:
    return S3BlobStore(bucket, lambda: client)


def unavailable(blobs: S3BlobStore, scope: Scope = ALICE, name: str = NAME) -> bool:
    with pytest.raises(FencepostError) as caught:
        blobs.get(scope, name)
    return caught.value.code == ErrorCode.CONVERSATIONS_UNAVAILABLE


@pytest.mark.parametrize("content", [b"", "柵 🌿".encode(), bytes(range(256)) * 40_000], ids=["empty", "text", "large"])
def test_an_object_comes_back_as_it_went(blobs: S3BlobStore, content: bytes) -> None:
    blobs.put(ALICE, NAME, content, TEXT)
    assert blobs.get(ALICE, NAME) == content


def test_an_object_is_its_owners_alone(blobs: S3BlobStore, client: S3Client, bucket: str) -> None:
    blobs.put(ALICE, NAME, b"Alice's", TEXT)
    for scope in (BOB, ELSEWHERE):
        assert blobs.get(scope, NAME) is None
        assert list(blobs.names(scope, "")) == []
        assert blobs.delete(scope, "") == 0
    (entry,) = client.list_objects_v2(Bucket=bucket)["Contents"]
    assert entry["Key"].startswith("acme/visitor%3Av1/")


def test_what_is_not_what_was_stored_is_never_read(blobs: S3BlobStore, client: S3Client, bucket: str) -> None:
    blobs.put(ALICE, NAME, b"as it was", TEXT)
    (entry,) = client.list_objects_v2(Bucket=bucket)["Contents"]
    digest = client.head_object(Bucket=bucket, Key=entry["Key"])["Metadata"]
    client.put_object(Bucket=bucket, Key=entry["Key"], Body=b"as it is", Metadata=digest)
    assert unavailable(blobs)
    client.put_object(Bucket=bucket, Key=entry["Key"], Body=b"as it was")
    assert unavailable(blobs), "an object of ours without its hash"


def test_all_of_a_prefix_goes_and_nothing_beside_it(blobs: S3BlobStore) -> None:
    names = [f"conv/c1/big/{number:012d}-x" for number in range(30)]
    for name in [*names, "conv/c10/big/1", "exports/j.zip"]:
        blobs.put(ALICE, name, b"x", TEXT)
    assert list(blobs.names(ALICE, objects.conversation("c1"))) == names
    assert blobs.delete(ALICE, objects.conversation("c1")) == 30
    assert sorted(blobs.names(ALICE, "")) == ["conv/c10/big/1", "exports/j.zip"]


def test_a_link_reads_one_object_without_credentials(blobs: S3BlobStore) -> None:
    blobs.put(ALICE, "exports/j.zip", b"zip", "application/zip")
    link = blobs.link(ALICE, "exports/j.zip", 60)
    answer = httpx.get(link, trust_env=False)
    assert (answer.status_code, answer.content) == (200, b"zip")
    assert "X-Amz-Expires=60" in link
    assert "X-Amz-Algorithm=AWS4-HMAC-SHA256" in link


def upload(blobs: S3BlobStore, content: bytes, changes: dict[str, str] | None = None) -> int:
    """Upload as a browser does, with some fields of the form changed; return the status."""
    form = blobs.upload_form(ALICE, objects.attachment("a1"), "text/plain", 10, 60)
    answer = httpx.post(form.url, data=form.fields | (changes or {}), files={"file": content}, trust_env=False)
    return answer.status_code


def test_a_form_takes_one_object_that_bears_no_hash_of_ours(blobs: S3BlobStore) -> None:
    assert upload(blobs, b"ten bytes!") == 204
    assert blobs.get(ALICE, objects.attachment("a1")) == b"ten bytes!"


@pytest.mark.parametrize(
    ("name", "tags"),
    [
        (objects.export_bundle("j1"), [{"Key": "kept", "Value": "days"}]),
        (objects.import_bundle("j1"), [{"Key": "kept", "Value": "days"}]),
        (objects.attachment_text("a1"), []),
        (NAME, []),
    ],
)
def test_what_is_needed_for_days_bears_the_tag_that_its_bucket_removes_it_by(
    blobs: S3BlobStore, client: S3Client, bucket: str, name: str, tags: list[dict[str, str]]
) -> None:
    blobs.put(ALICE, name, b"x", TEXT)
    (entry,) = client.list_objects_v2(Bucket=bucket)["Contents"]
    assert client.get_object_tagging(Bucket=bucket, Key=entry["Key"])["TagSet"] == tags


def test_an_upload_bears_it_by_its_form(blobs: S3BlobStore) -> None:
    form = blobs.upload_form(ALICE, objects.attachment("a1"), "text/plain", 10, 60)
    assert "<Key>kept</Key><Value>days</Value>" in form.fields["tagging"]
    assert upload(blobs, b"x", {"tagging": ""}) == 403


@pytest.mark.parametrize(
    "changes",
    [{"Content-Type": "text/html"}, {"key": "acme/visitor%3Av2/files/a1/raw"}, {"x-amz-meta-sha256": "0"}],
    ids=["type", "name", "hash"],
)
def test_a_form_takes_nothing_else(blobs: S3BlobStore, changes: dict[str, str]) -> None:
    assert upload(blobs, b"x", changes) == 403
    assert list(blobs.names(ALICE, "")) == list(blobs.names(BOB, "")) == []


@pytest.mark.parametrize("content", [b"", b"eleven byte"], ids=["empty", "too large"])
def test_a_form_bounds_the_size(blobs: S3BlobStore, content: bytes) -> None:
    assert upload(blobs, content) == 400
    assert list(blobs.names(ALICE, "")) == []


def test_a_store_that_cannot_be_read_is_said_to_be_unavailable(client: S3Client) -> None:
    absent = S3BlobStore(f"absent-{uuid4()}", lambda: client)
    assert unavailable(absent)
    for work in (
        lambda: absent.put(ALICE, NAME, b"x", TEXT),
        lambda: absent.delete(ALICE, ""),
        lambda: list(absent.names(ALICE, "")),
    ):
        with pytest.raises(FencepostError) as caught:
            work()
        assert caught.value.code == ErrorCode.CONVERSATIONS_UNAVAILABLE


def test_an_answer_that_cannot_be_read_is_a_failure_of_the_store(emulator: Emulator) -> None:
    def fail(**_: object) -> None:
        raise ResponseParserError

    broken = emulator.client("s3")
    broken.meta.events.register("before-send.s3", fail)
    assert unavailable(S3BlobStore("bucket", lambda: broken))


def test_the_sdk_is_not_loaded_before_an_object_is_asked_for() -> None:
    program = (
        "import sys; from fencepost.blobs.s3 import S3BlobStore; S3BlobStore('b');"
        "sys.exit(any(name in sys.modules for name in ('boto3', 'botocore', 'urllib3')))"
    )
    path = f"import sys; sys.path[:0] = {sys.path!r}; "
    subprocess.run([sys.executable, "-c", path + program], check=True)
