"""The fenced parts of a prompt as passages that can be quoted."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_OPENING = re.compile(r'<untrusted-context\s[^>]*?nonce="[\w-]{8,}"[^>]*>')
_ATTRIBUTE = re.compile(r'\s(source|title)="([^"]*)"')
_CLOSING = "</untrusted-context"
_BLANK_LINES = re.compile(r"\n\s*\n")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?=\s)|(?<=[。！？])|(?<=\n)")
_LINK = re.compile(r"\[([^\]\n]*)\]\([^)\n]*\)")
_CODE = "```"
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph of a fenced part, with the headings above it and the source to name."""

    text: str
    heading: str
    source: str

    @property
    def prose(self) -> str:
        """The text without code and links, which name things more often than they explain them."""
        return "" if self.text.startswith(_CODE) else _LINK.sub("", self.text)


def without_fences(text: str) -> str:
    """Return a text without its fenced parts."""
    for opening, body in reversed(list(_fences(text))):
        text = text[: opening.start()] + text[opening.end() + len(body) :].partition(">")[2]
    return text.strip()


def passages(text: str) -> Iterator[Passage]:
    """Yield the quotable passages of every fenced part of a text."""
    for opening, body in _fences(text):
        attributes = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(opening[0])}
        yield from _paragraphs(body, attributes.get("source", ""), attributes.get("title", ""))


def _fences(text: str) -> Iterator[tuple[re.Match[str], str]]:
    for opening in _OPENING.finditer(text):
        end = text.find(_CLOSING, opening.end())
        if end >= 0:
            yield opening, text[opening.end() : end]


@lru_cache(maxsize=4_096)
def _paragraphs(body: str, source: str, heading: str) -> tuple[Passage, ...]:
    found: list[Passage] = []
    for block in _blocks(body):
        lines = block.splitlines()
        if lines[0].startswith("#"):
            heading = lines.pop(0).lstrip("# ")
        found += [Passage(part, heading, source) for part in _parts("\n".join(lines).strip())]
    return tuple(found)


def _blocks(body: str) -> Iterator[str]:
    """Yield the parts between blank lines; a blank line within code does not count."""
    pending = ""
    for block in _BLANK_LINES.split(body.strip()):
        pending = f"{pending}\n\n{block}" if pending else block
        if pending.count(_CODE) % 2 == 0:
            yield from filter(None, [pending.strip()])
            pending = ""
    yield from filter(None, [pending.strip()])


def _parts(block: str) -> Iterator[str]:
    """Yield the block in pieces short enough to quote, cut between sentences."""
    if len(block) <= _LONGEST or _CODE in block:
        yield from filter(None, [block[: 2 * _LONGEST]])
        return
    part = ""
    for sentence in _SENTENCE_END.split(block):
        if part and len(part) + len(sentence) > _LONGEST:
            yield part.rstrip()
            part = ""
        part = (part + sentence)[:_LONGEST].lstrip()
    yield from filter(None, [part])
