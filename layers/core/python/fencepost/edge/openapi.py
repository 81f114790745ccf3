"""The OpenAPI 3.1 document, generated from the models and the table of errors."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

import fencepost
from fencepost.domain.errors import ErrorCode
from fencepost.edge.errors import ERRORS
from fencepost.edge.models import ChatRequest, ChatResponse, ErrorBody, Health

type Json = dict[str, Any]

_SCHEMAS = "#/components/schemas/{model}"
_MODELS: list[tuple[type[BaseModel], JsonSchemaMode]] = [
    (ChatRequest, "validation"),
    (ChatResponse, "serialization"),
    (ErrorBody, "serialization"),
    (Health, "serialization"),
]
_ANSWERED_ELSEWHERE = frozenset({ErrorCode.METHOD_NOT_ALLOWED, ErrorCode.NOT_FOUND})
"""Codes that no POST to the chat gets."""

_REQUEST_ID: Json = {"X-Request-Id": {"description": "The request's id.", "schema": {"type": "string"}}}
_RETRY_AFTER: Json = {
    "Retry-After": {"description": "Seconds to wait.", "required": True, "schema": {"type": "integer", "minimum": 1}}
}


def openapi_document() -> Json:
    """Return the document as JSON values."""
    _, schemas = models_json_schema(_MODELS, ref_template=_SCHEMAS)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Fencepost",
            "version": fencepost.__version__,
            "description": fencepost.__doc__,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {
            "/api/ai-chat": {"post": _chat()},
            "/health": {"get": _read("health", "What is up, and which version.", _reference(Health))},
            "/openapi.json": {"get": _read("openapi", "This document.", {"type": "object"})},
        },
        "components": {"schemas": schemas["$defs"]},
    }


def _chat() -> Json:
    return {
        "operationId": "chat",
        "summary": "Ask a question about the site's documentation.",
        "description": "Stateless: the client sends what was said before. It costs one call of the model at most.",
        "requestBody": {"required": True, "content": _json(_reference(ChatRequest))},
        "responses": {"200": _response("The answer.", _reference(ChatResponse)), **_failures()},
    }


def _read(operation: str, summary: str, schema: Json) -> Json:
    return {"operationId": operation, "summary": summary, "responses": {"200": _response(summary, schema)}}


def _failures() -> Json:
    codes = [code for code in ERRORS if code not in _ANSWERED_ELSEWHERE]
    statuses = sorted({ERRORS[code].status for code in codes})
    return {
        str(int(status)): _failure([code for code in codes if ERRORS[code].status == status]) for status in statuses
    }


def _failure(codes: Collection[ErrorCode]) -> Json:
    """Describe the codes that share a status."""
    description = "\n".join(f"- `{code}`: {ERRORS[code].sentence}" for code in codes)
    schema = {"allOf": [_reference(ErrorBody)], "properties": {"code": {"enum": [code.value for code in codes]}}}
    waits = all(ERRORS[code].retry_after for code in codes)
    return _response(description, schema, _RETRY_AFTER if waits else {})


def _response(description: str, schema: Json, headers: Json | None = None) -> Json:
    return {"description": description, "headers": {**_REQUEST_ID, **(headers or {})}, "content": _json(schema)}


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _reference(model: type[BaseModel]) -> Json:
    return {"$ref": _SCHEMAS.format(model=model.__name__)}
