"""What a document's text is read with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fencepost.domain.corpus import DocumentKind


@dataclass(frozen=True, slots=True)
class Readable:
    """A document's canonical text, in Markdown where it has a structure, and what it says of itself; else empty.

    Attributes:
        language: BCP 47.
    """

    text: str
    title: str = ""
    language: str = ""


class DocumentReader(Protocol):
    """Reads what is written in a document."""

    def read(self, content: bytes, kind: DocumentKind) -> Readable:
        """Return the text. The same content always gives the same.

        Raises:
            FencepostError: `document_unreadable`; it is not what it says, is damaged, or takes too long.
                `document_too_large`; more is written in it than may be.
        """
        ...
