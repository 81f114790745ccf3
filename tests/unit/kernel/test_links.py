"""Addresses and titles from documents: only web addresses, and no active Markdown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.kernel.links import is_web_address, page_address, plain_text, site_base, web_address

BASE = "https://site.example/docs/"


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("https://other.example/a", "https://other.example/a"),
        ("/docs/guide", "https://site.example/docs/guide"),
        ("/guide.md", "https://site.example/docs/guide.md"),
        ("guide#x", "https://site.example/docs/guide#x"),
        (r"https://other.example/\#top", "https://other.example/#top"),
        ("<https://other.example/>", "https://other.example/"),
        ("https://other.example/日本", "https://other.example/%E6%97%A5%E6%9C%AC"),
        ("https://other.example/a(b)\"'<c>d", "https://other.example/a%28b%29%22%27%3Cc%3Ed"),
        ("javascript:alert(1)", None),
        ("JaVaScRiPt:alert(1)", None),
        ("java\nscript:alert(1)", None),
        ("data:text/html,x", None),
        ("https://user:secret@other.example/", None),
        ("https://[::1", None),
        ("https://other.example:99999/", None),
        ("", None),
    ],
)
def test_web_address(target: str, expected: str | None) -> None:
    assert web_address(target, BASE) == expected


@given(st.text())
def test_whatever_the_target_the_result_is_a_web_address_or_none(target: str) -> None:
    for candidate in (target, f"https://{target}", f"/{target}", f"https://a.example/{target}"):
        url = web_address(candidate, BASE)
        assert url is None or (is_web_address(url) and not set(url) & set(" \"'<>()\\`\n{}|^"))


@pytest.mark.parametrize(
    ("site", "base"),
    [
        ("https://a.example", "https://a.example/"),
        ("https://a.example/docs", "https://a.example/docs/"),
        ("https://a.example/docs/llms-full.txt", "https://a.example/docs/"),
    ],
)
def test_the_base_is_the_folder_of_the_site(site: str, base: str) -> None:
    assert site_base(site) == base


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("https://a.example/guide.md", "https://a.example/guide"),
        ("https://a.example/guide/index.mdx#x", "https://a.example/guide"),
        ("https://a.example/readme.txt", "https://a.example/readme.txt"),
    ],
)
def test_readers_are_sent_to_the_page_and_not_to_its_source(url: str, page: str) -> None:
    assert page_address(url) == page


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("[What is it?](https://a.example/#x)", "What is it?"),
        ('Main[\u200b](#main "Direct link to heading")', "Main"),
        ("Use `Array<T>` **now** {#custom}", "Use Array‹T› now"),
        ("<img src=x onerror=alert(1)> Hi ![logo](/x.png)", "Hi"),
        ("[a](javascript:alert(1))", "a"),
        ("&lt;script&gt; &amp; more", "‹script› & more"),
        ("a\u202eb\x00c", "abc"),
    ],
)
def test_a_title_is_its_words(heading: str, expected: str) -> None:
    assert plain_text(heading) == expected


@given(st.text())
def test_a_title_holds_nothing_that_opens_a_link_a_tag_or_code(text: str) -> None:
    title = plain_text(text)
    assert not set(title) & set("[]<>`\\\n\r\x00")
    assert len(title) <= 120
