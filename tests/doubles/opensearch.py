"""A double of OpenSearch Serverless: its wire protocol over HTTP, and all that it refuses.

It chooses the ids (a classic collection takes none of the client's), has no `_update`, `_update_by_query`,
`_delete_by_query`, `_reindex` or `_refresh` and no `refresh=true`, knows faiss alone, asks for signed requests, shows
what was written after a minute (ten seconds on the next generation) of a clock that a test sets, and throttles when
told to. As a node it takes ids and Lucene, asks for no signature, and has no plugins.
"""

from __future__ import annotations

import asyncio
import fnmatch
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from fencepost.retrieval.indexes.opensearch.cluster import Generation
from tests.doubles.opensearch_search import ANALYSERS, PLUGINS, Evaluator, Refused, Seen
from tests.doubles.servers import serve

DELAYS: Mapping[Generation, float] = {"classic": 60, "next": 10, "node": 1}
"""Seconds until a search finds what was written."""
MAX_WINDOW = 10_000

type Json = dict[str, Any]


@dataclass
class Waits:
    """A clock that goes on while somebody waits for it, and only then."""

    now: float = 0

    def timer(self) -> float:
        """Return the time, in seconds."""
        return self.now

    def pause(self, seconds: float) -> None:
        """Wait."""
        self.now += seconds


@dataclass
class Version:
    """One state of a document; `source` is None where it was deleted."""

    source: Json | None
    seen_from: float


@dataclass
class Index:
    """An index with its documents' states, oldest first."""

    body: Json
    aliases: set[str] = field(default_factory=set)
    documents: dict[str, list[Version]] = field(default_factory=dict)

    def seen(self, now: float) -> list[Seen]:
        """Return what a search finds at a moment."""
        found = []
        for name, versions in self.documents.items():
            current = [version for version in versions if version.seen_from <= now]
            if current and current[-1].source is not None:
                found.append(Seen(name, current[-1].source))
        return found


@dataclass
class OpenSearchDouble:
    """The state behind the HTTP server, for a test to look at and to meddle with.

    Attributes:
        now: the clock, in seconds.
        throttle_items: so many documents of the next bulk requests are refused with 429.
        throttle_requests: so many of the next requests are.
        failing: the status that every request is answered with; 0 for none.
        fail_after: at which call from now on all answers become errors; 0 for never.
        failed_shards: so many parts of the index find nothing, which searches say beside what the others find.
        slow_seconds: how long each answer takes.
        lose_answers: so many of the next writes are done and answered with an error.
        asked: method and path of each request.
        refused: what was refused, and why.
    """

    generation: Generation
    now: float = 0
    throttle_items: int = 0
    throttle_requests: int = 0
    failing: int = 0
    fail_after: int = 0
    failed_shards: int = 0
    slow_seconds: float = 0
    lose_answers: int = 0
    indices: dict[str, Index] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def serverless(self) -> bool:
        """Whether it is a collection."""
        return self.generation != "node"

    def advance(self, seconds: float | None = None) -> None:
        """Let time go by: by default until all that was written is found."""
        self.now += DELAYS[self.generation] if seconds is None else seconds

    def named(self, name: str) -> Index:
        """Return the one index that a name or an alias stands for."""
        found = [index for key, index in self.indices.items() if key == name or name in index.aliases]
        if len(found) != 1:
            raise Refused(404, "index_not_found_exception", f"no such index [{name}]")
        return found[0]

    def create(self, name: str, body: Json) -> Json:
        """Make an index."""
        if name in self.indices:
            raise Refused(400, "resource_already_exists_exception", name)
        for mapped in body["mappings"]["properties"].values():
            self._check(mapped)
        self.indices[name] = Index(body)
        return {"acknowledged": True, "index": name}

    def _check(self, mapped: Json) -> None:
        known = set(ANALYSERS) | (set(PLUGINS) if self.serverless else set())
        if mapped.get("analyzer", "whitespace") not in known:
            raise Refused(400, "mapper_parsing_exception", f"analyzer [{mapped['analyzer']}] has not been configured")
        if mapped["type"] == "knn_vector" and self.serverless and mapped["method"]["engine"] != "faiss":
            raise Refused(400, "illegal_argument_exception", "this engine is not supported")

    def write(self, action: Json, source: Json | None) -> Json:
        """Carry out one action of a bulk request, and return its item."""
        ((verb, target),) = action.items()
        try:
            return {verb: self._write(verb, target, source)}
        except Refused as refused:
            self.refused.append(refused.reason)
            error = {"type": refused.kind, "reason": refused.reason}
            return {verb: {"_id": target.get("_id"), "status": refused.status, "error": error}}

    def _write(self, verb: str, target: Json, source: Json | None) -> Json:
        if self.throttle_items:
            self.throttle_items -= 1
            raise Refused(429, "rejected_execution_exception", "throttled")
        index = self.named(target["_index"])
        if verb == "index" and source is not None:
            return {"_id": self._put(index, target.get("_id"), source), "status": 201, "result": "created"}
        if verb == "delete":
            return self._drop(index, target["_id"])
        raise Refused(400, "illegal_argument_exception", f"[{verb}] is not supported")

    def _put(self, index: Index, name: str | None, source: Json) -> str:
        if name is not None and self.generation == "classic":
            raise Refused(
                400, "illegal_argument_exception", "Document ID is not supported in create/index operation request"
            )
        fields = index.body["mappings"]["properties"]
        if unknown := set(source) - set(fields):
            raise Refused(400, "strict_dynamic_mapping_exception", f"introduction of {unknown} is not allowed")
        for key, value in source.items():
            if fields[key]["type"] == "knn_vector" and len(value) != fields[key]["dimension"]:
                raise Refused(400, "mapper_parsing_exception", "Vector dimension mismatch")
        name = name or f"1%3A0%3A{next(self._numbers)}"
        index.documents.setdefault(name, []).append(Version(source, self.now + DELAYS[self.generation]))
        return name

    def _drop(self, index: Index, name: str) -> Json:
        versions = index.documents.get(name)
        if not versions or versions[-1].source is None:
            return {"_id": name, "status": 404, "result": "not_found"}
        versions.append(Version(None, self.now + DELAYS[self.generation]))
        return {"_id": name, "status": 200, "result": "deleted"}

    def search(self, name: str, body: Json) -> Json:
        """Answer a search."""
        if body.get("size", 10) > MAX_WINDOW:
            raise Refused(400, "illegal_argument_exception", "Result window is too large")
        index = self.named(name)
        mapping = index.body["mappings"]
        hidden = set(mapping.get("_source", {}).get("excludes", ()))
        found = Evaluator(mapping, index.seen(self.now)).search(body)
        wanted = body.get("_source")
        hits = [
            {
                "_id": one.id,
                "_score": score,
                "_source": {k: v for k, v in one.source.items() if k not in hidden and (wanted is None or k in wanted)},
            }
            for one, score in found
        ]
        return {"timed_out": False, "_shards": {"failed": self.failed_shards}, "hits": {"hits": hits}}

    def move(self, actions: list[Json]) -> Json:
        """Change aliases."""
        for action in actions:
            ((verb, value),) = action.items()
            aliases = self.named(value["index"]).aliases
            (aliases.add if verb == "add" else aliases.remove)(value["alias"])
        return {"acknowledged": True}

    def described(self, pattern: str) -> Json:
        """Return the indices whose names match."""
        return {
            name: {"aliases": {alias: {} for alias in index.aliases}, **index.body}
            for name, index in self.indices.items()
            if fnmatch.fnmatchcase(name, pattern)
        }


