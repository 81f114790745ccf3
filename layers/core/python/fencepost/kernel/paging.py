"""Lists that are read to their end."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from fencepost.kernel.errors import ErrorCode, FencepostError


def pages[Item](read: Callable[[str | None], Page[Item]]) -> Iterator[tuple[Item, ...]]:
    """Yield what each page of a list holds. It may be removed meanwhile.

    Args:
        read: returns the page that begins there; None is the first.
    """
    after: str | None = None
    while True:
        page = read(after)
        yield page.items
        if page.next_key is None:
            return
        after = page.next_key


@dataclass(frozen=True, slots=True)
class Page[Item]:
    """A part of a list. `next_key` is where the next one begins; None at the end."""

    items: tuple[Item, ...]
    next_key: str | None = None


MAX_CURSOR_CHARACTERS = 1_024

_TAG_BYTES = hashlib.sha256().digest_size
_OTHER_ALPHABET = frozenset("+/")
"""Base64's own signs, which Python takes beside those of base64url: one cursor would be written in several ways."""


def write_cursor(key: bytes, listing: Sequence[str], position: str) -> str:
    """Return the cursor of a position.

    Args:
        key: 32 bytes for this purpose alone.
        listing: whose list it is, which one, and how it is filtered.
        position: where the next page begins; its owner may read it.
    """
    text = position.encode()
    return base64.urlsafe_b64encode(_tag(key, listing, text) + text).decode().rstrip("=")


def read_cursor(keys: Iterable[bytes], listing: Sequence[str], cursor: str) -> str:
    """Return the position that a cursor holds.

    Args:
        keys: the current one, and those before it that are still honoured.
        listing: the list that is asked for.
        cursor: as the client sent it.

    Raises:
        FencepostError: `cursor_invalid`; it is none, it was changed, or it is of another list.
    """
    sealed = _decode(cursor)
    tag, text = sealed[:_TAG_BYTES], sealed[_TAG_BYTES:]
    if not any(hmac.compare_digest(tag, _tag(key, listing, text)) for key in keys):
        raise FencepostError(ErrorCode.CURSOR_INVALID)
    return text.decode()


def _decode(cursor: str) -> bytes:
    if _OTHER_ALPHABET.intersection(cursor):
        raise FencepostError(ErrorCode.CURSOR_INVALID)
    padded = cursor + "=" * (-len(cursor) % 4)
    try:
        return base64.b64decode(padded, altchars=b"-_", validate=True)
    except ValueError:
        raise FencepostError(ErrorCode.CURSOR_INVALID) from None


def _tag(key: bytes, listing: Sequence[str], text: bytes) -> bytes:
    # Lengths go first, so no two lists have the same bytes.
    parts = [*(part.encode() for part in listing), text]
    framed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return hmac.digest(key, framed, hashlib.sha256)
