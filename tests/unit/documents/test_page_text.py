"""Documents of every kind become canonical text, and hostile ones a code."""

from __future__ import annotations

import pytest

from fencepost.documents.domain.chunking.chunks import chunk
from fencepost.documents.domain.documents import MAX_DOCUMENT_BYTES, DocumentKind
from fencepost.documents.readers import page_text
from fencepost.documents.readers.page_text import MAX_HTML_BYTES, PageText, ReadableText, kind_of, readable
from fencepost.kernel.errors import ErrorCode, FencepostError
from tests.unit.documents import pdfs
from tests.unit.documents.chunking_texts import count

HTML = "text/html; charset=utf-8"


def page(body: str, head: str = "", language: str = "en") -> ReadableText:
    html = f'<!doctype html><html lang="{language}"><head>{head}</head><body>{body}</body></html>'
    return readable(html.encode(), HTML)


def refusal(raw: bytes, content_type: str) -> ErrorCode:
    with pytest.raises(FencepostError) as caught:
        readable(raw, content_type)
    return caught.value.code


def test_a_page_becomes_markdown_with_its_title_and_language() -> None:
    read = page(
        "<h1>Setting <em>posts</em></h1><p>Dig\n  deep. See <a href='/rails?x=1'>rails</a>.</p><h2>Tools</h2>"
        "<ul><li>Spade<ul><li><code>auger --deep</code></li></ul></li><li>Level</li></ul><ol><li>Dig<li>Set</ol>"
        "<blockquote><p>Measure twice.</p><p>Cut once.</p></blockquote><hr><p>One<br>two</p>",
        head="<title> Posts &amp; rails </title>",
        language="en-GB",
    )
    assert (read.kind, read.title, read.language) == (DocumentKind.HTML, "Posts & rails", "en-GB")
    assert read.text == (
        "# Setting posts\n\nDig deep. See [rails](/rails?x=1).\n\n## Tools\n\n- Spade\n  - `auger --deep`\n- Level\n\n"
        "1. Dig\n2. Set\n\n> Measure twice.\n>\n> Cut once.\n\n***\n\nOne\ntwo\n"
    )


def test_code_keeps_its_lines_language_and_backticks() -> None:
    read = page('<p>Do:</p><pre><code class="hljs language-py">def f():\n\n    return "```"\n</code></pre>')
    assert read.text == 'Do:\n\n````py\ndef f():\n\n    return "```"\n````\n'


def test_tables_keep_their_cells() -> None:
    read = page(
        "<table><caption>Depths</caption><thead><tr><th>Post<th>Depth</thead><tr><td>a|b<td><p>60</p><p>cm</p></tr>"
        "<tr><td>corner<td><table><tr><td>80<td>cm</table></tr></table><p>After.</p>"
    )
    assert read.text == ("Depths\n\n| Post | Depth |\n| --- | --- |\n| a\\|b | 60 cm |\n| corner | 80 cm |\n\nAfter.\n")


def test_a_table_that_is_a_layout_is_text() -> None:
    assert page("<table><tr><td>One</td></tr><tr><td>Two</td></tr></table>").text == "One\n\nTwo\n"


@pytest.mark.parametrize(
    "boilerplate",
    [
        "<script>alert('Unwanted')</script>",
        "<style>.unwanted {}</style>",
        "<nav>Unwanted</nav>",
        "<footer>Unwanted</footer>",
        '<div role="navigation">Unwanted</div>',
        '<header role="banner">Unwanted</header>',
        "<template>Unwanted</template>",
        "<noscript>Unwanted</noscript>",
        "<svg><title>Unwanted</title></svg>",
        "<p hidden>Unwanted</p>",
        '<p aria-hidden="true">Unwanted</p>',
        '<p style="color: red; DISPLAY : none">Unwanted</p>',
        '<p style="visibility:hidden">Unwanted</p>',
        "<!-- Unwanted -->",
        "<textarea>Unwanted</textarea>",
        "<button>Unwanted</button>",
        '<a href="#here">¶</a>',
        "\u200b\u2066\U000e0041",
    ],
)
def test_what_no_reader_sees_is_left_out(boilerplate: str) -> None:
    assert page(f"<p>Before.</p>{boilerplate}<p>After.</p>").text == "Before.\n\nAfter.\n"


