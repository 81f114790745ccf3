"""Attachments: announced, uploaded, read in the background, and quoted to their owner alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fencepost.blobs.domain import attachment as raw_name
from fencepost.blobs.domain import attachment_text
from fencepost.conversations.domain.attachments import MAX_ATTACHMENTS, MAX_FILE_BYTES, Attachment, AttachmentState
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from tests.fakes.answers import Fault
from tests.worlds.storage import ALICE_ELSEWHERE, BOB, StorageWorld, scope_of

ALICE = scope_of()
TEXT = b"Posts stand two metres apart."


def fails(work: Callable[..., object], *arguments: object) -> ErrorCode:
    with pytest.raises(FencepostError) as caught:
        work(*arguments)
    return caught.value.code


def uploaded(world: StorageWorld, content: bytes = TEXT, size: int = 100, scope: Scope = ALICE) -> Attachment:
    attachment, form = world.attachments.offer(scope, "notes.txt", "text/plain", size)
    world.blobs.put(scope, form.fields["key"], content, "text/plain")
    return attachment


def scanned(world: StorageWorld, content: bytes = TEXT, size: int = 100) -> Attachment:
    attachment = uploaded(world, content, size)
    world.attachments.scan(ALICE, "docs", attachment.id)
    world.run(ALICE, world.attachments.run)
    return world.attachments.get(ALICE, attachment.id)


def test_a_file_is_read_and_can_be_quoted() -> None:
    world = StorageWorld()
    attachment = scanned(world)
    assert (attachment.state, attachment.characters) == (AttachmentState.READY, len(TEXT))
    (text,) = world.attachments.texts(ALICE, [attachment.id])
    assert (text.source, text.name, text.text) == (f"file:{attachment.id}", "notes.txt", TEXT.decode())


def test_texts_come_in_the_order_that_was_asked_for() -> None:
    world = StorageWorld()
    ids = [scanned(world, f"File {number}".encode()).id for number in range(3)]
    assert [text.text for text in world.attachments.texts(ALICE, ids[::-1])] == ["File 2", "File 1", "File 0"]
    assert world.attachments.texts(ALICE, []) == ()


def test_the_form_takes_what_was_announced_and_no_more() -> None:
    world = StorageWorld()
    attachment, form = world.attachments.offer(ALICE, "a.md", "text/markdown", 77)
    assert form.fields == {
        "key": raw_name(attachment.id),
        "Content-Type": "text/markdown",
        "max": "77",
        "expires": "600",
    }


@pytest.mark.parametrize("content_type", ["text/html", "image/png", "application/zip", "", "TEXT/PLAIN"])
def test_other_types_are_refused_before_anything_is_stored(content_type: str) -> None:
    world = StorageWorld()
    code = fails(world.attachments.offer, ALICE, "a", content_type, 1)
    assert (code, world.files.rows) == (ErrorCode.ATTACHMENT_TYPE_UNSUPPORTED, {})


def test_a_file_that_is_too_large_is_refused_before_anything_is_stored() -> None:
    world = StorageWorld()
    code = fails(world.attachments.offer, ALICE, "a", "text/plain", MAX_FILE_BYTES + 1)
    assert (code, world.files.rows) == (ErrorCode.ATTACHMENT_TOO_LARGE, {})


def test_nothing_is_scanned_before_it_is_uploaded() -> None:
    world = StorageWorld()
    attachment, _ = world.attachments.offer(ALICE, "a", "text/plain", 1)
    assert fails(world.attachments.scan, ALICE, "docs", attachment.id) == ErrorCode.ATTACHMENT_NOT_READY
    assert fails(world.attachments.texts, ALICE, [attachment.id]) == ErrorCode.ATTACHMENT_NOT_READY
    assert not world.jobs.queued


def test_a_file_that_was_read_is_not_read_again() -> None:
    world = StorageWorld()
    attachment = scanned(world)
    assert world.attachments.scan(ALICE, "docs", attachment.id) == (attachment, None)
    assert len(world.jobs.queued) == 1


@pytest.mark.parametrize("code", [ErrorCode.ATTACHMENT_UNREADABLE, ErrorCode.ATTACHMENT_TOO_LARGE])
def test_a_file_that_cannot_be_read_says_why(code: ErrorCode) -> None:
    world = StorageWorld()
    world.extractor.refusal = code
    attachment = scanned(world)
    assert (attachment.state, attachment.error) == (AttachmentState.REFUSED, code)
    assert fails(world.attachments.texts, ALICE, [attachment.id]) == code


def test_more_than_was_announced_is_refused_whatever_the_form_let_through() -> None:
    attachment = scanned(StorageWorld(), size=len(TEXT) - 1)
    assert (attachment.state, attachment.error) == (AttachmentState.REFUSED, ErrorCode.ATTACHMENT_TOO_LARGE)


@pytest.mark.parametrize("scope", [scope_of(BOB), scope_of(ALICE_ELSEWHERE)], ids=["owner", "organisation"])
def test_somebody_elses_file_is_not_there(scope: Scope) -> None:
    world = StorageWorld()
    attachment = scanned(world)
    assert fails(world.attachments.get, scope, attachment.id) == ErrorCode.NOT_FOUND
    assert fails(world.attachments.scan, scope, "docs", attachment.id) == ErrorCode.NOT_FOUND
    assert fails(world.attachments.texts, scope, [attachment.id]) == ErrorCode.ATTACHMENTS_INVALID


def test_ids_that_are_too_many_twice_or_unknown_are_refused() -> None:
    world = StorageWorld()
    one = scanned(world).id
    for ids in ([one] * 2, ["absent"], [one, "absent"], [str(number) for number in range(MAX_ATTACHMENTS + 1)]):
        assert fails(world.attachments.texts, ALICE, ids) == ErrorCode.ATTACHMENTS_INVALID


@pytest.mark.parametrize("fault", ["before", "after"])
def test_a_crash_at_any_call_of_a_scan_is_taken_up(fault: Fault) -> None:
    for call in range(4):
        world = StorageWorld()
        attachment = uploaded(world)
        world.attachments.scan(ALICE, "docs", attachment.id)
        world.faults.at(call, fault)
        assert fails(world.run, ALICE, world.attachments.run) == ErrorCode.CONVERSATIONS_UNAVAILABLE
        world.run(ALICE, world.attachments.run)
        assert world.attachments.texts(ALICE, [attachment.id])[0].text == TEXT.decode()


def test_an_erasure_during_a_scan_leaves_no_text() -> None:
    world = StorageWorld()
    attachment = uploaded(world)
    world.attachments.scan(ALICE, "docs", attachment.id)
    world.blobs.on_put = world.files.rows.clear
    assert fails(world.run, ALICE, world.attachments.run) == ErrorCode.NOT_FOUND
    assert attachment_text(attachment.id) not in [name for *_, name in world.blobs.objects]