@contextmanager
def running(generation: Generation) -> Iterator[tuple[str, OpenSearchDouble]]:
    """Serve a double on loopback; yield its address and the double."""
    double = OpenSearchDouble(generation)
    with serve(_application(double)) as url:
        yield url, double


def _application(double: OpenSearchDouble) -> Starlette:
    async def answer(request: Request) -> Response:
        double.asked.append(f"{request.method} {request.url.path}")
        await asyncio.sleep(double.slow_seconds)
        try:
            return JSONResponse(_answer(double, request, await request.body()))
        except Refused as refused:
            double.refused.append(refused.reason)
            error = {"type": refused.kind, "reason": refused.reason, "root_cause": []}
            return JSONResponse({"error": error, "status": refused.status}, refused.status)

    methods = ["GET", "PUT", "POST", "DELETE", "HEAD"]
    return Starlette(routes=[Route("/{path:path}", answer, methods=methods)])


def _answer(double: OpenSearchDouble, request: Request, body: bytes) -> Json:
    _admit(double, request)
    parts = request.url.path.strip("/").split("/")
    match request.method, parts:
        case "POST", ["_bulk"]:
            return _bulk(double, [json.loads(line) for line in body.splitlines()])
        case "POST", [name, "_search"]:
            return double.search(name, json.loads(body))
        case "POST", ["_aliases"]:
            return double.move(json.loads(body)["actions"])
        case "PUT", [name]:
            return double.create(name, json.loads(body))
        case "GET", [pattern]:
            return double.described(pattern)
        case "DELETE", [name]:
            double.indices.pop(name)
            return {"acknowledged": True}
        case _:
            raise Refused(404, "not_supported", f"{request.method} {request.url.path} is not supported")


def _admit(double: OpenSearchDouble, request: Request) -> None:
    if double.failing:
        raise Refused(double.failing, "unavailable", "told to fail")
    if double.fail_after:
        double.fail_after = max(double.fail_after - 1, 1)
        if double.fail_after == 1:
            raise Refused(500, "unavailable", "told to fail")
    if double.throttle_requests:
        double.throttle_requests -= 1
        raise Refused(429, "too_many_requests", "throttled")
    if double.serverless and "/aoss/aws4_request" not in request.headers.get("authorization", ""):
        raise Refused(403, "security_exception", "the request is not signed for aoss")
    if "refresh" in request.query_params and double.serverless:
        raise Refused(400, "illegal_argument_exception", "true refresh policy is not supported.")


def _bulk(double: OpenSearchDouble, lines: list[Json]) -> Json:
    rest = iter(lines)
    items = [double.write(action, None if "delete" in action else next(rest)) for action in rest]
    if double.lose_answers:
        double.lose_answers -= 1
        raise Refused(502, "bad_gateway", "the answer is lost")
    return {"errors": any("error" in value for item in items for value in item.values()), "items": items}
