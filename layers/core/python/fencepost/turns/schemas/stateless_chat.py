"""Request and response models of `POST /api/ai-chat`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from fencepost.conversations.domain.messages import Answer
from fencepost.http.schemas import shown
from fencepost.kernel.input_limits import (
    MAX_HISTORY_CHARACTERS,
    MAX_HISTORY_ENTRIES,
    MAX_MESSAGE_CHARACTERS,
    MAX_SIGNED_CHARACTERS,
)

MAX_SIGNATURE_CHARACTERS = 256


def _sane_signature(value: object) -> object:
    """Return None for a value that cannot be a signature: the entry is unsigned, and the settings decide on it."""
    return value if isinstance(value, str) and len(value) <= MAX_SIGNATURE_CHARACTERS else None


def _bounded(content: str, info: ValidationInfo) -> str:
    """Allow the length of our own answers to signed answers only. The signature itself is verified later."""
    signed = info.data.get("role") == "assistant" and info.data.get("signature")
    if len(content) > MAX_HISTORY_CHARACTERS and not signed:
        raise PydanticCustomError("string_too_long", "longer than an unsigned entry may be")
    return content


class HistoryEntry(BaseModel):
    """An earlier message."""

    model_config = ConfigDict(frozen=True, strict=True, hide_input_in_errors=True)

    role: Literal["user", "assistant"] = Field(description="Author of the message.")
    signature: Annotated[str | None, BeforeValidator(_sane_signature), WithJsonSchema({})] = Field(
        None, description="The `signature` that came with this answer. Malformed values are ignored."
    )
    # Validated after `role` and `signature`, on which its bound depends.
    content: Annotated[str, Field(max_length=MAX_SIGNED_CHARACTERS), AfterValidator(_bounded)] = Field(
        description=f"Text of the message; Markdown in answers. At most {MAX_HISTORY_CHARACTERS:,} characters, after "
        "Unicode's compatibility normalisation (NFKC) too; "
        f"{MAX_SIGNED_CHARACTERS:,} in an answer with its own `signature`."
    )


def _balanced(entries: list[HistoryEntry]) -> list[HistoryEntry]:
    answers = sum(entry.role == "assistant" for entry in entries)
    if answers > len(entries) - answers + 1:
        raise PydanticCustomError("unbalanced", "more answers than questions")
    return entries


def _legible(message: str) -> str:
    legible = shown(message)
    if not legible:
        raise PydanticCustomError("blank", "only characters that nobody can see")
    if len(legible) > MAX_MESSAGE_CHARACTERS:
        raise PydanticCustomError("string_too_long", "too long once normalised")
    return message


QuestionText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_MESSAGE_CHARACTERS),
    AfterValidator(_legible),
    Field(
        description="The question. Not blank, and within the limit after Unicode's compatibility normalisation (NFKC).",
        json_schema_extra={"pattern": r"\S"},
    ),
]
"""The message of both chats, as the client wrote it: it is screened before it is normalised."""


class ChatRequest(BaseModel):
    """A question with its history. Unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, strict=True, hide_input_in_errors=True)

    message: QuestionText
    history: Annotated[
        list[HistoryEntry],
        Field(max_length=MAX_HISTORY_ENTRIES),
        AfterValidator(_balanced),
    ] = Field([], description="Earlier messages, oldest first; at most one more answer than questions.")


class SourceLink(BaseModel):
    """A section of the documentation that the answer cites."""

    id: str
    title: str
    url: str


class ChatResponse(BaseModel):
    """An answer."""

    response: str = Field(description="Markdown.")
    sources: list[SourceLink] = Field(description="In the order in which the answer cites them.")
    signature: str = Field(description="Send it with this answer in `history`. Empty in the demo.")


def chat_response(answer: Answer) -> dict[str, object]:
    """Return the JSON values of an answer."""
    sources = [{"id": source.id, "title": source.title, "url": source.url} for source in answer.sources]
    return {"response": answer.response, "sources": sources, "signature": answer.signature}
