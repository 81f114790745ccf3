"""Bodies and queries, read by models. Whatever is wrong with a field answers with a code of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from fencepost.http.errors import InvalidFields
from fencepost.http.proxy import Request
from fencepost.http.strict_json import read_object
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
