"""Quotable passages from the fenced parts of a prompt."""

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
_MESSAGE_MARKER = re.compile(r"\s*\[msg:[^\[\]\n]+\]")
_MESSAGE = re.compile(r"\[(msg:[^\[\]\n]+)\]")
_CODE = "```"
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced part of a prompt."""

    source: str
    title: str
    body: str

    @property
    def is_own(self) -> bool:
        """Return whether the passage is an answer of the model from another conversation."""
        return self.source.startswith("msg:") and self.title.endswith(", assistant")


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """A paragraph of a fenced part, with its headings and its source: one id, or several separated by commas."""

    text: str
    heading: str
    source: str

    @property
    def prose(self) -> str:
        """Return the text without code and links, which name things more often than they explain them."""
        return "" if self.text.startswith(_CODE) else _LINK.sub("", self.text)


def without_fences(text: str) -> str:
    """Return a text without its fenced parts."""
    for opening, body in reversed(list(_spans(text))):
        text = text[: opening.start()] + text[opening.end() + len(body) :].partition(">")[2]
    return text.strip()


def fences(text: str) -> Iterator[Fence]:
    """Yield the fenced parts of a text."""
    for opening, body in _spans(text):
        attributes = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(opening[0])}
        yield Fence(attributes.get("source", ""), attributes.get("title", ""), body)


def passages(text: str) -> Iterator[QuotedPassage]:
    """Yield the quotable passages of every fenced part of a text. Earlier answers of the model are left out."""
    for fence in fences(text):
        if fence.source.startswith("summary:"):
            yield from _lines(fence)
        elif not fence.is_own:
            yield from _paragraphs(fence.body, fence.source, fence.title)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without the white space between them."""
    return [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def _lines(fence: Fence) -> Iterator[QuotedPassage]:
    """Yield a summary's lines, each with the messages that it cites, or else with the summary as its source."""
    for line in filter(None, map(str.strip, fence.body.splitlines())):
        sources = ", ".join(_MESSAGE.findall(line))
        yield QuotedPassage(
            _MESSAGE_MARKER.sub("", line.removeprefix("- ")).strip(), fence.title, sources or fence.source
        )


def _spans(text: str) -> Iterator[tuple[re.Match[str], str]]:
    for opening in _OPENING.finditer(text):
        end = text.find(_CLOSING, opening.end())
        if end >= 0:
            yield opening, text[opening.end() : end]


@lru_cache(maxsize=4_096)
def _paragraphs(body: str, source: str, heading: str) -> tuple[QuotedPassage, ...]:
    found: list[QuotedPassage] = []
    for block in _blocks(body):
        lines = block.splitlines()
        if lines[0].startswith("#"):
            heading = lines.pop(0).lstrip("# ")
        found += [QuotedPassage(part, heading, source) for part in _parts("\n".join(lines).strip())]
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
    """Yield the block in parts short enough to quote, split between sentences."""
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
