"""The OpenAPI 3.1 document, generated from the table of routes, its models, and the table of errors."""

from __future__ import annotations

import re
from collections.abc import Collection
from http import HTTPStatus
from typing import Any
from zlib import crc32

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

import fencepost
from fencepost.http.body import Query
from fencepost.http.errors import ERRORS
from fencepost.http.routing import Route
from fencepost.http.schemas import ErrorBody, Health
from fencepost.kernel.errors import ErrorCode
from fencepost.turns.schemas.turns import IDEMPOTENCY_KEY
from fencepost.web.routes import ROUTES

type Json = dict[str, Any]
type Codes = tuple[ErrorCode, ...]

_SCHEMAS = "#/components/schemas/{model}"
_WORD: Json = {"type": "string", "pattern": "^[!-~]{1,255}$"}
"""Schema of path parameters. Any other value is answered with `not_found`."""
_ORGANISATION: Json = {
    "name": "X-Org-Id",
    "in": "header",
    "description": "The organisation that a member acts in, where the token chooses another one, or none.",
    "schema": {"type": "string", "pattern": "^([a-z0-9][a-z0-9-]{0,62})?$"},
}
_KEY: Json = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "The client's own, for this very wish: a retry under the same key gets what was made for it.",
    "schema": {"type": "string", "pattern": f"^{IDEMPOTENCY_KEY}$"},
}
_REQUEST_ID: Json = {"X-Request-Id": {"description": "The request's id.", "schema": {"type": "string"}}}
_RETRY_AFTER: Json = {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}
_CHALLENGE: Json = {
    "WWW-Authenticate": {"description": "`Bearer`.", "required": True, "schema": {"type": "string"}},
}


def openapi_document() -> Json:
    """Return the document as JSON values."""
    schemas = models_json_schema(_models(), ref_template=_SCHEMAS)[1]["$defs"]
    failures = sorted(
        {row for route in ROUTES for row in _by_status(route.possible_errors)},
        key=lambda row: (row[0], len(row[1]), row[1]),
    )
    meanings = "\n".join(f"- `{code}` ({row.status}): {row.sentence}" for code, row in ERRORS.items())
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Fencepost",
            "version": fencepost.__version__,
            "description": fencepost.__doc__,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": _paths(),
        "components": {
            "responses": {_name(status, codes): _failure(codes) for status, codes in failures},
            "schemas": {**schemas, "ErrorCode": {**schemas["ErrorCode"], "description": meanings}},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                    "description": "A visitor's, from `POST /v1/visitors`, or a member's, from the OpenID provider.",
                }
            },
        },
    }


def _models() -> list[tuple[type[BaseModel], JsonSchemaMode]]:
    requests: set[type[BaseModel]] = {route.request for route in ROUTES if route.request}
    responses: set[type[BaseModel]] = {model for route in ROUTES for model in route.responses.values() if model}
    models: list[tuple[type[BaseModel], JsonSchemaMode]] = [(model, "validation") for model in requests]
    responses |= {ErrorBody, Health}
    models += [(model, "serialization") for model in responses]
    return sorted(models, key=lambda row: row[0].__name__)


def _paths() -> Json:
    paths: Json = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    paths["/health"] = {
        "get": _meta_operation("health", "Read the status and version of the deployment.", _reference(Health))
    }
    paths["/openapi.json"] = {"get": _meta_operation("openapi", "Read this document.", {"type": "object"})}
    return paths


def _operation(route: Route[...]) -> Json:
    described: Json = {
        "operationId": route.operation_id,
        "summary": route.summary,
        "parameters": _parameters(route),
        "responses": {
            **{
                str(int(status)): _response(route.summary, None if model is None else _reference(model))
                for status, model in route.responses.items()
            },
            **{str(status): _shared(_name(status, codes)) for status, codes in _by_status(route.possible_errors)},
        },
    }
    if route.request:
        described["requestBody"] = {"required": not route.optional_body, "content": _json(_reference(route.request))}
    if not route.public:
        described["security"] = [{"token": []}]
    return described


def _parameters(route: Route[...]) -> list[Json]:
    names = re.findall(r"\{(\w+)\}", route.path)
    parameters: list[Json] = [{"name": name, "in": "path", "required": True, "schema": _WORD} for name in names]
    parameters += _query(route.query) if route.query else []
    parameters += [_KEY] if route.idempotent else []
    return parameters if route.public else [*parameters, _ORGANISATION]


def _query(query: type[Query]) -> list[Json]:
    properties = query.model_json_schema()["properties"]
    return [{"name": name, "in": "query", "schema": _present(schema)} for name, schema in properties.items()]


def _present(schema: Json) -> Json:
    """Return the schema of a parameter that is present, without the null of an absent one."""
    present = [part for part in schema.get("anyOf", []) if part != {"type": "null"}]
    kept = {name: value for name, value in schema.items() if name not in {"anyOf", "title"} and value is not None}
    return {**kept, **present[0]} if present else kept


def _meta_operation(operation_id: str, summary: str, schema: Json) -> Json:
    """Describe a route of the meta function, which takes no parameters and returns no errors."""
    return {"operationId": operation_id, "summary": summary, "responses": {"200": _response(summary, schema)}}


def _by_status(errors: Collection[ErrorCode]) -> list[tuple[int, Codes]]:
    """Return the codes by status: statuses ascending, codes in the order of `ERRORS`."""
    statuses = sorted({ERRORS[code].status for code in errors})
    return [
        (int(status), tuple(code for code in ERRORS if code in errors and ERRORS[code].status == status))
        for status in statuses
    ]


def _name(status: int, codes: Codes) -> str:
    """Return the name of the shared response for these codes, e.g. `NotFound1a2b3c4d`."""
    return f"{HTTPStatus(status).name.title().replace('_', '')}{crc32(' '.join(codes).encode()):08x}"


def _failure(codes: Codes) -> Json:
    """Describe the codes that share a status. The schema of `ErrorCode` lists what each code means."""
    schema = {"allOf": [_reference(ErrorBody)], "properties": {"code": {"enum": [code.value for code in codes]}}}
    waits = [bool(ERRORS[code].retry_after) for code in codes]
    headers = {"Retry-After": {**_RETRY_AFTER, "required": all(waits)}} if any(waits) else {}
    challenged = ErrorCode.TOKEN_INVALID in codes
    return _response("See the codes.", schema, {**headers, **(_CHALLENGE if challenged else {})})


def _response(description: str, schema: Json | None, headers: Json | None = None) -> Json:
    response: Json = {"description": description, "headers": {**_REQUEST_ID, **(headers or {})}}
    return response if schema is None else {**response, "content": _json(schema)}


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _shared(name: str) -> Json:
    return {"$ref": f"#/components/responses/{name}"}


def _reference(model: type[BaseModel]) -> Json:
    return {"$ref": _SCHEMAS.format(model=model.__name__)}
