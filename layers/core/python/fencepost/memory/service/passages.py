"""From hits to memories: what somebody said, or was told, in other conversations, as it is stored now."""

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
from fencepost.memory.domain.chunk_rows import MessageChunkRow, words_of
from fencepost.memory.ports import HitRows, MessageChunkPlace, MessageHits
from fencepost.model.domain import Role
from fencepost.retrieval.domain.ranking.fusion import FusionKey, key_of
from fencepost.retrieval.domain.search import Hit, Passage, message_of, number_of
from fencepost.retrieval.ports import Hydrated

TITLE: Final = "Earlier conversation"
"""Day and speaker follow it. The conversation's own title is made of its words: in the sources of answers elsewhere it
would outlive it."""

_SPEAKERS: Final = {Role.USER: "visitor", Role.ASSISTANT: "assistant"}


class _Fate(Enum):
    """What becomes of a hit. One that waits is neither shown nor removed: it is not written yet, or on its way out."""

    SHOWN = auto()
    WAITS = auto()
    DEAD = auto()


@dataclass(frozen=True, slots=True)
class MessagePassages:
    """Implements `Hydrator` for messages.

    Attributes:
        hits: reads rows.
        conversations: reads what stands in S3.
        clock: tells what is too old to be shown.
    """

    hits: MessageHits
    conversations: ConversationStore
    clock: Clock

    def hydrate(
        self,
        scope: Scope,
        grants: frozenset[str],  # noqa: ARG002 - messages are their owner's alone
        hits: Sequence[Hit],
    ) -> Hydrated:
        """See `Hydrator`. Rows are looked for under the scope's owner: nobody else's are there, whatever a hit says."""
        places = {key_of(hit): place for hit in hits if (place := _place(hit))}
        rows = self.hits.hydrate(scope, list(places.values()))
        fates = {key_of(hit): self._fate(hit, places.get(key_of(hit)), rows) for hit in hits}
        passages = {key: _passage(key, places[key], rows) for key, fate in fates.items() if fate is _Fate.SHOWN}
        return Hydrated(passages, tuple(hit for hit in hits if fates[key_of(hit)] is _Fate.DEAD))

    def finish(self, scope: Scope, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """See `Hydrator`: the words of what stands in S3, all at once. What is not found there is left out."""
        running = [start_concurrently(partial(self._read, scope, each)) for each in passages if not each.text]
        read = {(one.parent, one.chunk): one for future in running if (one := future.result())}
        whole = (each if each.text else read.get((each.parent, each.chunk)) for each in passages)
        return tuple(each for each in whole if each)

    def _fate(self, hit: Hit, place: MessageChunkPlace | None, rows: HitRows) -> _Fate:
        talk = rows.conversations.get(hit.parent)
        if place is None or talk is None or hit.position < talk.kept_from:
            return _Fate.DEAD
        message = rows.messages.get((hit.parent, hit.position))
        if message is None:
            archived = hit.position <= talk.archived_through
            return _known(hit, rows.parts.get(place)) if archived else _Fate.DEAD
        if message.id != message_of(hit.chunk) or message.status is MessageStatus.SUPERSEDED:
            return _Fate.DEAD
        if not message.is_settled or not is_kept(talk, message, self.clock()):
            return _Fate.WAITS
        return _known(hit, rows.parts.get(place))

    def _read(self, scope: Scope, passage: Passage) -> Passage | None:
        """Return a passage with its words; None where its message is not there, or not to be shown."""
        page = self.conversations.messages(
            scope, passage.parent, after=passage.position - 1, limit=1, newest_first=False
        )
        message = next(iter(page.items), None)
        if message is None or message.seq != passage.position or not message.is_settled:
            return None
        whole = _worded(passage, message)
        return whole if message.id == message_of(passage.chunk) and whole.text else None


def _known(hit: Hit, part: MessageChunkRow | None) -> _Fate:
    """Show what has a row, by whichever entry it was found.

    An index lists what was replaced for a while, and of two entries the ranking knows no newer one. The words are those
    of the message in any case.
    """
    return _Fate.SHOWN if part and part.chunk == hit.chunk else _Fate.WAITS


def _place(hit: Hit) -> MessageChunkPlace | None:
    number = number_of(hit.chunk)
    return None if number is None else (hit.parent, hit.position, number)


def _passage(key: FusionKey, place: MessageChunkPlace, rows: HitRows) -> Passage:
    conversation_id, chunk = key
    _, seq, _ = place
    part, message = rows.parts[place], rows.messages.get((conversation_id, seq))
    passage = Passage(
        id=f"msg:{message_of(chunk)}",
        kind="message",
        parent=conversation_id,
        chunk=chunk,
        title=TITLE,
        url="",
        text="",
        span=(part.start, part.end),
        position=seq,
    )
    return _worded(passage, message) if message and (conversation_id, seq) not in rows.apart else passage


def _worded(passage: Passage, message: Message) -> Passage:
    """Return a passage with the words of its message, and who said them when."""
    start, end = passage.span or (0, len(message.content))
    said = f"{message.created_at.date().isoformat()}, {_SPEAKERS[message.role]}"
    return replace(passage, text=words_of(message.content, start, end), title=f"{passage.title}, {said}")
