"""The chat endpoint over fakes of its ports: proxy events in, answers out."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from math import inf
from threading import Lock
from typing import Any, NoReturn

from fencepost.documents.domain.sections import DocumentSet
from fencepost.documents.ports import SiteDocuments
from fencepost.documents.sqlite import FullTextRanker
from fencepost.http.cors import AnyOrigin, ListedOrigins
from fencepost.http.endpoint import Endpoint
from fencepost.identity.domain.sites import parse_origin
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Caps, MicroDollars, Usage
from fencepost.kernel.ports import Keys
from fencepost.limits.domain.ledger import DayBill
from fencepost.limits.domain.prices import price_of
from fencepost.limits.domain.requests import RateLimits
from fencepost.limits.ports import AddressLimiter, Ledger
from fencepost.limits.service.address_guard import AddressGuard
from fencepost.model.domain import Prompt
from fencepost.model.ports import Completion, Model
from fencepost.model.service import Billing, PaidModel
from fencepost.observability.domain.events import AuditRecord, Event
from fencepost.observability.ports import RequestLog
from fencepost.prompting.domain.fence import Section
from fencepost.turns.domain.signatures import Policy
from fencepost.turns.routes.stateless_chat import Chat, demo, post_only
from fencepost.turns.service.prompt_builder import PromptBuilder
from fencepost.turns.service.stateless_chat import ChatService
from tests.fakes.answers import FakeKeys, FakeLedger, FakeLimiter, FixedClock
from tests.worlds.budgets import Budgets

MODEL = "claude-haiku-4-5"
SHOP = "https://shop.example"
API = "api.example"
REQUEST_ID = "6f0d3c1e-0000-4000-8000-000000000001"
JSON_TYPE = {"content-type": "application/json"}
WIDE_LIMITS = RateLimits(100_000, 1_000_000)
WIDE_CAPS = Caps(100_000, MicroDollars(5_000_000))
BUDGETS = Budgets(documents_tokens=20_000, history_tokens=16_000, max_output_tokens=1_024)
NOON = datetime(2026, 3, 14, 12, 0, 30, tzinfo=UTC)


class FakeEvents:
    """A `RequestLog` that keeps what is emitted."""

    def __init__(self) -> None:
        self.emitted: list[Event] = []
        self.unexpected: list[BaseException] = []

    def begin(self, request_id: str) -> None:
        assert request_id == REQUEST_ID

    def emit(self, event: Event) -> None:
        self.emitted.append(event)

    def log_unexpected(self, error: BaseException) -> None:
        self.unexpected.append(error)

    def of[E](self, kind: type[E]) -> list[E]:
        return [event for event in self.emitted if isinstance(event, kind)]


class FakeAudit:
    """Keeps the records."""

    def __init__(self) -> None:
        self.records: list[AuditRecord] = []

    def record(self, entry: AuditRecord) -> None:
        self.records.append(entry)


class FakeModel:
    """Answers by a rule, and keeps the prompts: one for each call that the provider would bill."""

    def __init__(self, reply: Callable[[], Completion] = lambda: Completion("Yes.", Usage(100, 0, 0, 10), 0.1)) -> None:
        self.reply = reply
        self.prompts: list[Prompt] = []
        self.within: list[float] = []
        self._lock = Lock()

    def complete(self, prompt: Prompt, *, within: float = inf) -> Completion:
        self.within.append(within)
        with self._lock:
            self.prompts.append(prompt)
        return self.reply()


def fails(error: Exception) -> Callable[..., NoReturn]:
    """Return something that raises whatever it is called with."""

    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    return fail


class FakeDocuments:
    """A fixed set of sections."""

    def __init__(self, documents: DocumentSet) -> None:
        self.documents = documents
        self.reads = 0

    def current(self, now: datetime) -> DocumentSet:
        self.reads += 1
        return self.documents


SMALL_SITE = DocumentSet(
    (
        Section("guide#1", "Guide › Install", "https://docs.example/guide#install", "# Install\n\nRun `make dev`.\n"),
        Section("guide#2", "Guide › Keys", "https://docs.example/guide#keys", "# Keys\n\nSet ANTHROPIC_API_KEY.\n"),
    ),
    "0" * 64,
)


@dataclass(frozen=True)
class Reply:
    """An answer of the handler, header names in lower case."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def code(self) -> str:
        code: str = self.json["code"]
        return code


