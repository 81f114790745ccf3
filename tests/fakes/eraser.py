"""An eraser over plain memory, with faults on demand."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from tests.fakes.answers import Fault

type Place = tuple[str, str, str]
"""Organisation, owner, conversation."""


@dataclass
class FakeEraser:
    """Implements `Eraser`.

    Attributes:
        living: rows and objects of each conversation, by kind.
        forgotten: the same of those that are to be swept.
        facts: how many facts each owner has.
        on_forget: told of each conversation that goes, so that other fakes lose it too.
        stuck: kinds that no sweep removes.
        faults: what goes wrong with the next calls, in order.
        calls: names of all calls that were made, in order.
    """

    living: dict[Place, Counter[str]] = field(default_factory=dict)
    forgotten: dict[Place, Counter[str]] = field(default_factory=dict)
    facts: Counter[tuple[str, str]] = field(default_factory=Counter)
    on_forget: Callable[[Scope, str], object] = lambda _scope, _conversation_id: None
    stuck: frozenset[str] = frozenset()
    faults: deque[Fault | None] = field(default_factory=deque)
    calls: list[str] = field(default_factory=list)

    def forget_conversation(self, scope: Scope, conversation_id: str, now: datetime) -> bool:
        return self._call("forget_conversation", lambda: self._forget((scope.org, scope.owner, conversation_id), scope))

    def forget_owner(self, scope: Scope, now: datetime) -> dict[str, int]:
        return self._call("forget_owner", lambda: self._forget_all(scope))

    def sweep(self, scope: Scope, conversation_id: str | None, budget: int) -> dict[str, int]:
        return self._call("sweep", lambda: self._sweep(scope, conversation_id, budget))

    def leftovers(self, scope: Scope, conversation_id: str | None) -> dict[str, int]:
        return self._call("leftovers", lambda: dict(self._left(scope, conversation_id)))

    def _forget(self, place: Place, scope: Scope) -> bool:
        if place not in self.living:
            return False
        self.forgotten[place] = self.living.pop(place)
        self.on_forget(scope, place[2])
        return True

    def _forget_all(self, scope: Scope) -> dict[str, int]:
        owned = [place for place in self.living if place[:2] == (scope.org, scope.owner)]
        forgotten = sum(self._forget(place, scope) for place in owned)
        facts = self.facts.pop((scope.org, scope.owner), 0)
        return dict(+Counter(conversations=forgotten, facts=facts))

    def _sweep(self, scope: Scope, conversation_id: str | None, budget: int) -> dict[str, int]:
        swept: Counter[str] = Counter()
        for rows in self._places(scope, conversation_id):
            for kind in sorted(rows.keys() - self.stuck):
                taken = min(rows[kind], budget - swept.total())
                rows[kind] -= taken
                swept[kind] += taken
        return dict(+swept)

    def _left(self, scope: Scope, conversation_id: str | None) -> Counter[str]:
        return sum(self._places(scope, conversation_id), Counter())

    def _places(self, scope: Scope, conversation_id: str | None) -> list[Counter[str]]:
        owned = [(place, rows) for place, rows in self.forgotten.items() if place[:2] == (scope.org, scope.owner)]
        return [rows for place, rows in owned if conversation_id in (None, place[2])]

    def _call[T](self, name: str, act: Callable[[], T]) -> T:
        self.calls.append(name)
        fault = self.faults.popleft() if self.faults else None
        if fault == "before":
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
        answer = act()
        if fault == "after":
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
        return answer
