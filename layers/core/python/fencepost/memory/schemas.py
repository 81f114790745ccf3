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
    """A fact, with the id of the stored fact that it keeps or replaces."""

    text: FactText = Field(description=f"At most {MAX_CHARACTERS} characters.")
    id: FactId | None = None


class FactsRequest(Body):
    """The complete list of pinned facts. Pinned facts that are missing from it are superseded."""

    facts: Annotated[list[FactText | WrittenFact], Field(max_length=MAX_PINNED)]


class ApproveFactRequest(Body):
    """Approval of a proposed fact."""

    replaces: FactId | None = Field(None, description="Id of a pinned fact that this one replaces.")


class FactsQuery(Query):
    """Parameters of a list of facts."""

    state: Literal["current", "all"] = Field("current", description="`all` also lists superseded facts.")
    site: Annotated[str, Field(min_length=1, max_length=128)] | None = Field(
        None, description="For members: public key of the site whose facts to list. If left out, the default site."
    )


class FactItem(Sent):
    """A fact. Only pinned ones go into prompts."""

    id: str
    text: str
    state: FactState
    pinned_by: Literal["owner", "site", "job"] = Field(
        description="Facts that the `site` pinned are changed by its admins only."
    )
    created_at: datetime
    provenance: list[str] = Field(description="Ids of the messages that it was derived from.")
    superseded_by: str | None = Field(None, description="Id of the fact that replaced it.")


class FactsBody(Sent):
    """Texts of the caller's pinned facts, and all requested facts with their details."""

    facts: list[str]
    items: list[FactItem] = Field(description="The site's facts first, then the caller's.")


def fact_body(fact: Fact) -> FactItem:
    """Return the body of a fact."""
    return FactItem.model_validate(fact)
