"""Cursors of a scope's lists, under the keys of this moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.paging import read_cursor, write_cursor
from fencepost.kernel.ports import Keys

_PURPOSE = "cursor"


@dataclass(frozen=True, slots=True)
class Cursors:
    """Signs cursors and reads them, across a rotation of the keys. Another owner's, or another list's, is none."""

    keys: Keys

    def write(self, scope: Scope, listing: Sequence[str], position: str | None) -> str | None:
        """Return the cursor of a position in a list of the scope; None at the list's end."""
        if position is None:
            return None
        return write_cursor(self.keys.ring(_PURPOSE)[0], _bound(scope, listing), position)

    def read(self, scope: Scope, listing: Sequence[str], cursor: str | None) -> str | None:
        """Return the position to go on from; None where no cursor was sent.

        Raises:
            FencepostError: `cursor_invalid`.
        """
        if cursor is None:
            return None
        return read_cursor(self.keys.ring(_PURPOSE), _bound(scope, listing), cursor)


def _bound(scope: Scope, listing: Sequence[str]) -> tuple[str, ...]:
    return scope.org, scope.owner, *listing
