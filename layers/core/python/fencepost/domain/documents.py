"""A site's documentation as sections that can be cited."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """A citable piece of a document.

    Attributes:
        id: stable as long as its place in the document is, e.g. `guide/install#3`; unique in its set.
        title: the headings above it, outermost first, joined by ` › `.
        url: absolute http(s) address of the page it came from, or of the site where none is known.
        text: the Markdown of the section, heading included; the sections' texts tile the document.
    """

    id: str
    title: str
    url: str
    text: str


@dataclass(frozen=True, slots=True)
class DocumentSet:
    """All sections of a site at one moment. `content_hash` is the SHA-256 hex digest of the raw file."""

    sections: tuple[Section, ...]
    content_hash: str
