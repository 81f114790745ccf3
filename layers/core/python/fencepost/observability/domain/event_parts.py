"""What the events are made of: ids that tell nobody's words, whose data it was, stages and counts."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

type Pseudonym = Annotated[str, Field(pattern=r"^[a-z]{1,8}_[0-9a-f]{16}$")]
type SourceId = Annotated[str, Field(pattern=r"^[^\s\x00-\x1f\x7f]+$", max_length=300)]
"""A public section's id, or a pseudonym."""
type RouteName = Annotated[str, Field(pattern=r"^[A-Z]{3,7} /[\w/{}+.-]*$", max_length=100)]
"""A row of our own table of routes, e.g. `GET /v1/conversations/{id}`: never the address that a client sent."""


class Loggable(BaseModel):
    """A model that may be logged: it is never changed, and takes no field but its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Subject(Loggable):
    """Whose data an event is about, under pseudonyms (`fencepost.observability.service`)."""

    org: Pseudonym
    owner: Pseudonym | None = None
    actor: Pseudonym | None = None
    conversation: Pseudonym | None = None
    message: Pseudonym | None = None


class StageTimings(Loggable):
    """Milliseconds spent in each stage of a request; None where it was not reached. `retrieve` includes `rewrite`."""

    guard: float | None = None
    authenticate: float | None = None
    authorize: float | None = None
    wait: float | None = None
    claim: float | None = None
    load: float | None = None
    retrieve: float | None = None
    rewrite: float | None = None
    documents: float | None = None
    assemble: float | None = None
    reserve: float | None = None
    first_token: float | None = None
    provider: float | None = None
    settle: float | None = None
    total: float


class Fetched(Loggable):
    """How many items of each kind were read for a prompt, and how many sections there were to choose from.

    Where the site has no documents of its own and an index has some, that is one at least.
    """

    messages: int = 0
    facts: int = 0
    summary_lines: int = 0
    attachments: int = 0
    sections: int = 0
    sections_available: int = 0
