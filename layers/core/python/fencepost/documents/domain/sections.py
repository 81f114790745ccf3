"""A site's `llms-full.txt`, cut into sections that can be ranked, quoted and cited."""

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
"""UTF-8 bytes of a section. Bytes bound tokens, and languages that need more of them say more in each character."""
MIN_SECTION_BYTES = 800
"""A section shorter than this takes in what follows on its page: small ones cost more in fences than they say."""
MAX_SLUG_CHARACTERS = 80

_SLUG_GAP = re.compile(r"(?:[^\w./~]|/{2,}|\.{2,})+")


@dataclass(frozen=True, slots=True)
class _Part:
    """What stands under one heading of a page, or above its first. `number` counts them from 1."""

    number: int
    title: str
    target: str
    start: int
    end: int
    size: int


@dataclass(frozen=True, slots=True)
class _Place:
    """A page's unique name, its address where known, and the site's."""

    name: str
    address: str | None
    base: str


def split_document(raw: str, site_url: str) -> DocumentSet:
    """Split a file into sections.

    Every character stays: the sections' texts joined are `raw`, unless that is white space alone and has none. A
    section ends at a heading, at a blank line outside code where it would grow beyond `MAX_SECTION_BYTES`, and only
    where a single block is longer than that at a line end, or inside a line.

    An id names the page, the number of the heading in it and, from the second on, the piece: `guide/install#3.2`. It
    stays while what stands above on its page does; two pages of the same name are told apart by their order.

    Args:
        raw: the file, decoded.
        site_url: the site it came from; relative addresses are resolved against it.
    """
    lines, base = scan("" if raw.isspace() else raw), site_base(site_url)
    pages = find_pages(lines)
    ends = [page.index for page in pages[1:]] + [len(lines)]
    names: Counter[str] = Counter()
    sections: list[Section] = []
    for page, end in zip(pages, ends, strict=True):
        address = web_address(page.target, base) if page.target.startswith(("http", "/")) else None
        name = _unique(_page_slug(page, address, base), names)
        place = _Place(name, page_address(address) if address else None, base)
        sections.extend(_page_sections(_parts(page, lines, end), lines, place))
    digest = hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()
    return DocumentSet(tuple(sections), digest)


def _page_sections(parts: list[_Part], lines: list[MarkdownLine], place: _Place) -> Iterator[Section]:
    for part in _grown(parts):
        url = _part_address(part, place)
        for piece, text in enumerate(_pieces(lines[part.start : part.end]), start=1):
            identifier = f"{place.name}#{part.number}" + (f".{piece}" if piece > 1 else "")
            yield Section(identifier, part.title or place.name, url, text)


def _parts(page: SitePage, lines: list[MarkdownLine], end: int) -> list[_Part]:
    """Cut a page at its headings; what stands above the first belongs to it if that is the page's title."""
    headings = list(page.headings)
    if not headings or headings[0].title != page.title:
        headings.insert(0, Mark(page.index, 1, page.title, "", page.index))
    starts = [page.index, *(mark.index for mark in headings[1:]), end]
    titles = _breadcrumbs(page.title, headings)
    return [
        _Part(number, title, mark.target, start, stop, sum(_bytes(line.text) for line in lines[start:stop]))
        for number, (title, mark, (start, stop)) in enumerate(zip(titles, headings, pairwise(starts), strict=True), 1)
    ]


def _breadcrumbs(page_title: str, headings: Sequence[Mark]) -> Iterator[str]:
    above: list[tuple[int, str]] = []
    for mark in headings:
        above = [(level, title) for level, title in above if level < mark.level] + [(mark.level, mark.title)]
        trail = [page_title, *(title for _, title in above)]
        yield " › ".join(dict.fromkeys(title for title in trail if title))


def _grown(parts: list[_Part]) -> Iterator[_Part]:
    """Join parts that are too small with what follows them."""
    pending: _Part | None = None
    for part in parts:
        if pending is not None and pending.size >= MIN_SECTION_BYTES:
            yield pending
            pending = None
        pending = part if pending is None else _joined(pending, part)
    if pending is not None and pending.size:
        yield pending


def _joined(first: _Part, second: _Part) -> _Part:
    shown = first if first.size else second
    return _Part(first.number, shown.title, shown.target, first.start, second.end, first.size + second.size)


def _pieces(lines: list[MarkdownLine]) -> Iterator[str]:
    """Yield the text of the lines in pieces of at most `MAX_SECTION_BYTES`."""
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
    """Yield blocks, those beyond the bound by the line, and lines beyond it cut hard."""
    for block in _blocks(lines):
        text = "".join(line.text for line in block)
        if _bytes(text) <= MAX_SECTION_BYTES:
            yield text
        else:
            for line in block:
                yield from _cut(line.text)


def _blocks(lines: list[MarkdownLine]) -> Iterator[list[MarkdownLine]]:
    """Yield runs of lines that end with blank ones, whole code blocks among them; a heading stays with what follows."""
    block: list[MarkdownLine] = []
    for line in lines:
        if block and block[-1].blank and not line.blank and not block[-1].code and not _only_heading(block):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _only_heading(block: list[MarkdownLine]) -> bool:
    return all(line.level or line.blank for line in block)


def _cut(text: str) -> Iterator[str]:
    # A character has up to four bytes.
    step = MAX_SECTION_BYTES if text.isascii() else MAX_SECTION_BYTES // 4
    if _bytes(text) <= MAX_SECTION_BYTES:
        yield text
    else:
        yield from (text[start : start + step] for start in range(0, len(text), step))


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _part_address(part: _Part, place: _Place) -> str:
    """Return the address of the place in the page if its heading tells it, else the page's, else the site's."""
    target = f"{place.address or ''}{part.target}" if part.target.startswith("#") else part.target
    own = web_address(target, place.base) if "#" in target[1:] else None
    return own or place.address or place.base


def _page_slug(page: SitePage, address: str | None, base: str) -> str:
    if address:
        path = unquote(urlsplit(page_address(address)).path)
        return _slug(path.removeprefix(urlsplit(base).path)) or "index"
    return _slug(page_address(page.target)) or _slug(page.title) or "page"


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


@dataclass(frozen=True, slots=True)
class DocumentSet:
    """All sections of a site at one moment. `content_hash` is the SHA-256 hex digest of the raw file."""

    sections: tuple[Section, ...]
    content_hash: str


NO_DOCUMENTS: Final = DocumentSet((), hashlib.sha256().hexdigest())
"""What answers draw on where there is no documentation: the set of an empty file."""
