"""Background work over fakes: conversations, a directory, the day's bill, and a model that says what it is told to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from fencepost.access.service import Authorizer
from fencepost.conversations.domain.messages import Conversation, Message, MessageStatus
from fencepost.identity.domain.scope import Action, Membership, OrgRole, Scope, Visitor, authorize, own
from fencepost.identity.domain.sites import LayerBudgets, Site
from fencepost.identity.service import SiteService
from fencepost.jobs.service.runner import JobHandler, JobRunner
from fencepost.memory.domain.summaries import Summary
from fencepost.memory.service.facts import FactProposals, FactService
from fencepost.memory.service.summaries import SummaryService
from fencepost.memory.service.titles import TitleService
from fencepost.model.domain import Prompt, Role
from fencepost.observability.domain.events import Event, JobEvent
from fencepost.queue.domain import Job, Purpose
from tests.fakes.answers import FakeKeys, FixedClock
from tests.fakes.conversations import FakeConversations, Shelf, owned
from tests.fakes.directory import FakeDirectory
from tests.fakes.memory import FakeJobs, FakeMemory

VISITOR = Visitor("acme", "docs", "v1")
ROOMY = LayerBudgets(messages=8)


def scope_of(caller: Visitor = VISITOR, action: Action = Action.WRITE) -> Scope:
    """Return the scope of a visitor's own data."""
    return authorize(caller, action, own(caller))


def exchange(seq: int, question: str, answer: str, now: datetime) -> list[Message]:
    """Return a question at `seq` and its answer behind it."""
    asked = Message(
        id=f"q{seq}", seq=seq, role=Role.USER, content=question, created_at=now, status=MessageStatus.ANSWERED
    )
    told = Message(
        id=f"q{seq}.1",
        seq=seq + 1,
        role=Role.ASSISTANT,
        content=answer,
        created_at=now,
        status=MessageStatus.COMPLETE,
        reply_to=seq,
    )
    return [asked, told]


class FakeEvents:
    """A `RequestLog` that remembers."""

    def __init__(self) -> None:
        self.seen: list[Event] = []
        self.unexpected: list[BaseException] = []

    def begin(self, request_id: str) -> None:
        """Nothing is told apart."""

    def log_unexpected(self, error: BaseException) -> None:
        self.unexpected.append(error)

    def emit(self, event: Event) -> None:
        self.seen.append(event)

    @property
    def jobs(self) -> list[tuple[str, str | None]]:
        """What became of each job, and why."""
        return [(event.result, event.reason or event.code) for event in self.seen if isinstance(event, JobEvent)]


@dataclass
class FakeAsk:
    """A model. By default it notes one line for each message that it is shown."""

    says: Callable[[Prompt], str] | None = None
    prompts: list[Prompt] = field(default_factory=list)

    def __call__(self, site: Site, prompt: Prompt) -> str:
        self.prompts.append(prompt)
        return self.says(prompt) if self.says else notes_of(prompt)

    @property
    def text(self) -> str:
        """The last prompt's words."""
        return text_of(self.prompts[-1])


def text_of(prompt: Prompt) -> str:
    """Return all words of a prompt's turns."""
    return "".join(block.text for turn in prompt.turns for block in turn.blocks)


def shown(prompt: Prompt) -> list[int]:
    """Return the numbers of the messages that stand in fences of their own."""
    parts = text_of(prompt).split('source="msg:')[1:]
    return [int(part.partition('"')[0]) for part in parts]


def notes_of(prompt: Prompt) -> str:
    """Note one line for each message in the prompt, and keep the lines that are there."""
    before = [line for line in text_of(prompt).splitlines() if line.startswith("- ")]
    return "\n".join([*before, *(f"- Somebody wrote number {number}. [msg:{number}]" for number in shown(prompt))])


