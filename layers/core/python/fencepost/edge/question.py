"""From a request body to a question that may be asked: rows 6 to 9 of the order of checks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from pydantic import ValidationError

from fencepost.domain.conversation import Question, Role, Turn
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.screening import screen
from fencepost.domain.text import normalise
from fencepost.edge.models import ChatRequest, HistoryEntry
from fencepost.edge.strict_json import read_object

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_CODES: Mapping[tuple[int | str, str], ErrorCode] = MappingProxyType(
    {
        ("message", "missing"): ErrorCode.MESSAGE_MISSING,
        ("message", "string_type"): ErrorCode.MESSAGE_NOT_A_STRING,
        ("message", "string_too_short"): ErrorCode.MESSAGE_BLANK,
        ("message", "blank"): ErrorCode.MESSAGE_BLANK,
        ("message", "string_too_long"): ErrorCode.MESSAGE_TOO_LONG,
        ("history", "list_type"): ErrorCode.HISTORY_NOT_A_LIST,
        ("history", "too_long"): ErrorCode.HISTORY_TOO_LONG,
        ("role", "literal_error"): ErrorCode.HISTORY_ROLE_INVALID,
        ("content", "string_too_long"): ErrorCode.HISTORY_CONTENT_TOO_LONG,
        ("history", "unbalanced"): ErrorCode.HISTORY_UNBALANCED,
    }
)
"""By the failing field's own name and pydantic's type of failure. All else is a malformed history entry."""

_ORDER = {code: place for place, code in enumerate(ErrorCode)}


def read_question(body: bytes) -> Question:
    """Read, normalise and screen a request body.

    Raises:
        FencepostError: the first check that fails, in the order of `ErrorCode`.
    """
    request = _validate(read_object(body))
    _screen(request)
    return Question(_shown(request.message), tuple(map(_turn, request.history)))


def _validate(content: Mapping[str, object]) -> ChatRequest:
    try:
        return ChatRequest.model_validate(content)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        raise FencepostError(min(map(_code, details), key=_ORDER.__getitem__)) from None


def _code(detail: ErrorDetails) -> ErrorCode:
    return _CODES.get((detail["loc"][-1], detail["type"]), ErrorCode.HISTORY_ENTRY_MALFORMED)


def _screen(request: ChatRequest) -> None:
    """Refuse what the screening names, before hidden characters go: they tell much.

    Answers are not looked at: real ones quote such phrases.
    """
    asked = (entry.content for entry in request.history if _is_users(entry))
    if any(screen(text) for text in (request.message, *asked)):
        raise FencepostError(ErrorCode.INPUT_REFUSED)


def _turn(entry: HistoryEntry) -> Turn:
    # An answer stays as it came, or its signature would not hold.
    content = _shown(entry.content) if _is_users(entry) else entry.content
    return Turn(Role(entry.role), content, entry.signature)


def _is_users(entry: HistoryEntry) -> bool:
    return entry.role == "user"


def _shown(text: str) -> str:
    return normalise(text).strip()