def test_the_main_part_is_read_where_a_page_names_one() -> None:
    assert page("<div>Side</div><main><p>Words</p></main>").text == "Words\n"
    assert page("<div>Side</div><article><p>Words</p></article>").text == "Words\n"
    assert page("<article>One</article><article>Two</article>").text == "One\n\nTwo\n"
    assert page("<main></main><p>Words</p>").text == "Words\n"


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", " JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "java\nscript:x", "#part"],
)
def test_an_address_that_is_none_is_left_out(address: str) -> None:
    assert page(f'<p>See <a href="{address}">this [one]</a>.</p>').text == "See this [one].\n"


def test_an_address_cannot_end_its_link() -> None:
    assert page('<p><a href="/a b)(<c">one</a></p>').text == "[one](/a%20b%29%28%3Cc)\n"


@pytest.mark.parametrize("words", ["# Title", "```", "~~~", "---", "===", "***", "| a | b |", "> said"])
def test_what_a_page_says_adds_no_structure(words: str) -> None:
    read = page(f"<h1>Real</h1><p>{words}</p><p>End.</p>")
    assert f"\n\\{words}\n" in read.text
    (one,) = chunk(read.text, count)
    assert one.breadcrumb == ("Real",)


def test_a_hostile_title_and_language_become_harmless() -> None:
    read = page("<p>x</p>", head="<title>[a](javascript:b) &lt;img onerror=x&gt;`</title>", language='"><x')
    assert not set(read.title) & set("<>[]`")
    assert read.language == ""
    assert page("<h1>Only heading</h1>").title == "Only heading"


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 3_000 + "x",
        "<ul><li>" * 1_500 + "x",
        "<blockquote>" * 1_500 + "x",
        "<table><tr><td>" * 1_500 + "x",
        "<a href=/x><b>" * 1_500 + "x",
        "<p " + " ".join(f"a{n}=1" for n in range(5_000)) + ">x",
        "</p>" * 5_000 + "x",
        "<pre><table><li><h1><a href=x><tr><td>x</pre></table></li>",
        "<plaintext>x",
        "x<svg><foreignObject><p>y</svg>",
    ],
    ids=lambda body: body[:20],
)
def test_broken_and_deep_pages_are_read(body: str) -> None:
    assert "x" in page(body).text


def test_deep_lists_do_not_unfold_to_more_than_they_are() -> None:
    body = "<ul><li>x" * 1_500
    assert len(page(body).text) < 10 * len(body)


def test_a_page_that_takes_too_long_is_unreadable() -> None:
    # Each tag is compared with all that are open above it.
    with pytest.raises(FencepostError) as caught:
        readable(b"<div>" * 900_000 + b"x", HTML, seconds=2)
    assert caught.value.code == ErrorCode.DOCUMENT_UNREADABLE


def test_bombs_are_refused_before_they_are_read() -> None:
    assert refusal(b"<p>" + b"x" * MAX_HTML_BYTES, HTML) == ErrorCode.DOCUMENT_TOO_LARGE
    assert refusal(b"x" * (MAX_DOCUMENT_BYTES + 1), "text/plain") == ErrorCode.DOCUMENT_TOO_LARGE
    assert refusal(b"%PDF-" + b"x" * MAX_DOCUMENT_BYTES, "application/pdf") == ErrorCode.DOCUMENT_TOO_LARGE


def test_more_text_than_may_be_is_refused_and_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_text, "MAX_TEXT_CHARACTERS", 1_000)
    long = "word " * 300
    assert refusal(long.encode(), "text/plain") == ErrorCode.DOCUMENT_TOO_LARGE
    assert refusal(f"<p>{long}".encode(), HTML) == ErrorCode.DOCUMENT_TOO_LARGE
    assert refusal(pdfs.pdf(["word " * 50] * 10), "application/pdf") == ErrorCode.DOCUMENT_TOO_LARGE