def proxy_event(
    body: str | bytes | None = None,
    *,
    method: str = "POST",
    headers: Mapping[str, str] = JSON_TYPE,
    source_ip: str = "203.0.113.7",
    resource: str = "/api/ai-chat",
) -> dict[str, Any]:
    """Return the event of a REST API. Bytes come in Base64, as the gateway sends binary media types."""
    binary = isinstance(body, bytes)
    return {
        "resource": resource,
        "path": resource,
        "httpMethod": method,
        "headers": dict(headers),
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": None,
        "requestContext": {
            "requestId": REQUEST_ID,
            "domainName": API,
            "stage": "live",
            "identity": {"sourceIp": source_ip},
        },
        "body": base64.b64encode(body).decode() if isinstance(body, bytes) else body,
        "isBase64Encoded": binary,
    }


def turn(role: object = "user", content: object = "Hello", **more: object) -> dict[str, object]:
    """Return one entry of a history."""
    return {"role": role, "content": content, **more}


def pairs(count: int, *, question: str = "Why?", answer: str = "So.") -> list[dict[str, object]]:
    """Return so many exchanges."""
    return [turn("user", question), turn("assistant", answer)] * count


class BrokenKeys(FakeKeys):
    """Secrets that cannot be read."""

    def derive(self, purpose: str) -> bytes:
        raise FencepostError(ErrorCode.MISCONFIGURED)

    def provider_key(self) -> str:
        raise FencepostError(ErrorCode.MISCONFIGURED)


@dataclass
class World:
    """Everything around the endpoint: to be set before the first request, and looked at after it."""

    clock: FixedClock = field(default_factory=lambda: FixedClock(NOON))
    events: FakeEvents = field(default_factory=FakeEvents)
    audit: FakeAudit = field(default_factory=FakeAudit)
    limiter: AddressLimiter = field(default_factory=FakeLimiter)
    ledger: Ledger = field(default_factory=FakeLedger)
    model: Model = field(default_factory=FakeModel)
    documents: SiteDocuments = field(default_factory=lambda: FakeDocuments(SMALL_SITE))
    keys: Keys = field(default_factory=FakeKeys)
    limits: RateLimits = WIDE_LIMITS
    caps: Caps = WIDE_CAPS
    origins: tuple[str, ...] = (SHOP,)
    budgets: Budgets = BUDGETS
    unsigned_history: Policy = "accept"
    demo_reply: str | None = None
    log: RequestLog | None = None
    """Takes the place of `events`."""

    @property
    def counted(self) -> int:
        """Requests that used up an address's quota."""
        assert isinstance(self.limiter, FakeLimiter)
        return len(self.limiter.admitted)

    @property
    def calls(self) -> int:
        """Requests that reached the provider."""
        assert isinstance(self.model, FakeModel)
        return len(self.model.prompts)

    @property
    def bill(self) -> DayBill:
        """What the ledger holds for the clock's day."""
        assert isinstance(self.ledger, FakeLedger)
        return self.ledger.bill(self.clock.now.date())

    def send(self, body: str | bytes | None = None, **event: Any) -> Reply:
        """Send a raw body."""
        return self.handle(proxy_event(body, **event))

    def handle(self, event: Mapping[str, Any]) -> Reply:
        """Pass a proxy event through the handler."""
        answer = self.endpoint(event, None)
        headers = {name.lower(): value for name, value in answer["headers"].items()}
        return Reply(answer["statusCode"], headers, answer["body"])

    def ask(self, message: object = "How do I install it?", **fields: object) -> Reply:
        """Send a message as the chat widget does."""
        return self.send(json.dumps({"message": message, **fields}))

    @cached_property
    def endpoint(self) -> Endpoint:
        if self.demo_reply is not None:
            return Endpoint(post_only(demo(self.demo_reply)), AnyOrigin(), self._log, None, self.clock)
        cors = ListedOrigins(frozenset(map(parse_origin, self.origins)))
        guard = AddressGuard(self.limiter, self.limits, self._log, self.clock)
        route = Chat(cors, guard, self.service, self.keys.edge_secret)
        return Endpoint(post_only(route), cors, self._log, self.audit, self.clock)

    @property
    def service(self) -> ChatService:
        return ChatService(
            documents=self.documents,
            prompt_builder=PromptBuilder(
                keys=self.keys, ranker=FullTextRanker(), budgets=self.budgets, unsigned=self.unsigned_history
            ),
            paid=PaidModel(
                MODEL,
                self.model,
                Billing(ledger=self.ledger, price=price_of(MODEL), caps=self.caps, events=self._log, clock=self.clock),
            ),
            keys=self.keys,
            clock=self.clock,
        )

    @property
    def _log(self) -> RequestLog:
        return self.log or self.events
