"""Hydration of message hits: the passages are read from the stored messages, never from the index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import partial
from typing import Final

from fencepost.conversations.domain.archives import is_kept
from fencepost.conversations.domain.messages import Message, MessageStatus
from fencepost.conversations.ports import ConversationStore
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.concurrency import start_concurrently
from fencepost.kernel.ports import Clock
from fencepost.memory.domain.chunk_rows import words_of
from fencepost.memory.ports import HitRows, MessageChunkPlace, MessageHits
from fencepost.model.domain import Role
from fencepost.retrieval.domain.ranking.fusion import key_of
from fencepost.retrieval.domain.search import Hit, Passage, message_of, number_of
from fencepost.retrieval.ports import Hydrated

TITLE: Final = "Earlier conversation"
"""Title of the passages, followed by day and speaker. The conversation's own title is not used: it is made of the
conversation's words, and would outlive the conversation in the stored sources of other answers.
"""

_SPEAKERS: Final = {Role.USER: "visitor", Role.ASSISTANT: "assistant"}


class _HitAction(Enum):
    """What to do with a hit.

    `SKIP` neither shows nor removes it: its row is not written yet, or is about to be removed.
    """

    SHOW = auto()
    SKIP = auto()
    REMOVE = auto()


@dataclass(frozen=True, slots=True)
class MessagePassages:
    """Implements `Hydrator` for messages.

    Attributes:
        hits: reads rows.
        conversations: reads messages whose content is in S3.
        clock: tells which messages have expired.
    """

    hits: MessageHits
    conversations: ConversationStore
    clock: Clock

    def hydrate(
        self,
        scope: Scope,
        grants: frozenset[str],  # noqa: ARG002 - messages are visible to their owner only
        hits: Sequence[Hit],
    ) -> Hydrated:
        """Return the passages of hits, and the hits to remove. Rows are read under the scope's owner only.

        A passage whose message is in S3 has no text until `finish`.
        """
        numbers = ((hit, number_of(hit.chunk)) for hit in hits)
        places = {key_of(hit): (hit.parent, hit.position, number) for hit, number in numbers if number is not None}
        rows = self.hits.hydrate(scope, list(places.values()))
        actions = {key_of(hit): self._action(hit, places.get(key_of(hit)), rows) for hit in hits}
        shown = [key for key, action in actions.items() if action is _HitAction.SHOW]
        passages = {(parent, chunk): _passage(chunk, places[parent, chunk], rows) for parent, chunk in shown}
        return Hydrated(passages, tuple(hit for hit in hits if actions[key_of(hit)] is _HitAction.REMOVE))

    def finish(self, scope: Scope, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """Read the texts that are in S3, concurrently. Passages whose message is not found there are left out."""
        running = [
            None if passage.text else start_concurrently(partial(self._read, scope, passage)) for passage in passages
        ]
        finished = (
            passage if future is None else future.result() for passage, future in zip(passages, running, strict=True)
        )
        return tuple(passage for passage in finished if passage)

    def _action(self, hit: Hit, place: MessageChunkPlace | None, rows: HitRows) -> _HitAction:
        conversation = rows.conversations.get(hit.parent)
        if place is None or conversation is None or hit.position < conversation.kept_from:
            return _HitAction.REMOVE
        message = rows.messages.get((hit.parent, hit.position))
        if message is None:
            if hit.position > conversation.archived_through:
                return _HitAction.REMOVE
        elif message.id != message_of(hit.chunk) or message.status is MessageStatus.SUPERSEDED:
            return _HitAction.REMOVE
        elif not message.is_settled or not is_kept(conversation, message, self.clock()):
            return _HitAction.SKIP
        # Any entry of the chunk will do: the index lists replaced entries for a while, and the text is the message's
        # in any case.
        row = rows.chunks.get(place)
        return _HitAction.SHOW if row and row.chunk == hit.chunk else _HitAction.SKIP

    def _read(self, scope: Scope, passage: Passage) -> Passage | None:
        """Return a passage with its text; None if its message does not exist or must not be shown."""
        page = self.conversations.messages(
            scope, passage.parent, after=passage.position - 1, limit=1, newest_first=False
        )
        message = next(iter(page.items), None)
        if message is None or message.seq != passage.position or not message.is_settled:
            return None
        complete = _with_text(passage, message)
        return complete if message.id == message_of(passage.chunk) and complete.text else None


def _passage(chunk: str, place: MessageChunkPlace, rows: HitRows) -> Passage:
    conversation_id, seq, _ = place
    row, message = rows.chunks[place], rows.messages.get((conversation_id, seq))
    passage = Passage(
        id=f"msg:{message_of(chunk)}",
        kind="message",
        parent=conversation_id,
        chunk=chunk,
        title=TITLE,
        url="",
        text="",
        span=(row.start, row.end),
        position=seq,
    )
    return _with_text(passage, message) if message and (conversation_id, seq) not in rows.apart else passage


def _with_text(passage: Passage, message: Message) -> Passage:
    """Return a passage with the text of its message, and a title that names day and speaker."""
    start, end = passage.span or (0, len(message.content))
    written = f"{message.created_at.date().isoformat()}, {_SPEAKERS[message.role]}"
    return replace(passage, text=words_of(message.content, start, end), title=f"{passage.title}, {written}")
