"""Ports that every package shares: the clock, the keys, and the fetcher of remote files."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Source of the current time."""

    def __call__(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...


@dataclass(frozen=True, slots=True)
class Validators:
    """Validators of a conditional request: `ETag` and `Last-Modified` as the server sent them."""

    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A fetched and decoded file, with its validators and media type."""

    text: str
    validators: Validators
    media_type: str = "text/plain"


class DocumentFetcher(Protocol):
    """Fetches remote files, such as a site's `llms-full.txt`."""

    def fetch(self, url: str, known: Validators) -> RawDocument | None:
        """Return a file; None if it has not changed since `known`.

        Raises:
            DocumentsUnreachable: the file cannot be fetched, is too large or not text, or its address is refused.
        """
        ...


class Keys(Protocol):
    """Secrets and keys derived from them. Cached for minutes, so that rotations need no deployment."""

    def derive(self, purpose: str) -> bytes:
        """Return a key of 32 bytes for one purpose, derived from the signing secret (HKDF-SHA256, RFC 5869).

        Raises:
            FencepostError: `misconfigured`; the secret cannot be read.
        """
        ...

    def ring(self, purpose: str, *, refresh: bool = False) -> tuple[bytes, ...]:
        """Return the keys of a purpose under the current and the previous signing secret, in this order.

        Args:
            purpose: as in `derive`.
            refresh: bypass the cache, after none of the keys fitted a signature.

        Raises:
            FencepostError: `misconfigured`; a secret cannot be read.
        """
        ...

    def provider_key(self) -> str:
        """Return the provider's API key.

        Raises:
            FencepostError: `misconfigured`; there is none.
        """
        ...

    def refresh_provider_key(self) -> None:
        """Read the provider's key past the cache, after the provider rejected the cached one.

        Raises:
            FencepostError: `misconfigured`; it cannot be read.
        """
        ...

    def edge_secret(self) -> str | None:
        """Return the secret that CloudFront sends with each request; None without CloudFront."""
        ...
