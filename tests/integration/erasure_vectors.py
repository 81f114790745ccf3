"""What an erasure and the job that remembers share: the real stores, and the embedded index in one file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from fencepost.identity.service import SiteService
from fencepost.lifecycle.service.erase import EraseService
from fencepost.lifecycle.service.vector_erasure import VectorEraser
from fencepost.memory.service.message_entries import MessageEntries
from fencepost.memory.service.remember import RememberService
from fencepost.queue.domain import DELAYS, Job, Purpose
from fencepost.retrieval.domain.search import IndexEntry
from fencepost.retrieval.indexes.embedded.index import EmbeddedIndex
from fencepost.retrieval.ports import Stored
from tests.fakes.answers import FakeKeys
from tests.fakes.corpus import FakeJobQueue
from tests.fakes.directory import FakeDirectory
from tests.fakes.index import FakeEmbedder, vector_of
from tests.integration.erasure_content import BEFORE, DOOMED
from tests.integration.erasure_interrupted import PLENTY, Stores
from tests.integration.erasure_world import NOON
from tests.worlds.chat import FakeEvents
from tests.worlds.turn import DEFAULTS


class CountedIndex(EmbeddedIndex):
    """An index of which each call counts, as a request to a store does."""

    def __init__(self, path: Path, counted: Callable[[], None]) -> None:
        super().__init__(path, wait_seconds=0.2)
        self._counted = counted

    def upsert(self, *args: Any, **named: Any) -> tuple[str, ...]:
        self._counted()
        return super().upsert(*args, **named)

    def delete(self, *args: Any, **named: Any) -> int:
        self._counted()
        return super().delete(*args, **named)

    def listed(self, *args: Any, **named: Any) -> Any:
        self._counted()
        return super().listed(*args, **named)


@dataclass
class Indexed:
    """Somebody who works with stores and an index.

    Attributes:
        folder: where the index's file is.
    """

    stores: Stores
    folder: Path
    now: datetime = NOON
    events: FakeEvents = field(default_factory=FakeEvents)

    def __post_init__(self) -> None:
        self.index = CountedIndex(self.folder / "index.sqlite", self.stores.count)

    @property
    def eraser(self) -> VectorEraser:
        return VectorEraser(rest=self.stores.eraser, index=self.index, conversations=self.stores.conversations)

    @property
    def erasures(self) -> EraseService:
        return EraseService(
            conversations=self.stores.conversations,
            eraser=self.eraser,
            jobs=self.stores.jobs,
            keys=FakeKeys(),
            events=self.events,
            clock=lambda: self.now,
        )

    @property
    def remembering(self) -> RememberService:
        return RememberService(
            conversations=self.stores.conversations,
            entries=MessageEntries(self.stores.parts, self.index),
            embedder=FakeEmbedder(),
            jobs=self.stores.jobs,
            queue=FakeJobQueue(),
            sites=SiteService(FakeDirectory(), DEFAULTS),
            chunker=lambda text: ((0, len(text)),),
            clock=lambda: NOON,
        )

    def remember(self, conversation_id: str = DOOMED) -> None:
        """Bring the index up to date with a conversation."""
        scope = self.stores.scope
        job = Job(
            org=scope.org,
            owner=scope.owner,
            actor=scope.owner,
            purpose=Purpose.REMEMBER,
            permission_version=0,
            created_at=BEFORE,
            conversation=conversation_id,
            incarnation=f"incarnation-{conversation_id}",
            revises=True,
        )
        self.remembering.run(scope, job)

    def erase(self, conversation_id: str | None) -> str:
        """Ask for an erasure, and return its receipt's id."""
        scope, erasures = self.stores.scope, self.erasures
        receipt = erasures.conversation(scope, conversation_id) if conversation_id else erasures.everything(scope)
        return receipt.id

    def look_again(self, receipt_id: str) -> dict[str, int]:
        """Let the erasure's job come at its time, and return what the receipt then counts."""
        self.now = NOON + DELAYS[Purpose.ERASE]
        scope = self.stores.scope
        record = self.stores.jobs.job(scope, receipt_id)
        assert record is not None
        self.erasures.run(scope, record.job)
        receipt = self.erasures.receipt(scope, receipt_id)
        assert receipt.status == "done"
        return dict(receipt.counts)

    def entries(self) -> list[Stored]:
        """Return all entries of the organisation."""
        return list(self.index.listed(self.stores.scope, None, PLENTY).items)

    def plant(self, conversation_id: str) -> str:
        """Write an entry of which no row knows, as a worker does who then dies, and return what it is called."""
        scope = self.stores.scope
        entry = IndexEntry(
            chunk="late#0",
            org=scope.org,
            owner=scope.owner,
            kind="message",
            parent=conversation_id,
            version=1,
            text="late",
            model="fake/16",
            vector=vector_of("late"),
        )
        (stored,) = self.index.upsert(scope, [entry])
        return stored
