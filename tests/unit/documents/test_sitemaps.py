"""Sitemaps: which pages they name, and what of them is taken."""

from __future__ import annotations

import pytest

from fencepost.documents.domain.documents import DocumentOrigin, DocumentState
from fencepost.documents.domain.sitemaps import MAX_PAGES, child_id, is_index, locations
from fencepost.kernel.errors import ErrorCode
from tests.worlds.corpus import CorpusWorld

SOURCE = "https://docs.example/sitemap.xml"


def sitemap(*urls: str) -> str:
    entries = "".join(f"<url>\n  <loc> {url} </loc><lastmod>2026-01-01</lastmod></url>" for url in urls)
    return f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("https://docs.example/a?b=1&amp;c=2", "https://docs.example/a?b=1&c=2"),
        ("<![CDATA[https://docs.example/a]]>", "https://docs.example/a"),
        ("https://docs.example/%E6%9F%B5", "https://docs.example/%E6%9F%B5"),
    ],
)
def test_an_address_is_read_however_it_is_written(written: str, url: str) -> None:
    assert locations(sitemap(written), SOURCE, 9) == (url,)


@pytest.mark.parametrize(
    "written",
    [
        "https://elsewhere.example/a",
        "https://docs.example.evil.example/a",
        "https://user@docs.example/a",
        "https://docs.example:8443/a",
        "ftp://docs.example/a",
        "javascript:alert(1)",
        "/relative",
        "",
    ],
)
def test_what_is_not_on_the_sitemaps_own_host_is_left_out(written: str) -> None:
    assert locations(sitemap(written, "https://docs.example/b"), SOURCE, 9) == ("https://docs.example/b",)


def test_each_page_is_one_in_their_order_up_to_a_limit() -> None:
    urls = [f"https://docs.example/{number}" for number in (3, 1, 3, 2)]
    assert locations(sitemap(*urls), SOURCE, 2) == (urls[0], urls[1])


def test_a_page_keeps_its_id_with_its_address() -> None:
    assert child_id("s1", "https://docs.example/a") == child_id("s1", "https://docs.example/a")
    assert len({child_id(parent, url) for parent in ("s1", "s2") for url in ("a", "b")}) == 4


def test_an_index_of_sitemaps_is_followed_once() -> None:
    world = CorpusWorld()
    world.add(origin=DocumentOrigin.SITEMAP, source=SOURCE)
    parts = [f"https://docs.example/part-{number}.xml" for number in range(3)]
    index = f"<sitemapindex>{''.join(f'<sitemap><loc>{part}</loc></sitemap>' for part in parts)}</sitemapindex>"
    world.web.serve(SOURCE, index)
    for number, part in enumerate(parts):
        world.web.serve(part, sitemap(f"https://docs.example/{number}", "https://docs.example/shared"))

    world.run()

    assert is_index(index)
    assert not is_index(sitemap())
    children = {row.source for row in world.store.documents.values() if row.parent}
    assert children == {*(f"https://docs.example/{number}" for number in range(3)), "https://docs.example/shared"}


def test_a_sitemap_has_so_many_pages_and_no_more() -> None:
    world = CorpusWorld()
    world.add(origin=DocumentOrigin.SITEMAP, source=SOURCE)
    world.web.serve(SOURCE, sitemap(*(f"https://docs.example/{number}" for number in range(MAX_PAGES + 5))))

    world.run()

    assert len(world.store.documents) == 1 + MAX_PAGES
    assert world.document().state is DocumentState.READY


def test_a_sitemap_that_is_empty_fails_and_its_pages_stay() -> None:
    world = CorpusWorld()
    world.add(origin=DocumentOrigin.SITEMAP, source=SOURCE)
    world.web.serve(SOURCE, sitemap("https://docs.example/a"))
    world.web.serve("https://docs.example/a", "# A")
    world.run()
    world.work()

    world.web.serve(SOURCE, sitemap())
    world.queue_again()
    world.run()

    assert (world.document().state, world.document().error) == (DocumentState.FAILED, ErrorCode.SOURCE_EMPTY)
    assert [row.state for row in world.store.documents.values() if row.parent] == [DocumentState.READY]


def test_a_page_that_was_lost_comes_back_with_the_next_look() -> None:
    world = CorpusWorld()
    world.add(origin=DocumentOrigin.SITEMAP, source=SOURCE)
    world.web.serve(SOURCE, sitemap("https://docs.example/a"))
    world.web.serve("https://docs.example/a", "# A")
    world.run()
    world.work()
    child = child_id("d1", "https://docs.example/a")
    del world.store.documents["acme", child]

    world.queue_again()
    world.run()
    world.work()

    assert world.document(child).state is DocumentState.READY


def test_an_unchanged_sitemap_is_not_sent_again_and_followed_all_the_same() -> None:
    world = CorpusWorld()
    world.add(origin=DocumentOrigin.SITEMAP, source=SOURCE)
    page = "https://docs.example/a"
    world.web.serve(SOURCE, sitemap(page), etag='"1"')
    world.web.serve(page, "# A")
    world.run()
    world.work()
    child = child_id("d1", page)
    del world.store.documents["acme", child]

    world.queue_again()
    world.run()
    world.work()

    assert [known.etag for url, known in world.web.asked if url == SOURCE] == [None, '"1"']
    assert world.document(child).state is DocumentState.READY
    assert [name for name in world.blobs.all() if name.startswith("corpus/d1/")] == [
        "corpus/d1/v2/raw",
        "corpus/d1/v2/text",
    ]


def test_the_parts_of_an_unchanged_index_of_sitemaps_are_read_again() -> None:
    world = CorpusWorld()
    world.add(origin=DocumentOrigin.SITEMAP, source=SOURCE)
    part = "https://docs.example/part.xml"
    world.web.serve(SOURCE, f"<sitemapindex><sitemap><loc>{part}</loc></sitemap></sitemapindex>", etag='"1"')
    for page in ("https://docs.example/a", "https://docs.example/b"):
        world.web.serve(part, sitemap(page), etag=page)
        world.run()
        world.queue_again()

    children = {row.source: row.state for row in world.store.documents.values() if row.parent}
    assert children == {
        "https://docs.example/a": DocumentState.REMOVED,
        "https://docs.example/b": DocumentState.QUEUED,
    }


def test_another_language_of_a_sitemap_is_its_pages_language() -> None:
    world = CorpusWorld()
    world.add(origin=DocumentOrigin.SITEMAP, source=SOURCE)
    page = "https://docs.example/a"
    world.web.serve(SOURCE, sitemap(page))
    world.web.serve(page, "# はじめに\n\nお読みください。")
    world.run()
    world.work()
    child = child_id("d1", page)
    assert world.document(child).language == "ja"

    world.queue_again(language="ja-JP")
    world.run()
    world.work()

    assert {entry.language for entry in world.index.entries.values()} == {"ja-JP"}
