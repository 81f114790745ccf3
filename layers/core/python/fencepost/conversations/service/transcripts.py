"""Read a whole conversation, page by page."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.conversations.domain.messages import Message
from fencepost.conversations.ports import ConversationStore
from fencepost.identity.domain.scope import Scope

_PAGE = 100


def transcript(
    store: ConversationStore, scope: Scope, conversation_id: str, after: int = 0, *, at_once: int = _PAGE
) -> Iterator[Message]:
    """Yield messages whose numbers are above `after`, oldest first, archived ones included; so many are read at once.

    Raises:
        FencepostError: `conversations_unavailable`.
    """
    reached: int | None = after or None
    while True:
        page = store.messages(scope, conversation_id, after=reached, limit=at_once, newest_first=False)
        yield from page.items
        if page.next_key is None or not page.items:
            return
        reached = page.items[-1].seq
