"""Bodies and queries, read by models. Whatever is wrong with a field answers with a code of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NoReturn

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from fencepost.http.errors import InvalidFields
from fencepost.http.proxy import Request
from fencepost.kernel.errors import ErrorCode, FencepostError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


_MOST_DIGITS = 9

_ORDER = {code: place for place, code in enumerate(ErrorCode)}


class Body(BaseModel):
    """A request's body. Fields that are not named are dropped; no value is taken for another type's."""

    model_config = ConfigDict(frozen=True, strict=True, hide_input_in_errors=True, defer_build=True)


class AdminBody(Body):
    """Something that an admin sets. A name that is unknown is refused: a mistyped setting must not stay unset."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)


class Query(BaseModel):
    """The parameters of an address. Others are refused: a mistyped filter must not list everything."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True)


def digits(value: object) -> object:
    """Refuse, before a number is read from a query, what is not digits and nothing else."""
    if isinstance(value, str) and not (value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS):
        raise ValueError("a whole number in digits is needed")
    return value


def read_content(request: Request) -> dict[str, object]:
    """Return the body's JSON object.

    Raises:
        FencepostError: `body_too_large`, `invalid_json` or `not_an_object`.
    """
    try:
        body = request.body()
    except ValueError:
        raise FencepostError(ErrorCode.INVALID_JSON) from None
    return read_object(body)


def read_body[M: BaseModel](request: Request, model: type[M], code: ErrorCode, **fields: ErrorCode) -> M:
    """Read and validate a body.

    Args:
        request: with the body.
        model: what it should be.
        code: answers what is wrong with any field that `fields` does not name.
        fields: by a field's name on the wire, its own code. Of several failures the first of `ErrorCode` answers.

    Raises:
        FencepostError: as `read_content`, or one of these codes.
    """
    return validated(model, read_content(request), partial(_code, code, fields))


def read_query[M: BaseModel](request: Request, model: type[M], **fields: ErrorCode) -> M:
    """Read and validate the address's parameters.

    Raises:
        FencepostError: `query_invalid`, or the field's own code.
    """
    return validated(model, request.query, partial(_code, ErrorCode.QUERY_INVALID, fields))


def validated[M: BaseModel](
    model: type[M], content: Mapping[str, object], code_of: Callable[[ErrorDetails], ErrorCode]
) -> M:
    """Validate content.

    Args:
        model: of the content.
        content: by names on the wire.
        code_of: returns the code of one failure. Of several failures the first code of `ErrorCode` answers.

    Raises:
        FencepostError: with that code.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        raise FencepostError(min(map(code_of, details), key=_ORDER.__getitem__)) from None


def _code(code: ErrorCode, fields: Mapping[str, ErrorCode], detail: ErrorDetails) -> ErrorCode:
    return fields.get(str(detail["loc"][0]), code) if detail["loc"] else code


_MOST_NAMED: Final = 20


def read_settings[S: AdminBody](request: Request, model: type[S], code: ErrorCode = ErrorCode.ADMIN_INPUT_INVALID) -> S:
    """Read and validate a body of settings.

    Raises:
        FencepostError: `body_too_large`, `invalid_json` or `not_an_object`.
        InvalidFields: with the code, naming what is wrong.
    """
    content = read_content(request)
    try:
        return model.model_validate(content)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        places = dict.fromkeys(map(_place, details))
        raise InvalidFields(code, list(places)[:_MOST_NAMED]) from None


def _place(detail: ErrorDetails) -> str:
    """Return a field's place, e.g. `origins.0`. An unknown one's name is the client's and is not repeated."""
    place = list(map(str, detail["loc"]))
    if detail["type"] == "extra_forbidden":
        place[-1] = "(unknown)"
    return ".".join(place)


MAX_BODY_BYTES = 2 * 1024 * 1024
MAX_DEPTH = 64

# Possessive, and content with a missing end quote: linear in the length, whatever the input.
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_NO_BRACKET = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def read_object(body: bytes) -> dict[str, Any]:
    """Parse a JSON object in UTF-8.

    Refused as well: duplicate keys, `NaN` and `Infinity`, lone surrogates, a byte order mark and nesting over
    `MAX_DEPTH`.

    Raises:
        FencepostError: `body_too_large`, `invalid_json` or `not_an_object`.
    """
    if len(body) > MAX_BODY_BYTES:
        raise FencepostError(ErrorCode.BODY_TOO_LARGE)
    try:
        value = _parse(body)
    except ValueError:
        # The parser's message quotes the input: it goes no further.
        raise FencepostError(ErrorCode.INVALID_JSON) from None
    if not isinstance(value, dict):
        raise FencepostError(ErrorCode.NOT_AN_OBJECT)
    return value


def _parse(body: bytes) -> object:
    # Before parsing, since the parser recurses.
    if _depth(body) > MAX_DEPTH:
        raise ValueError("nested too deep")
    value: object = json.loads(
        body.decode("utf-8"),
        object_pairs_hook=_unique,
        parse_constant=_refuse,
        # No field is a number, and reading a long integer exactly takes quadratic time.
        parse_int=float,
    )
    # A lone surrogate, escaped in the input, cannot be encoded again.
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def _depth(body: bytes) -> int:
    brackets = _STRING.sub(b"", body).translate(None, _NO_BRACKET)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("duplicate key")
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
