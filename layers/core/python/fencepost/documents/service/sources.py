"""Reads a document's source: inline content, an upload, a fetched page or file, or a sitemap."""

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
_NO_VALIDATORS = Validators()
_UNREADABLE = frozenset({"html", "not_text", "bad_encoding"})


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """The content of a document's source.

    Attributes:
        raw: the bytes as received.
        kind: the format of `raw`.
        written: canonical text, title and language; for a sitemap, the addresses of its pages, one per line.
        validators: to send with the next fetch.
    """

    raw: bytes
    kind: DocumentKind
    written: Readable
    validators: Validators = _NO_VALIDATORS


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Reads the sources of documents.

    Attributes:
        pages: fetches pages, which may be HTML.
        files: fetches `llms-full.txt`.
        sitemaps: fetches sitemaps.
        reader: turns content into canonical text.
        blobs: holds inline content and uploads.
    """

    pages: DocumentFetcher
    files: DocumentFetcher
    sitemaps: DocumentFetcher
    reader: DocumentReader
    blobs: BlobStore

    def read(self, scope: Scope, document: Document) -> DocumentSource | None:
        """Return the content of a document's source; None if its address answers that it has not changed.

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
                raw = self._raw(scope, document)
                return DocumentSource(raw, document.kind, self.reader.read(raw, document.kind))
            case DocumentOrigin.SITEMAP:
                return self._sitemap(document)
            case DocumentOrigin.PAGE:
                return self._fetched(self.pages, document)
            case DocumentOrigin.LLMS_FULL:
                return self._fetched(self.files, document)

    def _raw(self, scope: Scope, document: Document) -> bytes:
        """Return the inline or uploaded content.

        S3 removes uploads after some days; the raw copy of the current version remains and is read instead.

        Raises:
            FencepostError: `document_not_uploaded`, `document_too_large`.
        """
        inline = document.origin is DocumentOrigin.INLINE
        name = objects.document_given(document.id) if inline else objects.document_upload(document.id)
        raw = self.blobs.get(scope, name)
        if raw is None and document.version:
            raw = self.blobs.get(scope, objects.document_raw(document.id, document.version))
        if raw is None:
            raise FencepostError(ErrorCode.DOCUMENT_NOT_UPLOADED)
        if len(raw) > MAX_DOCUMENT_BYTES:
            raise FencepostError(ErrorCode.DOCUMENT_TOO_LARGE)
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
            sitemaps = locations(fetched.text, document.source, MAX_SITEMAPS)
            pages = tuple(dict.fromkeys(page for url in sitemaps for page in self._pages_of(url)))[:MAX_PAGES]
            # An unchanged index does not imply that the sitemaps that it lists are unchanged.
            validators = _NO_VALIDATORS
        return DocumentSource(fetched.text.encode(), DocumentKind.TEXT, Readable("\n".join(pages)), validators)

    def _pages_of(self, sitemap_url: str) -> tuple[str, ...]:
        """Return the pages of one sitemap of an index.

        Raises:
            FencepostError: as `read`; `source_unreachable` also for "not modified", which was not asked for.
        """
        fetched = _fetch(self.sitemaps, sitemap_url, _NO_VALIDATORS)
        if fetched is None:
            raise FencepostError(ErrorCode.SOURCE_UNREACHABLE)
        return locations(fetched.text, sitemap_url, MAX_PAGES)


def _known(document: Document) -> Validators:
    """Return the validators of the last fetch; none if its content has not become a complete version."""
    settled = document.version == document.next_version
    return Validators(document.etag or None, document.modified or None) if settled else _NO_VALIDATORS


def _fetch(fetcher: DocumentFetcher, url: str, known: Validators) -> RawDocument | None:
    """Return a fetched document; None if it has not changed.

    Raises:
        FencepostError: `document_too_large`, `document_unreadable`, `source_unreachable`.
    """
    try:
        return fetcher.fetch(url, known)
    except DocumentsUnreachable as error:
        if error.reason == "too_large":
            raise FencepostError(ErrorCode.DOCUMENT_TOO_LARGE) from None
        unreadable = error.reason in _UNREADABLE
        raise FencepostError(ErrorCode.DOCUMENT_UNREADABLE if unreadable else ErrorCode.SOURCE_UNREACHABLE) from None


def _kind(fetched: RawDocument, document: Document) -> DocumentKind:
    """Return the kind of a fetched document. Markdown is mostly served as plain text; its file extension tells."""
    if document.origin is DocumentOrigin.LLMS_FULL or document.source.endswith(_MARKDOWN_ENDINGS):
        return _KINDS.get(fetched.media_type, DocumentKind.MARKDOWN)
    if fetched.text.lstrip()[:14].lower().startswith(("<!doctype html", "<html")):
        return DocumentKind.HTML
    return _KINDS.get(fetched.media_type, DocumentKind.TEXT)
