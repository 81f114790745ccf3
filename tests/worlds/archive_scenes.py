"""Conversations that are long enough for their archive."""

from __future__ import annotations

from fencepost.conversations.domain.archives import MIN_ROWS
from tests.worlds.jobs import exchange
from tests.worlds.storage import NOON, StorageWorld, scope_of

ALICE = scope_of()
RUN = [message for number in range(3) for message in exchange(2 * number + 1, "Why? 柵 🌿", "So.\n" * number, NOON)]
LONG = MIN_ROWS + 130
"""Messages of a conversation of which two blocks are to move."""


def archived(world: StorageWorld) -> None:
    """Run the archive's job."""
    world.archive.run(ALICE, world.archive_job(ALICE))


def long_talk() -> StorageWorld:
    """Return a long conversation of a site that keeps as few of its messages as rows as it may."""
    world = StorageWorld()
    world.site(rows=MIN_ROWS)
    world.talk(ALICE, exchanges=LONG // 2)
    return world
