"""Reading a document where it comes from: what an admin sent, what was uploaded, or what an address serves."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore
from fencepost.documents.domain.documents import (
    MAX_DOCUMENT_BYTES,
    MAX_TEXT_CHARACTERS,
    Document,
    DocumentKind,
    DocumentOrigin,
)
from fencepost.documents.domain.sitemaps import MAX_PAGES, MAX_SITEMAPS, is_index, locations
from fencepost.documents.ports import DocumentReader, Readable
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import DocumentsUnreachable, ErrorCode, FencepostError
from fencepost.kernel.ports import DocumentFetcher, RawDocument, Validators

_KINDS = MappingProxyType(
    {
        "text/html": DocumentKind.HTML,
        "application/xhtml+xml": DocumentKind.HTML,
        "text/markdown": DocumentKind.MARKDOWN,
        "text/x-markdown": DocumentKind.MARKDOWN,
        "application/markdown": DocumentKind.MARKDOWN,
    }
)
_MARKDOWN_ENDINGS = (".md", ".mdx", ".markdown", ".txt")
_NONE = Validators()
_UNREADABLE = frozenset({"html", "not_text", "bad_encoding"})


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """What a document says at present.

    Attributes:
        raw: as it came.
        written: its canonical text; of a sitemap, the addresses of its pages, one a line.
    """

    raw: bytes
    kind: DocumentKind
    written: Readable
    validators: Validators = _NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Reads documents.

    Attributes:
        pages: fetches what may be HTML.
        files: fetches `llms-full.txt`.
        sitemaps: fetches sitemaps.
    """

    pages: DocumentFetcher
    files: DocumentFetcher
    sitemaps: DocumentFetcher
    reader: DocumentReader
    blobs: BlobStore

    def read(self, scope: Scope, document: Document) -> DocumentSource | None:
        """Return what a document says; None where its address says that it has not changed.

        Raises:
            FencepostError: `source_unreachable`, `source_empty`, `document_unreadable`, `document_too_large`,
                `document_not_uploaded`, or `conversations_unavailable`.
        """
        source = self._source(scope, document)
        if source is None:
            return None
        if not source.written.text.strip():
            raise FencepostError(ErrorCode.SOURCE_EMPTY if document.source else ErrorCode.DOCUMENT_UNREADABLE)
        if len(source.written.text) > MAX_TEXT_CHARACTERS:
            raise FencepostError(ErrorCode.DOCUMENT_TOO_LARGE)
        return source

    def _source(self, scope: Scope, document: Document) -> DocumentSource | None:
        match document.origin:
            case DocumentOrigin.INLINE | DocumentOrigin.UPLOAD:
                return self._given(scope, document)
            case DocumentOrigin.SITEMAP:
                return self._sitemap(document)
            case DocumentOrigin.PAGE:
                return self._fetched(self.pages, document)
            case DocumentOrigin.LLMS_FULL:
                return self._fetched(self.files, document)

    def _given(self, scope: Scope, document: Document) -> DocumentSource:
        raw = self._raw(scope, document)
        if len(raw) > MAX_DOCUMENT_BYTES:
            raise FencepostError(ErrorCode.DOCUMENT_TOO_LARGE)
        return DocumentSource(raw, document.kind, self.reader.read(raw, document.kind))

    def _raw(self, scope: Scope, document: Document) -> bytes:
        """Return what was sent. S3 removes an upload after days; the newest version that was made of it stays."""
        inline = document.origin is DocumentOrigin.INLINE
        name = objects.document_given(document.id) if inline else objects.document_upload(document.id)
        raw = self.blobs.get(scope, name)
        if raw is None and document.version:
            raw = self.blobs.get(scope, objects.document_raw(document.id, document.version))
        if raw is None:
            raise FencepostError(ErrorCode.DOCUMENT_NOT_UPLOADED)
        return raw

    def _fetched(self, fetcher: DocumentFetcher, document: Document) -> DocumentSource | None:
        fetched = _fetch(fetcher, document.source, _known(document))
        if fetched is None:
            return None
        raw, kind = fetched.text.encode(), _kind(fetched, document)
        return DocumentSource(raw, kind, self.reader.read(raw, kind), fetched.validators)

    def _sitemap(self, document: Document) -> DocumentSource | None:
        fetched = _fetch(self.sitemaps, document.source, _known(document))
        if fetched is None:
            return None
        pages, validators = locations(fetched.text, document.source, MAX_PAGES), fetched.validators
        if is_index(fetched.text):
            parts = locations(fetched.text, document.source, MAX_SITEMAPS)
            pages = tuple(dict.fromkeys(page for part in parts for page in self._pages_of(part)))[:MAX_PAGES]
            # An index that has not changed says nothing of its parts.
            validators = _NONE
        return DocumentSource(fetched.text.encode(), DocumentKind.TEXT, Readable("\n".join(pages)), validators)

    def _pages_of(self, part: str) -> tuple[str, ...]:
        return locations(_required(_fetch(self.sitemaps, part, _NONE)), part, MAX_PAGES)


def _known(document: Document) -> Validators:
    """Return what a source is asked with. What was read and never became a whole version must be read again."""
    settled = document.version == document.next_version
    return Validators(document.etag or None, document.modified or None) if settled else _NONE


def _fetch(fetcher: DocumentFetcher, url: str, known: Validators) -> RawDocument | None:
    try:
        return fetcher.fetch(url, known)
    except DocumentsUnreachable as error:
        if error.reason == "too_large":
            raise FencepostError(ErrorCode.DOCUMENT_TOO_LARGE) from None
        unreadable = error.reason in _UNREADABLE
        raise FencepostError(ErrorCode.DOCUMENT_UNREADABLE if unreadable else ErrorCode.SOURCE_UNREACHABLE) from None


def _required(fetched: RawDocument | None) -> str:
    """Return the text of what was asked for without conditions: that it has not changed is no answer."""
    if fetched is None:
        raise FencepostError(ErrorCode.SOURCE_UNREACHABLE)
    return fetched.text


def _kind(fetched: RawDocument, document: Document) -> DocumentKind:
    """Return what was fetched. Markdown is mostly served as plain text, which its address tells."""
    if document.origin is DocumentOrigin.LLMS_FULL or document.source.endswith(_MARKDOWN_ENDINGS):
        return _KINDS.get(fetched.media_type, DocumentKind.MARKDOWN)
    if fetched.text.lstrip()[:14].lower().startswith(("<!doctype html", "<html")):
        return DocumentKind.HTML
    return _KINDS.get(fetched.media_type, DocumentKind.TEXT)
