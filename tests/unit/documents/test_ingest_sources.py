"""Where documents come from: what an address, an upload and an admin send, and what becomes of what cannot be read."""

from __future__ import annotations

import pytest

from fencepost.documents.domain.documents import DocumentKind, DocumentOrigin, DocumentState
from fencepost.kernel.errors import ErrorCode, FencepostError
from tests.unit.documents.test_ingest import FIRST, SECOND
from tests.worlds.corpus import CorpusWorld

PAGE = "https://docs.example/guide"


def test_a_page_is_asked_for_with_its_validators_once_it_is_whole() -> None:
    world = CorpusWorld()
    world.add(origin=DocumentOrigin.PAGE, source=PAGE)
    world.web.serve(PAGE, FIRST, etag='"1"')
    world.run()
    world.queue_again()
    world.run()
    world.web.serve(PAGE, SECOND, etag='"2"')
    world.queue_again()
    world.run()

    assert [known.etag for _, known in world.web.asked] == [None, '"1"', '"1"']
    assert "".join(world.read()) == SECOND
    assert world.document().etag == '"2"'
    world.require_agreement()


def test_an_unchanged_page_under_another_title_keeps_what_was_fetched() -> None:
    world = CorpusWorld()
    world.add(origin=DocumentOrigin.PAGE, source=PAGE)
    world.web.serve(PAGE, FIRST, etag='"1"')
    world.run()

    world.queue_again(title="Manual")
    world.run()

    assert world.document().version == 2
    world.require_agreement()


def test_a_page_whose_new_version_never_became_whole_is_asked_for_without_conditions() -> None:
    world = CorpusWorld()
    world.add(origin=DocumentOrigin.PAGE, source=PAGE)
    world.web.serve(PAGE, FIRST, etag='"1"')
    world.run()
    world.web.serve(PAGE, SECOND, etag='"2"')
    world.queue_again()
    world.index.lag = 7
    with pytest.raises(FencepostError):
        world.run()
    world.index.lag = 0

    world.queue_again()
    world.run()

    assert "".join(world.read()) == SECOND
    world.require_agreement()


def test_a_page_that_fails_leaves_what_was_found() -> None:
    world = CorpusWorld()
    world.add(origin=DocumentOrigin.PAGE, source=PAGE)
    world.web.serve(PAGE, FIRST)
    world.run()

    for reason, code in (
        ("status", ErrorCode.SOURCE_UNREACHABLE),
        ("address_refused", ErrorCode.SOURCE_UNREACHABLE),
        ("too_large", ErrorCode.DOCUMENT_TOO_LARGE),
        ("not_text", ErrorCode.DOCUMENT_UNREADABLE),
    ):
        world.web.served[PAGE] = reason  # type: ignore[assignment]  # one of the reasons
        world.queue_again()
        world.run()
        assert (world.document().state, world.document().error) == (DocumentState.FAILED, code)
    world.web.serve(PAGE, "  \n ")
    world.queue_again()
    world.run()
    assert world.document().error is ErrorCode.SOURCE_EMPTY

    assert "".join(world.read()) == FIRST
    world.web.serve(PAGE, SECOND)
    world.queue_again()
    world.run()
    assert (world.document().state, world.document().error) == (DocumentState.READY, None)


@pytest.mark.parametrize(
    ("media_type", "url", "text", "kind"),
    [
        ("text/html", PAGE, "<p>x", DocumentKind.HTML),
        ("application/octet-stream", PAGE, "<!DOCTYPE html><p>x", DocumentKind.HTML),
        ("text/plain", f"{PAGE}.md", "x", DocumentKind.MARKDOWN),
        ("text/markdown", PAGE, "x", DocumentKind.MARKDOWN),
        ("text/plain", PAGE, "x", DocumentKind.TEXT),
    ],
)
def test_what_a_page_is_is_told_by_its_type_and_address(
    media_type: str, url: str, text: str, kind: DocumentKind
) -> None:
    world = CorpusWorld()
    world.add(origin=DocumentOrigin.PAGE, source=url)
    world.web.serve(url, text, media_type=media_type)

    world.run()

    assert world.document().kind is kind


def test_chunks_of_many_pages_know_their_own_page() -> None:
    url = "https://docs.example/llms-full.txt"
    text = (
        f"# Install\n\nSource: https://docs.example/install\n\n{'Install it. ' * 90}\n\n"
        f"# Run\n\nSource: https://docs.example/run\n\n{'Run it. ' * 120}"
    )
    world = CorpusWorld()
    world.add(origin=DocumentOrigin.LLMS_FULL, source=url)
    world.web.serve(url, text)

    world.run()

    pages = {row.text[:8]: row.url for row in world.store.rows_of("acme", "d1")}
    assert (pages["Install "], pages["Run it. "]) == ("https://docs.example/install", "https://docs.example/run")


def test_an_upload_is_read_when_it_has_come_and_again_when_it_has_gone() -> None:
    world = CorpusWorld()
    world.add(origin=DocumentOrigin.UPLOAD)
    world.run()
    assert world.document().error is ErrorCode.DOCUMENT_NOT_UPLOADED

    world.blobs.upload("acme", "corpus/d1/upload", FIRST.encode())
    world.queue_again()
    world.run()
    world.blobs.inner.delete(world.scope, "corpus/d1/upload")
    world.queue_again(title="Manual")
    world.run()

    assert "".join(world.read()) == FIRST
    world.require_agreement()


def test_an_upload_that_is_no_text_or_too_large_fails() -> None:
    world = CorpusWorld()
    world.add(origin=DocumentOrigin.UPLOAD)
    world.blobs.upload("acme", "corpus/d1/upload", b"\xff\xfe\x00")
    world.run()
    assert (world.document().state, world.document().error) == (DocumentState.FAILED, ErrorCode.DOCUMENT_UNREADABLE)

    world.blobs.upload("acme", "corpus/d1/upload", b"x" * 20_000_001)
    world.queue_again()
    world.run()
    assert world.document().error is ErrorCode.DOCUMENT_TOO_LARGE
