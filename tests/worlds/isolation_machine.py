"""A town in memory: people, organisations, turns and jobs, and a watch over every prompt.

Everything that anybody says holds a marker of their own. The watched model repeats all markers that it is shown, so
that words which leaked once go on leaking, through history, summaries, facts and memories, into prompts that come much
later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Literal

from fencepost.identity.domain.scope import Action, Member, Scope, authorize, own
from fencepost.identity.domain.sites import Fact, FactState, LayerBudgets, Organisation, Site
from fencepost.kernel.errors import FencepostError
from fencepost.kernel.money import Usage
from fencepost.model.domain import Prompt
from fencepost.model.ports import Completion
from fencepost.observability.service import Trace
from fencepost.queue.domain import Job, Purpose
from fencepost.turns.domain.turns import TurnMaterial, TurnRequest
from tests.fakes.conversations import owned
from tests.fakes.memory import FakeMemory
from tests.fakes.turns import FakeTurns
from tests.worlds.chat import MODEL
from tests.worlds.isolation_memory import TownMemory
from tests.worlds.jobs import FakeAsk, JobsWorld
from tests.worlds.turn import TurnWorld

ORGS, USERS = ("acme", "zeta"), ("ann", "ben")
SMALL = LayerBudgets(messages=2)
"""So small that summaries are made, and carry words from turn to turn."""

type Person = tuple[str, str]
"""A user in an organisation."""
type Moment = Literal["claim", "load", "reserve", "never"]
"""Before which step of a turn a permission ends."""

_MARKER = re.compile(r"marker-(\w+)-(\w+)-\d+")


@dataclass
class WatchedTurns(FakeTurns):
    """Turns with summaries and facts of the memory, and somebody who acts between their steps."""

    memory: FakeMemory | None = None
    before: Callable[[str], None] = lambda _step: None
    loaded: Callable[[Scope], None] = lambda _scope: None

    def claim(self, scope: Scope, claim: Any) -> Any:
        self.before("claim")
        return super().claim(scope, claim)

    def load(self, scope: Scope, conversation_id: str, limit: int) -> TurnMaterial | None:
        self.before("load")
        material = super().load(scope, conversation_id, limit)
        self.loaded(scope)
        self.before("reserve")
        if material is None or self.memory is None:
            return material
        summary, facts = self.memory.summary(scope, conversation_id), self.memory.facts(scope, FactState.PINNED)
        return replace(material, summary=summary, facts=facts)


@dataclass
class WatchedTown:
    """Everything, and who is at work at this moment.

    Attributes:
        at_work: whose turn or job runs; nobody's prompt is made otherwise.
        permitted: their membership was active when their words were read.
        prompts: how many prompts were watched.
        last: the words of the last of them.
    """

    turns: TurnWorld = field(default_factory=TurnWorld)
    at_work: Person | None = None
    permitted: bool = False
    prompts: int = 0
    last: str = ""
    numbers: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        world = self.turns
        for org in ORGS:
            world.directory.sites[org, "docs"] = Site(
                org=org, id="docs", key=f"{org}-docs", model=MODEL, budgets=SMALL, facts="trust"
            )
            world.directory.add_organisation(Organisation(id=org, default_site="docs"))
        self.jobs = JobsWorld(world.shelf, world.directory, clock=world.clock, ask=FakeAsk(self._notes))
        self.store = WatchedTurns(
            world.shelf,
            membership=lambda org, user: world.directory.memberships.get((org, user)),
            memory=self.jobs.memory,
            loaded=self._look,
        )
        self.memory = TownMemory(world.shelf, world.clock)
        world.recall = self.memory.recall()
        world.store, world.model.complete = self.store, self._complete  # type: ignore[method-assign]  # the watch

    def marker(self, person: Person) -> str:
        """Return a new word of somebody."""
        return f"marker-{person[0]}-{person[1]}-{next(self.numbers)}"

    def conversations(self) -> list[str]:
        """Return the ids of all conversations, whoever's they are."""
        return sorted({place[2] for place in self.turns.shelf.conversations})

    def is_member(self, person: Person) -> bool:
        """Tell whether somebody is a member at this moment."""
        membership = self.turns.directory.memberships.get((person[1], person[0]))
        return membership is not None and membership.active

    def scope(self, person: Person) -> Scope:
        """Authorise somebody."""
        caller = self._caller(person)
        return authorize(caller, Action.CHAT, own(caller))

    def speak(self, person: Person, conversation_id: str | None, moment: Moment, user_of: Person) -> bool:
        """Make a turn, in which somebody's permission ends before a step; tell whether it was answered."""
        self.store.before = lambda step: self.revoke(user_of) if step == moment else None
        message = f"Please keep in mind {self.marker(person)}."
        request = TurnRequest(message=message, message_id=f"m{next(self.numbers)}", conversation_id=conversation_id)
        with self._working(person), suppress(FencepostError):
            answer = self.turns.service().answer(self._caller(person), request, Trace())
            # As the table's stream has it done.
            self.work(person, answer.conversation_id, Purpose.REMEMBER, person)
            return True
        return False

    def work(self, person: Person, conversation_id: str, purpose: Purpose, actor: Person) -> None:
        """Run a job about a conversation, for somebody, on behalf of somebody."""
        rows = [row for place, row in self.turns.shelf.conversations.items() if place[2] == conversation_id]
        job = Job(
            org=person[1],
            owner=f"member:{person[0]}",
            actor=f"member:{actor[0]}",
            purpose=purpose,
            permission_version=1,
            created_at=self.turns.clock(),
            conversation=conversation_id,
            incarnation=rows[0].incarnation if rows else "",
        )
        with self._working(person):
            self.permitted = self.is_member(person)
            self.jobs.runner(REMEMBER=self.memory.job(self.jobs).run).run(job)

    def pin(self, person: Person) -> None:
        """Let somebody write a fact."""
        fact = Fact(
            id=f"f{next(self.numbers)}",
            text=f"They said {self.marker(person)}.",
            state=FactState.PINNED,
            pinned_by="owner",
            created_at=self.turns.clock(),
        )
        with suppress(FencepostError):
            self.jobs.memory.write_facts(self.scope(person), [fact])

    def erase(self, person: Person, conversation_id: str) -> None:
        """Let somebody erase a conversation, if it is theirs."""
        with suppress(FencepostError):
            scope = self.scope(person)
            self.turns.shelf.conversations.pop(owned(scope, conversation_id), None)
            self.turns.shelf.messages.pop(owned(scope, conversation_id), None)

    def grant(self, person: Person) -> None:
        """Make somebody a member."""
        self.turns.directory.grant(person[1], person[0])

    def revoke(self, person: Person) -> None:
        """End somebody's membership, if there is one."""
        if self.is_member(person):
            self.turns.directory.revoke(person[1], person[0])

    @contextmanager
    def _working(self, person: Person) -> Iterator[None]:
        self.at_work, self.permitted = person, False
        yield
        self.at_work = None

    def _caller(self, person: Person) -> Member:
        user, org = person
        return Member(org, user, self.turns.directory.membership(org, user))

    def _look(self, scope: Scope) -> None:
        assert self.at_work == (scope.owner.removeprefix("member:"), scope.org)
        self.permitted = self.is_member(self.at_work)

    def _watch(self, prompt: Prompt) -> list[str]:
        """Look who is quoted in a prompt. This is the invariant."""
        text = "\n".join(
            block.text for blocks in (prompt.system, *(turn.blocks for turn in prompt.turns)) for block in blocks
        )
        self.prompts, self.last = self.prompts + 1, text
        quoted = {(match[1], match[2]) for match in _MARKER.finditer(text)}
        assert self.at_work is not None
        assert quoted <= {self.at_work}
        assert self.permitted
        return sorted({match[0] for match in _MARKER.finditer(text)})

    def _complete(self, prompt: Prompt, **_: float) -> Completion:
        return Completion(f"I keep in mind {' '.join(self._watch(prompt))}.", Usage(100, 0, 0, 10), 0.1)

    def _notes(self, prompt: Prompt) -> str:
        words = " ".join(self._watch(prompt)[-3:])
        text = "".join(block.text for turn in prompt.turns for block in turn.blocks)
        shown = re.findall(r'source="msg:(\d+)', text)
        return "\n".join(f"- They said {words}. [msg:{number}]" for number in shown[-1:])