@pytest.mark.parametrize(
    ("raw", "said", "kind"),
    [
        (b"%PDF-1.7 x", "text/plain", DocumentKind.PDF),
        (b"\n%PDF-1.7 x", "", DocumentKind.PDF),
        (b"<!DOCTYPE html><p>x", "text/plain", DocumentKind.HTML),
        (b"<!-- x --> <HTML lang=en>", "application/octet-stream", DocumentKind.HTML),
        (b"x", "Text/HTML; charset=utf-8", DocumentKind.HTML),
        (b"x", "application/xhtml+xml", DocumentKind.HTML),
        (b"<html> in Markdown", "text/markdown", DocumentKind.MARKDOWN),
        (b"# x", "text/plain", DocumentKind.TEXT),
        (b"x", "", DocumentKind.TEXT),
    ],
)
def test_the_content_decides_what_a_document_is(raw: bytes, said: str, kind: DocumentKind) -> None:
    assert kind_of(raw, said) is kind


@pytest.mark.parametrize("said", ["image/png", "application/zip", "application/json", "video/mp4"])
def test_what_is_no_document_is_refused(said: str) -> None:
    assert refusal(b"x", said) == ErrorCode.DOCUMENT_TYPE_UNSUPPORTED


@pytest.mark.parametrize(
    ("raw", "content_type"),
    [
        ("Zäune 柵".encode(), "text/plain"),
        ("\ufeffZäune 柵".encode(), "text/plain; charset=latin1"),
        ("Zäune 柵".encode("utf-16"), "text/plain"),
        ("Zäune".encode("latin-1"), 'text/plain; charset="ISO-8859-1"'),
        ("<p>Zäune".encode("latin-1"), "text/html"),
        ("<p>柵を立てる".encode("shift_jis"), "text/html; charset=Shift_JIS"),
        ("<meta charset=shift_jis><p>柵を立てる".encode("shift_jis"), "text/html"),
        # What was decoded on its way is UTF-8, whatever its own head says.
        ("<meta charset=shift_jis><p>柵を立てる".encode(), "text/html"),
    ],
)
def test_every_charset_of_the_web_is_read(raw: bytes, content_type: str) -> None:
    assert readable(raw, content_type).text.strip() in ("Zäune 柵", "Zäune", "柵を立てる")


@pytest.mark.parametrize("raw", [b"", b" \n", b"\xff\xfe\x00", b"a\0b", "Zäune".encode("latin-1"), "\u200b".encode()])
def test_what_is_no_text_is_unreadable(raw: bytes) -> None:
    assert refusal(raw, "text/plain") == ErrorCode.DOCUMENT_UNREADABLE


@pytest.mark.parametrize("body", [b"<html></html>", b"<nav>only</nav>", b"<p hidden>x", b"<html>\0"])
def test_a_page_that_says_nothing_is_unreadable(body: bytes) -> None:
    assert refusal(body, HTML) == ErrorCode.DOCUMENT_UNREADABLE


def test_text_is_kept_as_its_author_wrote_it() -> None:
    read = readable("# Titel\r\n\r\nE = mc², ½ Zaun\u200b, ｶﾅ, e\u0301\n\n\n\n\n\nEnde  ".encode(), "text/markdown")
    assert read.title == "Titel"
    assert read.text == "# Titel\n\nE = mc², ½ Zaun, ｶﾅ, é\n\n\nEnde\n"
    assert readable(b"First line.\nSecond.", "text/plain").title == "First line."


def test_a_pdf_is_read_in_its_child_process() -> None:
    read = readable(pdfs.pdf(["Posts stand two metres apart.", "Rails are nailed on."]), "application/pdf")
    assert read.kind is DocumentKind.PDF
    assert read.title == "Posts stand two metres apart."
    assert read.text == "Posts stand two metres apart.\n\nRails are nailed on.\n"


@pytest.mark.parametrize("raw", [b"%PDF-1.7\n", pdfs.bomb(), pdfs.loop()], ids=["head", "bomb", "loop"])
def test_a_hostile_pdf_is_unreadable(raw: bytes) -> None:
    assert refusal(raw, "application/pdf") == ErrorCode.DOCUMENT_UNREADABLE


@pytest.mark.parametrize("kind", [DocumentKind.HTML, DocumentKind.MARKDOWN])
def test_a_reader_takes_the_kind_that_it_is_told(kind: DocumentKind) -> None:
    assert PageText().read(b"<p>Words", kind).text == ("Words\n" if kind is DocumentKind.HTML else "<p>Words\n")
