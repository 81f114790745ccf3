"""Read and screen the message, and the history, that a client sends to be answered."""

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
"""Error codes of an invalid message, by pydantic's type of failure."""
MESSAGE_ERRORS = (*dict.fromkeys(MESSAGE_CODES.values()), ErrorCode.INPUT_REFUSED)

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
"""Error codes by the failing field's name and pydantic's type of failure. Other failures: a malformed history entry."""
HISTORY_ERRORS = (
    ErrorCode.HISTORY_NOT_A_LIST,
    ErrorCode.HISTORY_TOO_LONG,
    ErrorCode.HISTORY_ENTRY_MALFORMED,
    ErrorCode.HISTORY_ROLE_INVALID,
    ErrorCode.HISTORY_CONTENT_TOO_LONG,
    ErrorCode.HISTORY_UNBALANCED,
    ErrorCode.HISTORY_UNSIGNED,
)


def read_question(body: bytes) -> Question:
    """Parse, validate, normalise and screen the body of the stateless chat.

    The user's texts are screened as they were sent, since hidden characters are evidence. Answers are not screened:
    real ones quote such phrases.

    Raises:
        FencepostError: the first check that fails, in the order of `ErrorCode`.
    """
    request = validated(ChatRequest, read_object(body), _code)
    question = Question(shown(request.message), tuple(map(_turn, request.history)))
    if any(map(screen, _user_texts(request))):
        raise FencepostError(ErrorCode.INPUT_REFUSED)
    return question


def _code(detail: ErrorDetails) -> ErrorCode:
    return _CODES.get((detail["loc"][-1], detail["type"]), ErrorCode.HISTORY_ENTRY_MALFORMED)


def _user_texts(request: ChatRequest) -> Iterator[str]:
    """Yield each text of the user, and consecutive ones joined as well: the prompt makes one turn of them."""
    entries = (entry for entry in request.history if entry.role == "user" or not is_blank(entry.content))
    turns = [*((entry.role, entry.content) for entry in entries), ("user", request.message)]
    for role, run in groupby(turns, key=itemgetter(0)):
        texts = [text for _, text in run] if role == "user" else []
        yield from texts
        if len(texts) > 1:
            yield "\n\n".join(texts)


def _turn(entry: HistoryEntry) -> Turn:
    # An answer keeps the text that its signature covers.
    if entry.role == "assistant":
        return Turn(Role.ASSISTANT, entry.content, entry.signature)
    content = shown(entry.content)
    if len(content) > MAX_HISTORY_CHARACTERS:
        raise FencepostError(ErrorCode.HISTORY_CONTENT_TOO_LONG)
    return Turn(Role.USER, content, entry.signature)
