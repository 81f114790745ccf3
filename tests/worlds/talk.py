"""The API with its turns over fakes, as a widget talks to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost.turns.routes.turns import RegenerateRoutes, TurnRoutes
from tests.fakes.answers import FixedClock
from tests.worlds.api import ApiWorld
from tests.worlds.chat import NOON, FakeModel, Reply
from tests.worlds.turn import TurnWorld

QUESTION = "How do I install it?"


@dataclass
class Talk:
    """The API with its turns."""

    api: ApiWorld = field(default_factory=lambda: ApiWorld(clock=FixedClock(NOON)))
    turns: TurnWorld = field(init=False)

    def __post_init__(self) -> None:
        api = self.api
        self.turns = TurnWorld(
            clock=api.clock, events=api.events, directory=api.directory, shelf=api.store.shelf, model=FakeModel()
        )
        service = self.turns.service()
        api.more_routes = (*TurnRoutes(service, api.clock).routes(), *RegenerateRoutes(service).routes())

    def chat(self, message: object = QUESTION, who: dict[str, str] | None = None, **fields: object) -> Reply:
        return self.api.ask("POST", "/v1/chat", who or self.api.visitor(), {"message": message, **fields})

    def anew(self, message_id: str, who: dict[str, str] | None = None, /, **headers: str) -> Reply:
        who = (who or self.api.visitor()) | headers
        return self.api.ask("POST", f"/v1/messages/{message_id}/regenerate", who)

    @property
    def calls(self) -> int:
        return len(self.turns.model.prompts)
