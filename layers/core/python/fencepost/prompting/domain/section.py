"""Sections of documentation that a prompt quotes and an answer cites."""

from __future__ import annotations

from dataclasses import dataclass

_OTHER_KINDS = ("file:", "fact:", "summary:", "msg:")


@dataclass(frozen=True, slots=True)
class Section:
    """A citable piece of a document.

    Attributes:
        id: stable as long as its place in the document is, e.g. `guide/install#3`; unique in its set. Of a file that
            somebody attached, `file:<id>`.
        title: the headings above it, outermost first, joined by ` › `.
        url: absolute http(s) address of the page it came from, or of the site where none is known.
        text: the Markdown of the section, heading included; the sections' texts tile the document.
        span: of a passage that was found in an index, where it stands in its document.
    """

    id: str
    title: str
    url: str
    text: str
    span: tuple[int, int] | None = None


def marker_id(source_id: str) -> str:
    """Return a source's id as fences and citation markers name it: with its kind, `doc:` where it names none."""
    return source_id if source_id.startswith(_OTHER_KINDS) else f"doc:{source_id}"
