"""From a request body to a question that may be asked: rows 6 to 9 of the order of checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING

from fencepost.conversations.domain.messages import Question, Turn
from fencepost.http.body import read_object, validated
from fencepost.http.schemas import shown
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.input_limits import MAX_HISTORY_CHARACTERS
from fencepost.model.domain import Role
from fencepost.prompting.domain.history import is_blank
from fencepost.screening.domain.screen import screen
from fencepost.turns.schemas.stateless_chat import ChatRequest, HistoryEntry

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MESSAGE_CODES: Mapping[str, ErrorCode] = MappingProxyType(
    {
        "missing": ErrorCode.MESSAGE_MISSING,
        "string_type": ErrorCode.MESSAGE_NOT_A_STRING,
        "string_too_short": ErrorCode.MESSAGE_BLANK,
        "blank": ErrorCode.MESSAGE_BLANK,
        "string_too_long": ErrorCode.MESSAGE_TOO_LONG,
    }
)
"""What can be wrong with a message, by pydantic's type of failure."""

_CODES: Mapping[tuple[int | str, str], ErrorCode] = MappingProxyType(
    {
        **{("message", failure): code for failure, code in MESSAGE_CODES.items()},
        ("history", "list_type"): ErrorCode.HISTORY_NOT_A_LIST,
        ("history", "too_long"): ErrorCode.HISTORY_TOO_LONG,
        ("role", "literal_error"): ErrorCode.HISTORY_ROLE_INVALID,
        ("content", "string_too_long"): ErrorCode.HISTORY_CONTENT_TOO_LONG,
        ("history", "unbalanced"): ErrorCode.HISTORY_UNBALANCED,
    }
)
"""By the failing field's own name and pydantic's type of failure. All else is a malformed history entry."""


def read_question(body: bytes) -> Question:
    """Read, normalise and screen a request body.

    Raises:
        FencepostError: the first check that fails, in the order of `ErrorCode`.
    """
    request = validated(ChatRequest, read_object(body), _code)
    question = Question(shown(request.message), tuple(map(_turn, request.history)))
    _screen(request)
    return question


def _code(detail: ErrorDetails) -> ErrorCode:
    return _CODES.get((detail["loc"][-1], detail["type"]), ErrorCode.HISTORY_ENTRY_MALFORMED)


def _screen(request: ChatRequest) -> None:
    """Refuse what the screening names, before hidden characters go: they tell much.

    Answers are not looked at: real ones quote such phrases.
    """
    if any(map(screen, _asked(request))):
        raise FencepostError(ErrorCode.INPUT_REFUSED)


def _asked(request: ChatRequest) -> Iterator[str]:
    """Yield each text of the user, and together those that no answer parts: the prompt makes one turn of them."""
    told = (entry for entry in request.history if entry.role == "user" or not is_blank(entry.content))
    turns = [*((entry.role, entry.content) for entry in told), ("user", request.message)]
    for role, run in groupby(turns, key=itemgetter(0)):
        texts = [text for _, text in run] if role == "user" else []
        yield from texts
        if len(texts) > 1:
            yield "\n\n".join(texts)


def _turn(entry: HistoryEntry) -> Turn:
    # An answer stays as it came, or its signature would not hold.
    if entry.role == "assistant":
        return Turn(Role.ASSISTANT, entry.content, entry.signature)
    content = shown(entry.content)
    if len(content) > MAX_HISTORY_CHARACTERS:
        raise FencepostError(ErrorCode.HISTORY_CONTENT_TOO_LONG)
    return Turn(Role.USER, content, entry.signature)
