"""Pages of lists, and the signed cursors by which clients ask for the next page.

`Page` is the result of a list; `pages` reads a list to its end. `write_cursor` and `read_cursor` turn a `next_key` into
an opaque text for clients and back. A cursor is signed together with its list, so it is not valid for another list,
owner or filter.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from fencepost.kernel.errors import ErrorCode, FencepostError

MAX_CURSOR_CHARACTERS = 1_024

_TAG_BYTES = hashlib.sha256().digest_size
_STANDARD_BASE64: Final = frozenset("+/")
"""Characters that Python also accepts in base64url. Rejected, so that each cursor has one spelling only."""


@dataclass(frozen=True, slots=True)
class Page[Item]:
    """A page of a list. `next_key` is the key after which the next page begins; None on the last page."""

    items: tuple[Item, ...]
    next_key: str | None = None


def pages[Item](read: Callable[[str | None], Page[Item]]) -> Iterator[tuple[Item, ...]]:
    """Yield the items of each page of a list. Callers may remove them meanwhile.

    Args:
        read: returns the page after a key; None is the first page.
    """
    after: str | None = None
    while True:
        page = read(after)
        yield page.items
        if page.next_key is None:
            return
        after = page.next_key


def write_cursor(key: bytes, listing: Sequence[str], position: str) -> str:
    """Return the cursor of a position in a list.

    Args:
        key: 32 bytes, for this purpose only.
        listing: identifies the list: its owner, its name and its filter.
        position: where the next page begins. It is signed, not encrypted: clients can read it.
    """
    text = position.encode()
    return base64.urlsafe_b64encode(_tag(key, listing, text) + text).decode().rstrip("=")


def read_cursor(keys: Iterable[bytes], listing: Sequence[str], cursor: str) -> str:
    """Return the position of a cursor.

    Args:
        keys: the current key, and earlier ones whose cursors are still accepted.
        listing: identifies the requested list.
        cursor: as the client sent it.

    Raises:
        FencepostError: `cursor_invalid`; the cursor is malformed, was changed, or belongs to another list.
    """
    sealed = _decode(cursor)
    tag, text = sealed[:_TAG_BYTES], sealed[_TAG_BYTES:]
    if not any(hmac.compare_digest(tag, _tag(key, listing, text)) for key in keys):
        raise FencepostError(ErrorCode.CURSOR_INVALID)
    return text.decode()


def _decode(cursor: str) -> bytes:
    if _STANDARD_BASE64.intersection(cursor):
        raise FencepostError(ErrorCode.CURSOR_INVALID)
    padded = cursor + "=" * (-len(cursor) % 4)
    try:
        return base64.b64decode(padded, altchars=b"-_", validate=True)
    except ValueError:
        raise FencepostError(ErrorCode.CURSOR_INVALID) from None


def _tag(key: bytes, listing: Sequence[str], text: bytes) -> bytes:
    # Length prefixes keep different lists from joining to the same bytes.
    parts = [*(part.encode() for part in listing), text]
    framed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return hmac.digest(key, framed, hashlib.sha256)
