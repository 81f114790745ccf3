"""Request and response models of facts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from fencepost.http.body import Body, Query
from fencepost.http.schemas import Sent
from fencepost.identity.domain.sites import Fact, FactState
from fencepost.kernel.text import normalise
from fencepost.memory.domain.facts import MAX_CHARACTERS, MAX_PINNED
from fencepost.prompting.domain.history import is_blank

MAX_ID_CHARACTERS = 128


def shown_fact(text: str) -> str:
    """Return a fact's text as it is stored and as the model reads it: normalised, on one line."""
    return " ".join(normalise(text).split())


def _readable(text: str) -> str:
    """Refuse a text that is blank or too long once normalised; keep it as written, for the screening."""
    shown = shown_fact(text)
    if is_blank(shown) or len(shown) > MAX_CHARACTERS:
        raise PydanticCustomError("fact", "nothing to be seen, or too long once normalised")
    return text


type FactText = Annotated[
    str, StringConstraints(min_length=1, max_length=2 * MAX_CHARACTERS), AfterValidator(_readable)
]
type FactId = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARACTERS)]


class WrittenFact(Body):
    """A fact, with the id of the one that it keeps or takes the place of."""

    text: FactText = Field(description=f"At most {MAX_CHARACTERS} characters.")
    id: FactId | None = None


class FactsRequest(Body):
    """All facts that are to be pinned from now on. Pinned ones that are not among them are superseded."""

    facts: Annotated[list[FactText | WrittenFact], Field(max_length=MAX_PINNED)]


class ApproveFactRequest(Body):
    """What an approved fact does besides being pinned."""

    replaces: FactId | None = Field(None, description="Id of a pinned fact that does not hold any more.")


class FactsQuery(Query):
    """Which facts to list."""

    state: Literal["current", "all"] = Field("current", description="`all` also lists superseded facts.")
    site: Annotated[str, Field(min_length=1, max_length=128)] | None = Field(
        None, description="Public key of the site whose facts are meant, for members; else the default site's."
    )


class FactItem(Sent):
    """A fact. Only pinned ones go into prompts."""

    id: str
    text: str
    state: FactState
    pinned_by: Literal["owner", "site", "job"] = Field(description="What the `site` pinned is its admin's to change.")
    created_at: datetime
    provenance: list[str] = Field(description="Ids of the messages that it was drawn from.")
    superseded_by: str | None = Field(None, description="Id of the fact that took its place.")


class FactsBody(Sent):
    """Facts: the texts of the caller's pinned ones, and all that were asked for with what is known of them."""

    facts: list[str]
    items: list[FactItem] = Field(description="The site's first, then the caller's.")


def fact_body(fact: Fact) -> FactItem:
    """Return the body of a fact."""
    return FactItem.model_validate(fact)
