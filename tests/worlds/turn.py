"""The turn of a conversation over fakes, or over any store: one process after another, each of which may die."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from threading import Lock
from typing import Any, cast

from fencepost.access.service import Authorizer
from fencepost.conversations.domain.attachments import AttachedText
from fencepost.conversations.domain.messages import AnswerContext, Message, MessagePointer
from fencepost.conversations.ports import ConversationStore
from fencepost.documents.sqlite import FullTextRanker
from fencepost.identity.domain.scope import Action, Caller, Scope, Visitor, authorize, own
from fencepost.identity.domain.sites import Site
from fencepost.identity.service import SiteService
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Caps
from fencepost.limits.domain.prices import price_of
from fencepost.limits.ports import Ledger
from fencepost.model.service import Billing, PaidModel
from fencepost.observability.service import Trace
from fencepost.turns.domain.turns import TurnAnswer, TurnRequest
from fencepost.turns.ports import TurnStore
from fencepost.turns.service.claiming import ConversationLeases
from fencepost.turns.service.prompt_builder import PromptBuilder
from fencepost.turns.service.turn_retrieval import TurnRetrieval
from fencepost.turns.service.turns import TurnService
from tests.fakes.answers import FakeKeys, FakeLedger, Fault, FixedClock
from tests.fakes.conversations import FakeConversations, Owned, Shelf
from tests.fakes.directory import FakeDirectory
from tests.fakes.turns import FakeTurns
from tests.worlds.chat import BUDGETS, MODEL, NOON, SMALL_SITE, WIDE_CAPS, FakeDocuments, FakeEvents, FakeModel

ANN = Visitor("acme", "docs", "ann")
DEFAULTS = Site(org="", id="", key="", model=MODEL, documents_url="https://docs.example")
BEN = Visitor("acme", "docs", "ben")


class Killed(BaseException):
    """The process is gone. Nothing that it would still do happens."""


@dataclass
class Process:
    """One process, which may be killed before or after any call of a port.

    Attributes:
        kill_at: the call, e.g. `turns.claim`, and whether the process dies before or after it.
        calls: the names of the calls that were made.
    """

    kill_at: tuple[str, Fault] | None = None
    calls: list[str] = field(default_factory=list)
    dead: bool = False
    _lock: Lock = field(default_factory=Lock)

    def mortal[P](self, port: P, name: str) -> P:
        """Return a port as this process sees it."""
        return cast("P", _Mortal(port, name, self))

    def call(self, name: str, method: Callable[[], Any]) -> Any:
        """Make one call, unless the process is dead."""
        with self._lock:
            if self.dead:
                raise Killed
            self.calls.append(name)
            if self.kill_at == (name, "before"):
                self.dead = True
                raise Killed
        result = method()
        with self._lock:
            if self.kill_at == (name, "after"):
                self.dead = True
            if self.dead:
                raise Killed
        return result


class _Mortal:
    def __init__(self, port: object, name: str, process: Process) -> None:
        self._port = port
        self._name = name
        self._process = process

    def __getattr__(self, attribute: str) -> Any:
        method = getattr(self._port, attribute)
        if not callable(method):
            return method

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._process.call(f"{self._name}.{attribute}", lambda: method(*args, **kwargs))

        return call


def no_files(_scope: Scope, ids: Sequence[str]) -> Sequence[AttachedText]:
    """Know no files."""
    raise FencepostError(ErrorCode.ATTACHMENTS_INVALID)


@dataclass
class TurnWorld:
    """Everything that outlives a process.

    Attributes:
        recall: finds passages; None where there is no index.
        answered_on: the sites whose bill, model and caps the turns asked for, in order.
    """

    clock: FixedClock = field(default_factory=lambda: FixedClock(NOON))
    events: FakeEvents = field(default_factory=FakeEvents)
    directory: FakeDirectory = field(default_factory=FakeDirectory)
    shelf: Shelf = field(default_factory=Shelf)
    ledger: Ledger = field(default_factory=FakeLedger)
    model: FakeModel = field(default_factory=FakeModel)
    caps: Caps = WIDE_CAPS
    documents: FakeDocuments = field(default_factory=lambda: FakeDocuments(SMALL_SITE))
    site: Site = DEFAULTS
    attached: Callable[[Scope, Sequence[str]], Sequence[AttachedText]] = no_files
    recall: TurnRetrieval | None = None
    answered_on: list[Site] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    on_pause: Callable[[], None] = lambda: None
    store: TurnStore = field(init=False)
    conversations: ConversationStore = field(init=False)

    def __post_init__(self) -> None:
        self.directory.add_site()
        self.store = FakeTurns(self.shelf, membership=lambda org, user: self.directory.memberships.get((org, user)))
        self.conversations = FakeConversations(self.shelf)

    @property
    def turns(self) -> FakeTurns:
        """The fake store."""
        assert isinstance(self.store, FakeTurns)
        return self.store

    @property
    def books(self) -> FakeLedger:
        """The fake ledger."""
        assert isinstance(self.ledger, FakeLedger)
        return self.ledger

    def service(self, process: Process | None = None) -> TurnService:
        """Return the service as one process runs it."""
        process = process or Process()
        keys = FakeKeys()
        store = process.mortal(self.store, "turns")
        billing = Billing(
            ledger=process.mortal(self.ledger, "ledger"),
            price=price_of(MODEL),
            caps=self.caps,
            events=self.events,
            clock=self.clock,
        )
        paid = PaidModel(MODEL, process.mortal(self.model, "model"), billing)
        documents = process.mortal(self.documents, "documents")
        return TurnService(
            store=store,
            leases=ConversationLeases(store=store, events=self.events, keys=keys, clock=self.clock, pause=self.pause),
            prompt_builder=PromptBuilder(keys=keys, ranker=FullTextRanker(), budgets=BUDGETS, unsigned="accept"),
            documents=lambda _site: documents,
            paid=lambda site: self._paid(site, paid),
            attached=self.attached,
            conversations=process.mortal(self.conversations, "conversations"),
            directory=process.mortal(self.directory, "directory"),
            sites=SiteService(self.directory, self.site),
            keys=keys,
            clock=self.clock,
            decide=Authorizer(keys, self.events),
            decide_again=Authorizer(keys, self.events, "turn"),
            recall=self.recall,
        )

    def _paid(self, site: Site, paid: PaidModel) -> PaidModel:
        self.answered_on.append(site)
        return paid

    def scope(self, caller: Caller = ANN) -> Scope:
        """Return the scope of a caller's own data."""
        return authorize(caller, Action.READ, own(caller))

    def messages(self, conversation_id: str, *, caller: Caller = ANN) -> list[Message]:
        """Return all messages of a conversation, as its owner would read them, page by page."""
        scope, found, more = self.scope(caller), list[Message](), True
        while more:
            after = found[-1].seq if found else None
            page = self.conversations.messages(scope, conversation_id, after=after, limit=100, newest_first=False)
            found += page.items
            more = page.next_key is not None
        return found

    def context(self, conversation_id: str, message_id: str = "m1") -> AnswerContext:
        """Return the audit view of an answer."""
        pointer = MessagePointer(message_id, conversation_id, 1, "")
        found = self.conversations.context(self.scope(), pointer, None)
        assert found is not None
        return found

    @property
    def prompted(self) -> list[str]:
        """The blocks of the last prompt's last turn: what was found, and the message."""
        return [block.text for block in self.model.prompts[-1].turns[-1].blocks]

    def say_until_answered(self, *args: Any, **kwargs: Any) -> TurnAnswer:
        """Make one turn as a client does that comes back when it is told to."""
        for _ in range(60):
            try:
                return self.say(*args, **kwargs)
            except FencepostError as error:
                if error.code is not ErrorCode.CONVERSATION_BUSY:
                    raise
                self.clock.advance(error.retry_after or 1)
        raise AssertionError("the conversation stayed busy")

    def hold(self, place: Owned, seconds: float) -> None:
        """Let the open turn of a conversation run for so long from now."""
        row = self.shelf.conversations[place]
        assert row.open_turn is not None
        turn = replace(row.open_turn, until=self.clock() + timedelta(seconds=seconds))
        self.shelf.conversations[place] = replace(row, open_turn=turn)

    def pause(self, seconds: float) -> None:
        """Let time go by, and whatever was to happen meanwhile."""
        self.pauses.append(seconds)
        self.clock.advance(seconds)
        self.on_pause()

    def say(
        self,
        message: str = "How do I install it?",
        message_id: str = "m1",
        conversation_id: str | None = None,
        *,
        site: str | None = None,
        attachments: tuple[str, ...] = (),
        caller: Caller = ANN,
        process: Process | None = None,
    ) -> TurnAnswer:
        """Make one turn."""
        request = TurnRequest(
            message=message,
            message_id=message_id,
            conversation_id=conversation_id,
            site=site,
            attachments=attachments,
        )
        return self.service(process).answer(caller, request, Trace())
