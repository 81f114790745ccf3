"""Types of event fields: loggable ids, subjects, stage timings and counts."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

type Pseudonym = Annotated[str, Field(pattern=r"^[a-z]{1,8}_[0-9a-f]{16}$")]
type SourceId = Annotated[str, Field(pattern=r"^[^\s\x00-\x1f\x7f]+$", max_length=300)]
"""Id of a public section, or a pseudonym."""
type RouteName = Annotated[str, Field(pattern=r"^[A-Z]{3,7} /[\w/{}+.-]*$", max_length=100)]
"""Row of the table of routes, e.g. `GET /v1/conversations/{id}`; never the path that a client sent."""


class Loggable(BaseModel):
    """Base of models that may be logged. Instances are immutable, and further fields are rejected."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Subject(Loggable):
    """Pseudonyms of the data that an event is about (`fencepost.observability.service`)."""

    org: Pseudonym
    owner: Pseudonym | None = None
    actor: Pseudonym | None = None
    conversation: Pseudonym | None = None
    message: Pseudonym | None = None


class StageTimings(Loggable):
    """Milliseconds spent in each stage of a request; None for stages not reached. `retrieve` includes `rewrite`."""

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
    """Numbers of items of each kind that were read for a prompt.

    `sections_available` is the number of sections of the site's documents. It is at least 1 if an index has documents.
    """

    messages: int = 0
    facts: int = 0
    summary_lines: int = 0
    attachments: int = 0
    sections: int = 0
    sections_available: int = 0
