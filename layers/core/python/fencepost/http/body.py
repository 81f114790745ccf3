"""Request bodies and query parameters: strict JSON, validated by pydantic models, with an error code for each field.

read_content    the body as a JSON object
read_body       a body as a model, with one error code for each field
read_settings   a body of settings as a model, with one error that names the invalid fields
read_query      query parameters as a model
"""

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


MAX_BODY_BYTES = 2 * 1024 * 1024
MAX_DEPTH = 64
_MAX_DIGITS: Final = 9
_MAX_NAMED_FIELDS: Final = 20
_PRECEDENCE = {code: position for position, code in enumerate(ErrorCode)}

# Possessive, and content with a missing end quote: linear in the length, whatever the input.
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_NO_BRACKET = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


class Body(BaseModel):
    """Base of request bodies. Unknown fields are ignored; values are not coerced between types."""

    model_config = ConfigDict(frozen=True, strict=True, hide_input_in_errors=True, defer_build=True)


class AdminBody(Body):
    """Base of settings bodies. Unknown fields are refused: a mistyped setting must not stay unset."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)


class Query(BaseModel):
    """Base of query parameters. Unknown ones are refused: a mistyped filter must not list everything."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True)


def digits(value: object) -> object:
    """Check, before pydantic parses a number of a query, that the text has ASCII digits only.

    Raises:
        ValueError: it has other characters, or more than nine digits.
    """
    if isinstance(value, str) and not (value.isascii() and value.isdigit() and len(value) <= _MAX_DIGITS):
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
        request: the request.
        model: the body's model.
        code: the error of invalid fields that `fields` does not name.
        fields: error codes by the field's name in JSON. Of several failures, the first of `ErrorCode` is raised.

    Raises:
        FencepostError: as `read_content`, or with one of these codes.
    """
    return validated(model, read_content(request), partial(_field_code, code, fields))


def read_settings[S: AdminBody](request: Request, model: type[S], code: ErrorCode = ErrorCode.ADMIN_INPUT_INVALID) -> S:
    """Read and validate a body of settings.

    Raises:
        FencepostError: `body_too_large`, `invalid_json` or `not_an_object`.
        InvalidFields: with the code and the names of the invalid fields.
    """
    return validated(model, read_content(request), lambda _: code, names_fields=True)


def read_query[M: BaseModel](request: Request, model: type[M], **fields: ErrorCode) -> M:
    """Read and validate the query parameters.

    Args:
        request: the request.
        model: the parameters' model.
        fields: error codes by the parameter's name, instead of `query_invalid`.

    Raises:
        FencepostError: `query_invalid`, or the parameter's code.
    """
    return validated(model, request.query, partial(_field_code, ErrorCode.QUERY_INVALID, fields))


def validated[M: BaseModel](
    model: type[M],
    content: Mapping[str, object],
    code_of: Callable[[ErrorDetails], ErrorCode],
    *,
    names_fields: bool = False,
) -> M:
    """Validate JSON content with a model.

    Args:
        model: the content's model.
        content: values by their names in JSON.
        code_of: returns the error code of one failure. Of several failures, the first code of `ErrorCode` is raised.
        names_fields: the error also names the invalid fields.

    Raises:
        FencepostError: with that code; an `InvalidFields` where `names_fields` is set.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        code = min(map(code_of, details), key=_PRECEDENCE.__getitem__)
        if not names_fields:
            raise FencepostError(code) from None
        raise InvalidFields(code, list(dict.fromkeys(map(_field_path, details)))[:_MAX_NAMED_FIELDS]) from None


def _field_code(code: ErrorCode, fields: Mapping[str, ErrorCode], detail: ErrorDetails) -> ErrorCode:
    return fields.get(str(detail["loc"][0]), code) if detail["loc"] else code


def _field_path(detail: ErrorDetails) -> str:
    """Return a field's path, e.g. `origins.0`. The name of an unknown field is client input and is not repeated."""
    path = list(map(str, detail["loc"]))
    if detail["type"] == "extra_forbidden":
        path[-1] = "(unknown)"
    return ".".join(path)


def read_object(body: bytes) -> dict[str, Any]:
    """Parse a JSON object in UTF-8.

    Stricter than `json`: refuses duplicate keys, `NaN` and `Infinity`, lone surrogates, a byte order mark, and nesting
    deeper than `MAX_DEPTH`.

    Raises:
        FencepostError: `body_too_large`, `invalid_json` or `not_an_object`.
    """
    if len(body) > MAX_BODY_BYTES:
        raise FencepostError(ErrorCode.BODY_TOO_LARGE)
    try:
        value = _parse(body)
    except ValueError:
        # The parser's message quotes the input, so it is dropped.
        raise FencepostError(ErrorCode.INVALID_JSON) from None
    if not isinstance(value, dict):
        raise FencepostError(ErrorCode.NOT_AN_OBJECT)
    return value


def _parse(body: bytes) -> object:
    # Checked before parsing, since the parser recurses.
    if _depth(body) > MAX_DEPTH:
        raise ValueError("nested too deep")
    value: object = json.loads(
        body.decode("utf-8"),
        object_pairs_hook=_unique,
        parse_constant=_refuse,
        # No field is an integer of arbitrary length, and parsing a long one exactly takes quadratic time.
        parse_int=float,
    )
    # Encoding fails for a lone surrogate, which JSON can escape.
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def _depth(body: bytes) -> int:
    """Return the deepest nesting of brackets outside strings."""
    brackets = _STRING.sub(b"", body).translate(None, _NO_BRACKET)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("duplicate key")
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
