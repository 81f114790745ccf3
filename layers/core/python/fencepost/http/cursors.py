"""Cursors of paged lists: signed, and bound to the scope and the list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.paging import read_cursor, write_cursor
from fencepost.kernel.ports import Keys

_PURPOSE = "cursor"


@dataclass(frozen=True, slots=True)
class Cursors:
    """Writes and verifies cursors, also across a rotation of the signing keys.

    A cursor of another owner or another list does not verify.
    """

    keys: Keys

    def write(self, scope: Scope, listing: Sequence[str], position: str | None) -> str | None:
        """Return the cursor of a position in a list.

        Args:
            scope: the caller's scope.
            listing: identifies the list and its filters, e.g. `("messages", conversation_id, "asc")`.
            position: the key to continue after; None at the end of the list, which has no cursor.
        """
        if position is None:
            return None
        return write_cursor(self.keys.ring(_PURPOSE)[0], _bound(scope, listing), position)

    def read(self, scope: Scope, listing: Sequence[str], cursor: str | None) -> str | None:
        """Return the position to continue after; None where the request has no cursor.

        Raises:
            FencepostError: `cursor_invalid`.
        """
        if cursor is None:
            return None
        return read_cursor(self.keys.ring(_PURPOSE), _bound(scope, listing), cursor)


def _bound(scope: Scope, listing: Sequence[str]) -> tuple[str, ...]:
    return scope.org, scope.owner, *listing
