"""The documents that `SRC=` names: a file, the files of a folder, or an address."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from fencepost.documents.domain.documents import MAX_DOCUMENT_BYTES, DocumentKind, origin_at
from fencepost.documents.service.documents import NewDocument
from fencepost.kernel.links import is_web_address
from local.trouble import Trouble

KINDS = MappingProxyType(
    {
        ".md": DocumentKind.MARKDOWN,
        ".mdx": DocumentKind.MARKDOWN,
        ".markdown": DocumentKind.MARKDOWN,
        ".txt": DocumentKind.TEXT,
        ".html": DocumentKind.HTML,
        ".htm": DocumentKind.HTML,
        ".pdf": DocumentKind.PDF,
    }
)
"""Kinds of readable documents by file name extension."""

_EXAMPLE = "make ingest SRC=docs/ ORG=acme SITE=docs"
_ID_CHARACTERS = 32


@dataclass(frozen=True, slots=True)
class SourceItem:
    """A document to ingest.

    Attributes:
        id: derived from the file or address and the site, so that ingesting again replaces the document.
        name: shown with the progress.
        path: the file; None for an address.
    """

    id: str
    name: str
    new: NewDocument
    path: Path | None = None

    def content(self) -> bytes | None:
        """Return the content of the file; None for an address.

        Raises:
            Trouble: the file cannot be read, or is too large.
        """
        if self.path is None:
            return None
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise Trouble(f"{self.path} cannot be read: {error.strerror}") from None
        if len(content) > MAX_DOCUMENT_BYTES:
            raise Trouble(f"{self.path} is larger than {MAX_DOCUMENT_BYTES:,} bytes.")
        return content


def items(source: str, site: str) -> list[SourceItem]:
    """Return the documents that a source names.

    Args:
        source: a file, a folder or an http(s) address.
        site: id of the site that may use them; empty for every site of the organisation.

    Raises:
        Trouble: the source names nothing readable.
    """
    if "://" in source:
        return [_fetched(source, site)]
    path = Path(source).expanduser()
    if not source or not path.exists():
        raise Trouble(f"SRC must be a file, a folder or an address, as in: {_EXAMPLE}", exit_code=2)
    found = [_sent(file, site) for file in _files(path)]
    if not found:
        raise Trouble(f"Nothing in {source} can be read: files are {', '.join(KINDS)}.", exit_code=2)
    return found


def _fetched(address: str, site: str) -> SourceItem:
    if not is_web_address(address):
        raise Trouble(f"SRC is no http(s) address: {address}", exit_code=2)
    return SourceItem(_id(site, address), address, NewDocument(site=site, source=address, origin=origin_at(address)))


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield from [path] if path.suffix.lower() in KINDS else []
        return
    for file in sorted(path.rglob("*")):
        hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
        if file.is_file() and file.suffix.lower() in KINDS and not hidden:
            yield file


def _sent(path: Path, site: str) -> SourceItem:
    new = NewDocument(site=site, kind=KINDS[path.suffix.lower()])
    return SourceItem(_id(site, str(path.resolve())), str(path), new, path)


def _id(site: str, name: str) -> str:
    return hashlib.sha256(f"{site}\0{name}".encode()).hexdigest()[:_ID_CHARACTERS]
