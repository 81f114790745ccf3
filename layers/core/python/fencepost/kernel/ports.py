"""Ports that every package shares: the clock, the keys, and the fetcher of remote files."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The current time, aware, in UTC."""

    def __call__(self) -> datetime:
        """Return now."""
        ...


@dataclass(frozen=True, slots=True)
class Validators:
    """What a conditional request sends back: `ETag` and `Last-Modified` as they came."""

    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A fetched file, decoded, with its validators, and the media type that it came as."""

    text: str
    validators: Validators
    media_type: str = "text/plain"


class DocumentFetcher(Protocol):
    """Reads the site's `llms-full.txt` over the network."""

    def fetch(self, url: str, known: Validators) -> RawDocument | None:
        """Return the file, or None when it has not changed since `known`.

        Raises:
            DocumentsUnreachable: it cannot be had, is too large, is no text, or its address is refused.
        """
        ...


class Keys(Protocol):
    """Secrets, cached for minutes, so that a rotated one is followed without a deployment."""

    def derive(self, purpose: str) -> bytes:
        """Return 32 bytes derived from the signing secret for this purpose alone (HKDF-SHA256, RFC 5869).

        Raises:
            FencepostError: `misconfigured` when the secret cannot be read.
        """
        ...

    def ring(self, purpose: str, *, anew: bool = False) -> tuple[bytes, ...]:
        """Return the keys of a purpose under the current signing secret and the one before it, the current one first.

        Args:
            purpose: as in `derive`.
            anew: read past the cache: something was signed with a key that none of these is.

        Raises:
            FencepostError: `misconfigured` when a secret cannot be read.
        """
        ...

    def provider_key(self) -> str:
        """Return the provider's API key.

        Raises:
            FencepostError: `misconfigured` when there is none.
        """
        ...

    def refresh_provider_key(self) -> None:
        """Read the provider's key anew: the one in memory was refused.

        Raises:
            FencepostError: `misconfigured` when it cannot be read.
        """
        ...

    def edge_secret(self) -> str | None:
        """Return what CloudFront sends to prove itself, or None where no CloudFront stands in front."""
        ...
