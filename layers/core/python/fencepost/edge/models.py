"""Request and response models of `POST /api/ai-chat`. The OpenAPI document is generated from them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from fencepost.domain.conversation import (
    MAX_HISTORY_CHARACTERS,
    MAX_HISTORY_ENTRIES,
    MAX_MESSAGE_CHARACTERS,
    Answer,
)
from fencepost.domain.errors import ErrorCode
from fencepost.domain.text import normalise

MAX_SIGNATURE_CHARACTERS = 256


def _sane_signature(value: object) -> object:
    """Drop what cannot be a signature: such a turn is unsigned, and the settings say what becomes of it."""
    return value if isinstance(value, str) and len(value) <= MAX_SIGNATURE_CHARACTERS else None


class HistoryEntry(BaseModel):
    """Something that was said before."""

    model_config = ConfigDict(frozen=True, strict=True, hide_input_in_errors=True)

    role: Literal["user", "assistant"] = Field(description="Who said it.")
    content: str = Field(max_length=MAX_HISTORY_CHARACTERS, description="What was said; Markdown in answers.")
    signature: Annotated[str | None, BeforeValidator(_sane_signature), WithJsonSchema({})] = Field(
        None, description="The `signature` that came with this answer. Whatever cannot be one counts as none."
    )


def _balanced(entries: list[HistoryEntry]) -> list[HistoryEntry]:
    answers = sum(entry.role == "assistant" for entry in entries)
    if answers > len(entries) - answers + 1:
        raise PydanticCustomError("unbalanced", "more answers than questions")
    return entries


def _legible(message: str) -> str:
    if not normalise(message).strip():
        raise PydanticCustomError("blank", "only characters that nobody can see")
    return message


class ChatRequest(BaseModel):
    """A question, with what was said before it. Fields that are not named here are dropped."""

    model_config = ConfigDict(frozen=True, strict=True, hide_input_in_errors=True)

    message: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_MESSAGE_CHARACTERS),
        AfterValidator(_legible),
    ] = Field(description="The question. Blank it may not be.", json_schema_extra={"pattern": r"\S"})
    history: Annotated[
        list[HistoryEntry],
        Field(max_length=MAX_HISTORY_ENTRIES),
        AfterValidator(_balanced),
    ] = Field([], description="Earlier turns, oldest first; at most one more answer than questions.")


class SourceLink(BaseModel):
    """A section of the documentation that the answer cites."""

    id: str
    title: str
    url: str


class ChatResponse(BaseModel):
    """An answer."""

    response: str = Field(description="Markdown.")
    sources: list[SourceLink] = Field(description="In the order in which the answer cites them.")
    signature: str = Field(description="Send it back with this answer in `history`. Empty in the demo.")


class Health(BaseModel):
    """What is up, and which version."""

    status: Literal["ok"]
    version: str


class ErrorBody(BaseModel):
    """What every error answers."""

    error: str = Field(description="One sentence that a visitor may read.")
    code: ErrorCode = Field(description="For programs. A code never changes its meaning.")
    requestId: str = Field(description="To be quoted to the operator.")  # noqa: N815 - the wire's name
    retryAfter: int | None = Field(  # noqa: N815 - the wire's name
        None, ge=1, description="Seconds until the daily caps begin anew. Present with these only."
    )


def chat_response(answer: Answer) -> dict[str, object]:
    """Return the answer as the API's JSON."""
    sources = [{"id": source.id, "title": source.title, "url": source.url} for source in answer.sources]
    return {"response": answer.response, "sources": sources, "signature": answer.signature}
