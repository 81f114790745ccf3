"""The front door: serves the demo page at `/` and forwards every other path unchanged to the deployed API.

Under `/_local/` it also serves the stand-ins for the model's provider, a documentation site and an OpenID provider.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import httpx
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from local.parameters import CONCURRENCY, ISSUER_PATH, PROVIDER_PATH, SITE_PATH

_HERE = Path(__file__).resolve().parent
# The emulator waits for a function that starts, and several that start together share this machine's processor.
_TIMEOUT = httpx.Timeout(90.0, connect=5.0)
_QUEUE_SECONDS = 25.0
# A connection serves one request: on one that is kept, a request can meet the emulator's closing it, and a question
# that was sent is not for us to send again.
_LIMITS = httpx.Limits(max_keepalive_connections=0)

# API Gateway's quotas: the payload, and the request line with the headers.
_LARGEST_BODY_BYTES = 10 * 1024 * 1024
_LONGEST_TARGET_BYTES = 10_240

# RFC 9110, section 7.6.1: they concern one connection and are never passed on.
_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade".split()
)
# Where a client could claim another address, and the emulator's own controls.
_CLAIMS = (
    b"x-forwarded-",
    b"forwarded",
    b"x-real-ip",
    b"cloudfront-",
    b"x-fencepost-edge",
    b"x-ministack-",
    b"true-client-ip",
)

RawHeaders = list[tuple[bytes, bytes]]


class _Refused(Exception):
    """A request that is not forwarded, with the response that says why."""

    def __init__(self, status: int, code: str, sentence: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        body = {"error": sentence, "code": code, "requestId": str(uuid.uuid4())}
        self.answer = JSONResponse(body, status, headers)


def _client() -> httpx.AsyncClient:
    return httpx.AsyncClient(timeout=_TIMEOUT, limits=_LIMITS, trust_env=False)


@dataclass
class Gateway:
    """ASGI application that forwards requests of every method to the deployed API, once the API is deployed.

    Attributes:
        hosts: accepted `Host` values. Any other is DNS rebinding: a page's own name that resolves to this machine.
        api_url: address of the API; None while it is being deployed.
        client: HTTP client for the API.
        turns: semaphore that bounds the concurrent requests to the API.
    """

    hosts: frozenset[str]
    api_url: str | None = None
    client: httpx.AsyncClient = field(default_factory=_client)
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(CONCURRENCY))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or say why not; a client that leaves is told nothing."""
        with contextlib.suppress(ClientDisconnect):
            try:
                # Read first: only a request that is complete, and one that can be sent, takes a permit.
                outgoing = await self._outgoing(Request(scope, receive))
                async with self._turn(), self._sent(outgoing) as answer:
                    await answer(scope, receive, send)
            except _Refused as refused:
                await refused.answer(scope, receive, send)

    async def _outgoing(self, request: Request) -> httpx.Request:
        if request.headers.get("host") not in self.hosts:
            raise _Refused(421, "misdirected", "This server answers under its own name only.")
        if self.api_url is None:
            raise _Refused(503, "starting", "Fencepost is being deployed; try again shortly.", {"Retry-After": "5"})
        url = _target(request, httpx.URL(self.api_url))
        # Built without the client, which would add headers.
        sent = _end_to_end(request.headers.raw)
        # The client's address is the TCP peer's. Headers that claim another one are dropped.
        headers = [(name, value) for name, value in sent if not name.lower().startswith(_CLAIMS)]
        peer = request.client.host if request.client else "127.0.0.1"
        headers.append((b"x-forwarded-for", peer.encode("ascii")))
        return httpx.Request(request.method, url, headers=headers, content=await _body(request))

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        try:
            await asyncio.wait_for(self.turns.acquire(), _QUEUE_SECONDS)
        except TimeoutError:
            sentence = "The local cloud is busy; try again shortly."
            raise _Refused(503, "busy", sentence, {"Retry-After": "5"}) from None
        try:
            yield
        finally:
            self.turns.release()

    @asynccontextmanager
    async def _sent(self, outgoing: httpx.Request) -> AsyncIterator[Response]:
        try:
            upstream = await self.client.send(outgoing, stream=True)
        except httpx.ReadTimeout:
            raise _Refused(504, "timeout", "The local cloud has not answered in time; its log may say why.") from None
        except httpx.HTTPError:
            sentence = "The local cloud does not answer; its log may say why."
            raise _Refused(502, "unreachable", sentence) from None
        async with contextlib.aclosing(upstream):
            answer = StreamingResponse(upstream.aiter_raw(), upstream.status_code)
            answer.raw_headers = _end_to_end(upstream.headers.raw)
            yield answer


def create_app(gateway: Gateway, provider: ASGIApp | None, issuer: ASGIApp | None = None) -> Starlette:
    """Return the application.

    Args:
        gateway: the deployed API.
        provider: the stand-in for the provider; None with a real provider.
        issuer: the stand-in for the OpenID provider.
    """
    routes = [
        Route("/", _page),
        Mount("/_local/demo", StaticFiles(directory=_HERE / "demo")),
        Mount(SITE_PATH, _SampleSite(directory=_HERE / "sample_site")),
        *([Mount(PROVIDER_PATH, provider)] if provider else []),
        *([Mount(ISSUER_PATH, issuer)] if issuer else []),
        Route("/{path:path}", gateway),
    ]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with gateway.client:
            yield

    return Starlette(routes=routes, lifespan=lifespan)


class _SampleSite(StaticFiles):
    """Serves the sample documentation: its files, and a page with the section that an address names."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file, or the page."""
        return await super().get_response(path if path in ("llms-full.txt", "page.js") else "page.html", scope)


async def _page(_: Request) -> Response:
    return FileResponse(_HERE / "demo" / "index.html", headers={"Cache-Control": "no-store"})


def _target(request: Request, base: httpx.URL) -> httpx.URL:
    path, query = request.scope["raw_path"], request.scope["query_string"]
    if any(unquote(segment) in (".", "..") for segment in path.decode("ascii").split("/")):
        raise _Refused(400, "invalid_path", "The path must not contain dot segments.")
    # A REST API hands over the path as it came, the emulator decodes it: encoded twice, it arrives encoded.
    path = path.replace(b"%", b"%25")
    if len(path) + len(query) > _LONGEST_TARGET_BYTES:
        raise _Refused(414, "path_too_long", f"Path and query must not exceed {_LONGEST_TARGET_BYTES} bytes.")
    try:
        return base.copy_with(raw_path=base.raw_path + path + (b"?" + query if query else b""))
    except httpx.InvalidURL:
        raise _Refused(400, "invalid_path", "The path is not one that a URL can have.") from None


async def _body(request: Request) -> bytes:
    _check_size(int(request.headers.get("content-length", "0")))
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        _check_size(len(body))
    return bytes(body)


def _check_size(size: int) -> None:
    """Refuse a body that is too large. The rest of it is not read, so the connection is closed."""
    if size > _LARGEST_BODY_BYTES:
        sentence = f"The body must not exceed {_LARGEST_BODY_BYTES} bytes."
        raise _Refused(413, "body_too_large", sentence, {"Connection": "close"})


def _end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> RawHeaders:
    return [(name, value) for name, value in headers if name.lower() not in _HOP_BY_HOP]
