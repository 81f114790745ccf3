"""Splits a site's `llms-full.txt` into sections that can be ranked, quoted and cited."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from urllib.parse import unquote, urlsplit

from fencepost.documents.domain.pages import Mark, SitePage, find_pages
from fencepost.kernel.links import page_address, site_base, web_address
from fencepost.kernel.markdown import MarkdownLine, scan
from fencepost.prompting.domain.fence import Section

MAX_SECTION_BYTES = 4_000
"""Maximum UTF-8 bytes of a section. Bytes bound tokens in all languages better than characters do."""
MIN_SECTION_BYTES = 800
"""A shorter section is joined with those that follow on its page: the fences around it would cost too many tokens."""
MAX_SLUG_CHARACTERS = 80

_SLUG_GAP = re.compile(r"(?:[^\w./~]|/{2,}|\.{2,})+")


@dataclass(frozen=True, slots=True)
class DocumentSet:
    """All sections of a site at one time. `content_hash` is the SHA-256 hex digest of the raw file."""

    sections: tuple[Section, ...]
    content_hash: str


NO_DOCUMENTS: Final = DocumentSet((), hashlib.sha256().hexdigest())
"""The document set of an empty file, for sites without documentation."""


def split_document(raw: str, site_url: str) -> DocumentSet:
    """Split a file into sections.

    The sections' texts, joined, are `raw`; a file of white space only has no sections. A section ends at a heading; or
    at a blank line outside code, if it would exceed `MAX_SECTION_BYTES`; or, within a single block that is longer, at a
    line end or inside a line.

    A section's id consists of the page, the number of the heading on it and, after the first, the number of the slice:
    `guide/install#3.2`. It does not change unless the page changes above the section. Pages of the same name are
    numbered in order.

    Args:
        raw: the decoded file.
        site_url: the site that it comes from; relative addresses are resolved against it.
    """
    lines, base = scan("" if raw.isspace() else raw), site_base(site_url)
    pages = find_pages(lines)
    ends = [page.index for page in pages[1:]] + [len(lines)]
    names: Counter[str] = Counter()
    sections: list[Section] = []
    for page, end in zip(pages, ends, strict=True):
        address = web_address(page.target, base) if page.target.startswith(("http", "/")) else None
        if address:
            slug = _slug(unquote(urlsplit(page_address(address)).path).removeprefix(urlsplit(base).path)) or "index"
        else:
            slug = _slug(page_address(page.target)) or _slug(page.title) or "page"
        name = _unique(slug, names)
        location = _PageLocation(name, page_address(address) if address else None, base)
        sections.extend(_page_sections(_heading_sections(page, lines, end), lines, location))
    digest = hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()
    return DocumentSet(tuple(sections), digest)


@dataclass(frozen=True, slots=True)
class _HeadingSection:
    """The text under one heading of a page, or above its first heading. `number` counts from 1."""

    number: int
    title: str
    target: str
    start: int
    end: int
    size: int


@dataclass(frozen=True, slots=True)
class _PageLocation:
    """A page's unique name, its address if known, and the site's address."""

    name: str
    address: str | None
    base: str


def _page_sections(
    found: list[_HeadingSection], lines: list[MarkdownLine], location: _PageLocation
) -> Iterator[Section]:
    for one in _merged(found):
        # The address has the fragment of the heading if that is known; else it is the page's, or the site's.
        target = f"{location.address or ''}{one.target}" if one.target.startswith("#") else one.target
        own = web_address(target, location.base) if "#" in target[1:] else None
        url = own or location.address or location.base
        for number, text in enumerate(_slices(lines[one.start : one.end]), start=1):
            identifier = f"{location.name}#{one.number}" + (f".{number}" if number > 1 else "")
            yield Section(identifier, one.title or location.name, url, text)


def _heading_sections(page: SitePage, lines: list[MarkdownLine], end: int) -> list[_HeadingSection]:
    """Split a page at its headings. Text above the first heading belongs to that if it is the page's title."""
    headings = list(page.headings)
    if not headings or headings[0].title != page.title:
        headings.insert(0, Mark(page.index, 1, page.title, "", page.index))
    starts = [page.index, *(mark.index for mark in headings[1:]), end]
    titles = _breadcrumbs(page.title, headings)
    return [
        _HeadingSection(number, title, mark.target, start, stop, sum(_bytes(line.text) for line in lines[start:stop]))
        for number, (title, mark, (start, stop)) in enumerate(zip(titles, headings, pairwise(starts), strict=True), 1)
    ]


def _breadcrumbs(page_title: str, headings: Sequence[Mark]) -> Iterator[str]:
    above: list[tuple[int, str]] = []
    for mark in headings:
        above = [(level, title) for level, title in above if level < mark.level] + [(mark.level, mark.title)]
        trail = [page_title, *(title for _, title in above)]
        yield " › ".join(dict.fromkeys(title for title in trail if title))


def _merged(sections: list[_HeadingSection]) -> Iterator[_HeadingSection]:
    """Join sections that are too small with those that follow them."""
    pending: _HeadingSection | None = None
    for section in sections:
        if pending is not None and pending.size >= MIN_SECTION_BYTES:
            yield pending
            pending = None
        pending = section if pending is None else _joined(pending, section)
    if pending is not None and pending.size:
        yield pending


def _joined(first: _HeadingSection, second: _HeadingSection) -> _HeadingSection:
    shown = first if first.size else second
    return _HeadingSection(first.number, shown.title, shown.target, first.start, second.end, first.size + second.size)


def _slices(lines: list[MarkdownLine]) -> Iterator[str]:
    """Yield the text of lines in slices of at most `MAX_SECTION_BYTES`."""
    pending: list[str] = []
    size = 0
    for text in _small_blocks(lines):
        length = _bytes(text)
        if pending and size + length > MAX_SECTION_BYTES:
            yield "".join(pending)
            pending, size = [], 0
        pending.append(text)
        size += length
    if pending:
        yield "".join(pending)


def _small_blocks(lines: list[MarkdownLine]) -> Iterator[str]:
    """Yield blocks of at most `MAX_SECTION_BYTES`; longer blocks line by line, longer lines in slices."""
    for block in _blocks(lines):
        text = "".join(line.text for line in block)
        if _bytes(text) <= MAX_SECTION_BYTES:
            yield text
        else:
            for line in block:
                yield from _line_slices(line.text)


def _blocks(lines: list[MarkdownLine]) -> Iterator[list[MarkdownLine]]:
    """Yield runs of lines up to blank lines outside code. Headings stay with the text below them."""
    block: list[MarkdownLine] = []
    for line in lines:
        is_end = block and block[-1].blank and not line.blank and not block[-1].code
        if is_end and not all(each.level or each.blank for each in block):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _line_slices(text: str) -> Iterator[str]:
    # A character has up to four bytes.
    step = MAX_SECTION_BYTES if text.isascii() else MAX_SECTION_BYTES // 4
    if _bytes(text) <= MAX_SECTION_BYTES:
        yield text
    else:
        yield from (text[start : start + step] for start in range(0, len(text), step))


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _slug(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SLUG_GAP.sub("-", folded)[:MAX_SLUG_CHARACTERS].strip("-./_")


def _unique(name: str, names: Counter[str]) -> str:
    candidate = name
    while candidate in names:
        names[name] += 1
        candidate = f"{name}-{names[name]}"
    names[candidate] = 1
    return candidate
