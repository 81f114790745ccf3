"""Finds the pages of an `llms-full.txt`: where each begins, its title and its address.

No standard says how pages are joined. Generators write the following, alone or combined, and all are recognised:

- a first-level heading, ATX or underlined, or a heading right below a rule if pages have no addresses;
- front matter with `title`, `url`, `source`, `source_url`, `permalink` or `slug`, its rules of any length;
- `Source:`, `URL:` and similar lines near the top of a page or right above its heading, in bold, lists or comments;
- a heading that is an address, links to one, or carries one in brackets, or a `File:` heading;
- `<page>`, `<doc url="…">`, `<document path="…">` tags;
- an index of links at the top of the file, which gives the address of each title.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest

from fencepost.kernel.links import plain_text
from fencepost.kernel.markdown import MarkdownLine

MAX_PAGES = 5_000
"""Number of pages beyond which pages shorter than `ROOMY_LINES` are joined: a file of titles only could have a page
a line."""
ROOMY_LINES = 40

_TOP_LINES = 8
_PAGE_LEVEL = 2
_FRONT_MATTER_LINES = 50
_TARGET = r"(?:https?://|/)[^\s<>()\"'`]*"
_ADDRESS_LINE = re.compile(
    rf"(?:source|url|link|canonical|permalink|page|slug|html)(?:[_ ]?url)?[*_]*:"
    rf"[*_\s]*(?:\[[^\[\]]*\]\()?[<\"'(`]*({_TARGET})",
    re.IGNORECASE,
)
_DECORATION = " \t>*-+_<!"
_FRONT_MATTER_KEY = re.compile(r"[A-Za-z][\w-]*:(\s|$)")
_FRONT_MATTER_LINE = re.compile(r"[\w\"'-]+:|\s+\S|- |#")
_FRONT_MATTER_TITLE = re.compile(r"title:\s*(\S.*)")
_DASHES = re.compile(r"-{3,}\s*$")
_PAGE_TAG = re.compile(r"<(?:page|doc|document|file|article)\b([^<>]*+)>?\s*$", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(url|source|src|href|path|title|name)\s*=\s*[\"']([^\"']*)[\"']", re.IGNORECASE)
_LINKED = re.compile(r"\]\(\s*<?([^\s()<>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_CUSTOM_ANCHOR = re.compile(r"\{(#[\w-]+)\}$")
_IN_BRACKETS = re.compile(rf"(\S.*)\s\(({_TARGET})\)$")
_BARE = re.compile(r"(?:<?(https?://[^\s<>]+)>?|(?:file|path)\s*:\s*`?([^\s`]+)`?)$", re.IGNORECASE)
_ANCHOR_LINE = re.compile(r"\[[^\[\]]*\]\((#[^()\s]+)\)\s*$")
_INDEX_ENTRY = re.compile(r"\s*[-*+]\s+\[([^\[\]]*)\]\(([^()\s]+)")


@dataclass(frozen=True, slots=True)
class Mark:
    """A heading, metadata or address line, which may begin a page.

    Attributes:
        index: its first line.
        level: 1–6 for a heading, 0 for a page's metadata, -1 for a lone line with an address.
        title: plain text.
        target: an address as written, possibly only a fragment; empty for none.
        top: its last line.
        after_rule: whether a rule precedes it.
        anchor: whether it is a heading that links to itself, as crawlers and generators write them.
    """

    index: int
    level: int
    title: str
    target: str
    top: int
    after_rule: bool = False
    anchor: bool = False


@dataclass(slots=True)
class SitePage:
    """A page of the file: its first line, its title and address if known, and its headings.

    `top` is the last line of the mark that begins it.
    """

    index: int
    title: str = ""
    target: str = ""
    top: int = 0
    headings: list[Mark] = field(default_factory=list)

    def is_top(self, mark: Mark) -> bool:
        """Tell whether a mark belongs to the top of the page, which names its title and address."""
        return mark.index - self.top <= _TOP_LINES and len(self.headings) <= 1

    def take(self, mark: Mark) -> None:
        """Add a mark to the page. Its title and address become the page's if that has none."""
        if mark.level > 0:
            self.headings.append(mark)
        if mark.level >= 0:
            self.title = self.title or mark.title
        if self.is_top(mark) or mark.anchor:
            address, hash_mark, _ = mark.target.partition("#")
            # Below the title, a link without a fragment leads to another page.
            self.target = self.target or (address if hash_mark or mark.level <= 1 else "")


def find_pages(lines: list[MarkdownLine]) -> list[SitePage]:
    """Return the pages in order. The first begins at line 0, and each ends where the next begins."""
    pages = [SitePage(0, top=next((index for index, line in enumerate(lines) if not line.blank), 0))]
    marks = list(_marks(lines))
    for mark, following in zip_longest(marks, marks[1:]):
        has_room = len(pages) < MAX_PAGES or mark.index - pages[-1].index >= ROOMY_LINES
        if has_room and _begins_page(mark, pages[-1], following, lines):
            pages.append(SitePage(mark.index, top=mark.top))
            pages[-1].take(mark)
        elif mark.level >= 0 or pages[-1].is_top(mark):
            pages[-1].take(mark)
    _take_addresses_from_index(pages, lines)
    return pages