@dataclass
class JobsWorld:
    """Everything that jobs touch, in memory."""

    shelf: Shelf = field(default_factory=Shelf)
    directory: FakeDirectory = field(default_factory=FakeDirectory)
    events: FakeEvents = field(default_factory=FakeEvents)
    clock: FixedClock = field(default_factory=FixedClock)
    ask: FakeAsk = field(default_factory=FakeAsk)
    keys: FakeKeys = field(default_factory=FakeKeys)

    def __post_init__(self) -> None:
        self.directory.add_site(budgets=ROOMY)
        self.conversations = FakeConversations(self.shelf)
        self.memory = FakeMemory(self.row, self.store)
        self.jobs = FakeJobs(self.row)
        self.sites = SiteService(self.directory, Site(org="", id="", key="", model="claude-haiku-5-5"))

    def row(self, scope: Scope, conversation_id: str) -> Conversation | None:
        """Return a conversation's row as it is."""
        return self.shelf.conversations.get(owned(scope, conversation_id))

    def store(self, scope: Scope, conversation: Conversation) -> None:
        """Store a conversation's row."""
        self.shelf.conversations[owned(scope, conversation.id)] = conversation

    def talk(self, exchanges: int, scope: Scope | None = None, conversation_id: str = "c1", words: str = "") -> None:
        """Let a conversation grow by so many exchanges."""
        scope, now = scope or scope_of(), self.clock()
        rows = self.shelf.messages.setdefault(owned(scope, conversation_id), [])
        for _ in range(exchanges):
            seq = len(rows) + 1
            rows += exchange(seq, f"Question {seq}? {words}", f"Answer to {seq}. {words}", now)
        before = self.row(scope, conversation_id) or Conversation(
            id=conversation_id,
            site="docs",
            incarnation="i1",
            title="",
            created_at=now,
            updated_at=now,
            next_seq=1,
        )
        self.store(scope, replace(before, next_seq=len(rows) + 1, updated_at=now))

    def messages(self, scope: Scope | None = None, conversation_id: str = "c1") -> list[Message]:
        """Return a conversation's messages, to be changed in place."""
        return self.shelf.messages[owned(scope or scope_of(), conversation_id)]

    def join(self, user: str = "u1", *, active: bool = True) -> None:
        """Make somebody a member, or let them be none any more."""
        self.directory.memberships["acme", user] = Membership("acme", user, OrgRole.MEMBER, active, 1)

    def job(self, purpose: Purpose = Purpose.SUMMARISE, **changes: object) -> Job:
        """Return a job about the visitor's conversation."""
        job = Job(
            org="acme",
            owner=VISITOR.owner,
            actor=VISITOR.owner,
            purpose=purpose,
            permission_version=0,
            created_at=self.clock(),
            site="docs",
            conversation="c1",
            incarnation="i1",
        )
        return replace(job, **changes)  # type: ignore[arg-type]  # fields by name

    @property
    def titles(self) -> TitleService:
        return TitleService(self.conversations, self.memory)

    @property
    def summaries(self) -> SummaryService:
        return SummaryService(
            conversations=self.conversations,
            memory=self.memory,
            jobs=self.jobs,
            sites=self.sites,
            ask=self.ask,
            clock=self.clock,
        )

    @property
    def facts(self) -> FactService:
        return FactService(self.memory, self.sites, self.clock)

    @property
    def proposals(self) -> FactProposals:
        return FactProposals(
            conversations=self.conversations,
            memory=self.memory,
            jobs=self.jobs,
            sites=self.sites,
            ask=self.ask,
            clock=self.clock,
        )

    def runner(self, **handlers: JobHandler) -> JobRunner:
        """Return a runner with the real handlers, but for those that are given by their purposes' names."""
        real = {
            Purpose.TITLE: self.titles.run,
            Purpose.SUMMARISE: self.summaries.run,
            Purpose.PROPOSE_FACTS: self.proposals.run,
        }
        return JobRunner(
            handlers=real | {Purpose[name]: handler for name, handler in handlers.items()},
            decide=Authorizer(self.keys, self.events, at="job"),
            directory=self.directory,
            conversations=self.conversations,
            jobs=self.jobs,
            keys=self.keys,
            events=self.events,
            clock=self.clock,
        )

    def run(self, *jobs: Job) -> None:
        """Run jobs one after the other."""
        runner = self.runner()
        for job in jobs:
            runner.run(job)


def summary_of(world: JobsWorld) -> Summary:
    """Return the summary that is there."""
    summary = world.memory.summary(scope_of(), "c1")
    assert summary is not None
    return summary
