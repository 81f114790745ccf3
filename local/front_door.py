"""The front door: the demo page at `/`, and every other path passed on to the deployed API as it came.

It also serves what stands in for the world outside: the provider and a documentation site, both under `/_local/`.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from local.parameters import CONCURRENCY, PROVIDER_PATH, SITE_PATH

_HERE = Path(__file__).resolve().parent
# Longer than any answer of the API: the gateway gives up after 29 s.
_TIMEOUT = httpx.Timeout(40.0, connect=5.0)
_QUEUE_SECONDS = 25.0

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


@dataclass
class Gateway:
    """The deployed API, as soon as there is one.

    Attributes:
        hosts: the `Host` values that are ours. Another is a page that had its own name point at this machine.
        api_url: where the API answers; None while it is being deployed.
    """

    hosts: frozenset[str]
    api_url: str | None = None
    client: httpx.AsyncClient = field(default_factory=lambda: httpx.AsyncClient(timeout=_TIMEOUT, trust_env=False))
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(CONCURRENCY))

    async def handle(self, request: Request) -> Response:
        """Pass a request on, or say why not."""
        if request.headers.get("host") not in self.hosts:
            return _refusal(421, "misdirected", "This server answers under its own name only.")
        if any(unquote(segment) in (".", "..") for segment in request.scope["raw_path"].decode("ascii").split("/")):
            return _refusal(400, "invalid_path", "The path must not contain dot segments.")
        if self.api_url is None:
            return _refusal(503, "starting", "Fencepost is being deployed; try again shortly.", retry_after=5)
        try:
            await asyncio.wait_for(self.turns.acquire(), _QUEUE_SECONDS)
        except TimeoutError:
            return _refusal(503, "busy", "The local cloud is busy; try again shortly.", retry_after=5)
        return await self._pass_on(request, self.api_url)

    async def _pass_on(self, request: Request, api_url: str) -> Response:
        try:
            upstream = await self.client.send(await _outgoing(request, api_url), stream=True)
        except httpx.HTTPError:
            self.turns.release()
            return _refusal(502, "unreachable", "The local cloud does not answer; its log may say why.")
        answer = StreamingResponse(self._relay(upstream), upstream.status_code)
        answer.raw_headers = _end_to_end(upstream.headers.raw)
        return answer

    async def _relay(self, upstream: httpx.Response) -> AsyncIterator[bytes]:
        try:
            async for chunk in upstream.aiter_raw():
                yield chunk
        finally:
            self.turns.release()
            await upstream.aclose()


def create_app(gateway: Gateway, provider: ASGIApp | None) -> Starlette:
    """Return the application.

    Args:
        gateway: the deployed API.
        provider: the stand-in for the provider, where there is no real one.
    """
    routes = [
        Route("/", _page),
        Mount("/_local/demo", StaticFiles(directory=_HERE / "demo")),
        Mount(SITE_PATH, _SampleSite(directory=_HERE / "sample_site")),
        *([Mount(PROVIDER_PATH, provider)] if provider else []),
        Route("/{path:path}", _Endpoint(gateway)),
    ]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with gateway.client:
            yield

    return Starlette(routes=routes, lifespan=lifespan)


class _SampleSite(StaticFiles):
    """The sample documentation: its files, and one page that shows whichever part of them the address names."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file, or the page."""
        return await super().get_response(path if path in ("llms-full.txt", "page.js") else "page.html", scope)


async def _page(_: Request) -> Response:
    return FileResponse(_HERE / "demo" / "index.html", headers={"Cache-Control": "no-store"})


@dataclass(frozen=True)
class _Endpoint:
    """The gateway as an application: Starlette then passes every method, and answers none by itself."""

    gateway: Gateway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self.gateway.handle(Request(scope, receive))
        await answer(scope, receive, send)


async def _outgoing(request: Request, api_url: str) -> httpx.Request:
    base = httpx.URL(api_url)
    query = request.scope["query_string"]
    target = base.raw_path + request.scope["raw_path"] + (b"?" + query if query else b"")
    # Built without the client, which would add headers of its own.
    url = base.copy_with(raw_path=target)
    return httpx.Request(request.method, url, headers=_forwarded(request), content=await request.body())


def _forwarded(request: Request) -> RawHeaders:
    """The client's address is the TCP peer's, whatever its headers claim."""
    kept = [(name, value) for name, value in _end_to_end(request.headers.raw) if not name.lower().startswith(_CLAIMS)]
    peer = request.client.host if request.client else "127.0.0.1"
    return [*kept, (b"x-forwarded-for", peer.encode("ascii"))]


def _end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> RawHeaders:
    return [(name, value) for name, value in headers if name.lower() not in _HOP_BY_HOP]


def _refusal(status: int, code: str, sentence: str, retry_after: int | None = None) -> Response:
    headers = {"Retry-After": str(retry_after)} if retry_after else None
    return JSONResponse({"error": sentence, "code": code, "requestId": str(uuid.uuid4())}, status, headers)