def _begins_page(mark: Mark, page: SitePage, following: Mark | None, lines: list[MarkdownLine]) -> bool:
    if mark.level < 0:
        return _introduces(mark, page, following, lines)
    belongs_to_top = page.is_top(mark) and not (page.title and (page.headings or mark.level == 0))
    address, hash_mark, _ = mark.target.partition("#")
    within_page = address in ("", page.target) or (not page.target and mark.anchor and page.is_top(mark))
    if belongs_to_top or (hash_mark and within_page):
        return False
    return mark.level <= 1 or (mark.after_rule and not page.target and mark.level <= _PAGE_LEVEL)


def _introduces(mark: Mark, page: SitePage, following: Mark | None, lines: list[MarkdownLine]) -> bool:
    """Tell whether a lone address belongs to the heading below it rather than to the current page."""
    if page.is_top(mark) and not page.target and all(line.blank for line in lines[page.top + 1 : mark.index]):
        return False
    if following is None or not 0 < following.level <= _PAGE_LEVEL:
        return False
    return following.index - mark.top <= _TOP_LINES and all(
        line.blank or line.rule for line in lines[mark.top + 1 : following.index]
    )


def _marks(lines: list[MarkdownLine]) -> Iterator[Mark]:
    index, after_rule = 0, False
    while index < len(lines):
        line = lines[index]
        mark = None if line.code or line.blank else _mark(lines, index, after_rule=after_rule)
        if mark:
            yield mark
        after_rule = line.rule or (after_rule and line.blank)
        index = mark.top + 1 if mark else index + 1


def _mark(lines: list[MarkdownLine], index: int, *, after_rule: bool) -> Mark | None:
    line = lines[index]
    if line.level:
        return _heading(lines, index, after_rule=after_rule)
    if line.text.startswith("-"):
        return _front_matter(lines, index) or _address_line(line, index)
    if line.text.startswith("<") and (match := _PAGE_TAG.match(line.text)):
        found = {name.lower(): value for name, value in _ATTRIBUTE.findall(match[1])}
        targets = (found[name] for name in ("url", "href", "source", "src", "path") if found.get(name))
        return Mark(index, 0, plain_text(found.get("title", found.get("name", ""))), next(targets, ""), index)
    return _address_line(line, index)


def _heading(lines: list[MarkdownLine], index: int, *, after_rule: bool) -> Mark:
    heading, level = lines[index].heading, lines[index].level
    if match := _BARE.match(heading):
        return Mark(index, 0, "", match[1] or match[2], index)
    if level == 1 and (match := _IN_BRACKETS.match(heading)):
        return Mark(index, level, plain_text(match[1]), match[2], index)
    link = _LINKED.search(heading) or _CUSTOM_ANCHOR.search(heading)
    below = next((line for line in lines[index + 1 : index + 3] if not line.blank), None)
    if not link and below:
        link = _ANCHOR_LINE.match(below.text)
    target = link[1].replace("\\", "") if link else ""
    anchor = target.startswith("#") or (heading.startswith("[") and "#" in target)
    return Mark(index, level, plain_text(heading), target, index, after_rule, anchor)


def _front_matter(lines: list[MarkdownLine], index: int) -> Mark | None:
    if not _DASHES.match(lines[index].text):
        return None
    body: list[str] = []
    for line in lines[index + 1 : index + 1 + _FRONT_MATTER_LINES]:
        if _DASHES.match(line.text):
            return _metadata(body, index)
        if line.blank or not _FRONT_MATTER_LINE.match(line.text):
            return None
        body.append(line.text)
    return None


def _metadata(body: list[str], index: int) -> Mark | None:
    if not body or not _FRONT_MATTER_KEY.match(body[0]):
        return None
    titles = (match[1] for text in body if (match := _FRONT_MATTER_TITLE.match(text)))
    targets = (match[1] for text in body if (match := _ADDRESS_LINE.match(text.strip())))
    title = plain_text(next(titles, "").strip().strip("\"'"))
    return Mark(index, 0, title, next(targets, ""), index + len(body) + 1)


def _address_line(line: MarkdownLine, index: int) -> Mark | None:
    match = _ADDRESS_LINE.match(line.text.lstrip(_DECORATION))
    return Mark(index, -1, "", match[1], index) if match else None


def _take_addresses_from_index(pages: list[SitePage], lines: list[MarkdownLine]) -> None:
    """Give pages without an address the one that an index at the top of the file lists for their title."""
    end = next((page.index for page in pages if page.index > 0), 0)
    known: dict[str, deque[str]] = {}
    for line in lines[:end]:
        if match := _INDEX_ENTRY.match(line.text):
            known.setdefault(plain_text(match[1]), deque()).append(match[2])
    for page in pages[1:]:
        if not page.target and known.get(page.title):
            page.target = known[page.title].popleft()
