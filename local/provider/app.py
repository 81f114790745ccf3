"""The stand-in's ASGI application."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from local.provider.answers import answer
from local.provider.control import Control, Instruction, Orders, from_loopback
from local.provider.errors import ApiError
from local.provider.models import MODELS
from local.provider.replies import EventStream, ProviderReply
from local.provider.requests import MessagesRequest, parse
from local.provider.usage import PromptCache, count_tokens, truncate

_MAX_BODY_BYTES = 32 * 1024 * 1024


def create_app(
    *, api_key: str | None = None, pace: float = 0.0, clock: Callable[[], float] = time.monotonic
) -> Starlette:
    """Return a stand-in with an empty cache and an empty record of calls.

    Args:
        api_key: the accepted key; None accepts any.
        pace: seconds between the events of a streamed answer.
        clock: measures the age of cache entries, in seconds.
    """
    provider = _Provider(api_key, Control(pace), PromptCache(clock))
    return Starlette(
        routes=[
            Route("/v1/messages", provider.messages, methods=["POST"]),
            Route("/health", provider.health),
            Route("/control", provider.control, methods=["POST", "DELETE"]),
            Route("/control/requests", provider.requests),
        ]
    )


class _Provider:
    def __init__(self, api_key: str | None, control: Control, cache: PromptCache) -> None:
        self._api_key = api_key
        self._control = control
        self._cache = cache

    async def messages(self, request: Request) -> Response:
        """Answer one call of the Messages API."""
        try:
            return await self._answered(request, await request.body())
        except ApiError as error:
            return error.response()

    async def health(self, _request: Request) -> Response:
        """Say that the stand-in is up."""
        return JSONResponse({"provider": "stand-in"})

    async def control(self, request: Request) -> Response:
        """Take orders for the calls to come, or forget everything."""
        if not from_loopback(request):
            return Response(status_code=404)
        if request.method == "DELETE":
            self._control.reset()
            self._cache.clear()
            return Response(status_code=204)
        return self._order(request.headers.get("content-type", ""), await request.body())

    async def requests(self, request: Request) -> Response:
        """List the calls received."""
        return JSONResponse(self._control.received()) if from_loopback(request) else Response(status_code=404)

    def _order(self, media_type: str, body: bytes) -> Response:
        # A page in a browser may not send this media type to another origin unasked.
        if media_type.partition(";")[0] != "application/json":
            return Response(status_code=415)
        try:
            self._control.order(Orders.model_validate_json(body))
        except ValidationError as error:
            return JSONResponse({"error": str(error)}, 400)
        return Response(status_code=204)

    async def _answered(self, request: Request, body: bytes) -> Response:
        self._control.record(request.headers, body)
        instruction = self._instruction(request)
        await asyncio.sleep(instruction.delay)
        if instruction.status is not None:
            raise ApiError(instruction.status, instruction.message, instruction.headers)
        self._authenticate(request)
        return await self._respond(_parsed(body), instruction)

    def _instruction(self, request: Request) -> Instruction:
        try:
            return self._control.take(request.headers)
        except ValidationError as error:
            raise ApiError(400, f"x-stand-in: {error}") from None

    def _authenticate(self, request: Request) -> None:
        if "anthropic-version" not in request.headers:
            raise ApiError(400, "anthropic-version: header is required")
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        key = request.headers.get("x-api-key", bearer)
        if not key or self._api_key not in (None, key):
            raise ApiError(401, "invalid x-api-key")

    async def _respond(self, call: MessagesRequest, instruction: Instruction) -> Response:
        usage = self._cache.account(call)
        text = await run_in_threadpool(answer, call) if instruction.text is None else instruction.text
        kept = truncate(text, call.max_tokens)
        reason = instruction.stop_reason or ("end_turn" if kept == text else "max_tokens")
        reply = ProviderReply(f"msg_{time.time_ns():x}", call.model, kept, reason, usage)
        if call.stream:
            pace = self._control.pace if instruction.pace is None else instruction.pace
            return EventStream(reply, instruction, pace)
        return JSONResponse(reply.message())


def _parsed(body: bytes) -> MessagesRequest:
    if len(body) > _MAX_BODY_BYTES:
        raise ApiError(413, "Request exceeds the maximum allowed number of bytes.")
    call = parse(body)
    size = sum(count_tokens(block.text) for block in call.blocks())
    window = MODELS[call.model].context_window
    if size > window:
        raise ApiError(400, f"prompt is too long: {size} tokens > {window} maximum")
    return call
