"""What the OpenAPI document says of one route, and the codes that many routes share."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple

from pydantic import BaseModel

from fencepost.http.body import Query
from fencepost.kernel.errors import ErrorCode

type OperationAnswers = Mapping[HTTPStatus, type[BaseModel] | None]

ANY_REQUEST = (
    ErrorCode.REQUEST_REFUSED,
    ErrorCode.ORIGIN_NOT_ALLOWED,
    ErrorCode.RATE_LIMITED_MINUTE,
    ErrorCode.RATE_LIMITED_DAY,
    ErrorCode.RATE_LIMIT_UNAVAILABLE,
    ErrorCode.THROTTLED,
    ErrorCode.MISCONFIGURED,
    ErrorCode.INTERNAL_ERROR,
)
"""The gateway's and the guard's, and our own faults."""
WITH_BODY = (
    ErrorCode.UNSUPPORTED_MEDIA_TYPE,
    ErrorCode.BODY_TOO_LARGE,
    ErrorCode.INVALID_JSON,
    ErrorCode.NOT_AN_OBJECT,
)
WITH_TOKEN = (
    ErrorCode.TOKEN_MISSING,
    ErrorCode.TOKEN_INVALID,
    ErrorCode.TOKEN_EXPIRED,
    ErrorCode.IDENTITY_UNAVAILABLE,
    ErrorCode.ORGANISATION_MISSING,
    ErrorCode.NOT_FOUND,
    ErrorCode.CONVERSATIONS_UNAVAILABLE,
)
"""Also of a store that does not answer, and of whatever is not the caller's own."""
ANSWERING = (
    ErrorCode.DAILY_CALLS_EXHAUSTED,
    ErrorCode.DAILY_SPEND_EXHAUSTED,
    ErrorCode.LEDGER_UNAVAILABLE,
    ErrorCode.PROMPT_TOO_LARGE,
    ErrorCode.PROVIDER_OVERLOADED,
    ErrorCode.PROVIDER_TIMEOUT,
    ErrorCode.PROVIDER_REFUSED,
    ErrorCode.PROVIDER_CONTEXT_OVERFLOW,
    ErrorCode.PROVIDER_TRUNCATED,
    ErrorCode.PROVIDER_REJECTED,
    ErrorCode.PROVIDER_FAILED,
)
"""Of the caps, the prompt and the model."""


class Operation(NamedTuple):
    """One route as clients are told of it.

    Attributes:
        name: unique; generated clients call it so.
        answers: what is sent for each status that is no error; None is an empty answer.
        sends: the body, where there is one.
        query: the parameters of the address.
        codes: the errors of its own, beside those that come with a body, a query and a token.
        public: no token is asked for.
        optional: the body may be left out.
        keyed: a client may send a key of its own, so that a retry does nothing twice.
    """

    method: str
    path: str
    name: str
    summary: str
    answers: OperationAnswers
    sends: type[BaseModel] | None = None
    query: type[Query] | None = None
    codes: tuple[ErrorCode, ...] = ()
    public: bool = False
    optional: bool = False
    keyed: bool = False

    @property
    def models(self) -> tuple[type[BaseModel], ...]:
        """What is sent back, by its models."""
        return tuple(model for model in self.answers.values() if model)

    @property
    def errors(self) -> frozenset[ErrorCode]:
        """All codes that the route may answer with."""
        own = {*self.codes, *ANY_REQUEST}
        own |= {*WITH_BODY} if self.sends else set()
        own |= {ErrorCode.QUERY_INVALID} if self.query else set()
        own |= {ErrorCode.IDEMPOTENCY_KEY_INVALID} if self.keyed else set()
        return frozenset(own | (set() if self.public else {*WITH_TOKEN}))


def ok(model: type[BaseModel]) -> OperationAnswers:
    """Answer what was asked for."""
    return {HTTPStatus.OK: model}


def created(model: type[BaseModel]) -> OperationAnswers:
    """Answer what was made."""
    return {HTTPStatus.CREATED: model}


def accepted(model: type[BaseModel]) -> OperationAnswers:
    """Answer what goes on in the background."""
    return {HTTPStatus.ACCEPTED: model}
