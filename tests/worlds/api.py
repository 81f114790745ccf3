"""The `/v1` API over fakes of its ports: proxy events in, answers out."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jwt

from fencepost.access.callers import Callers
from fencepost.access.ports import MemberTokens, TokenSubject
from fencepost.access.routes import VisitorRoutes
from fencepost.access.service import Authorizer, VisitorService
from fencepost.access.tokens.visitor_tokens import SignedVisitorTokens
from fencepost.conversations.domain.messages import (
    AnswerContext,
    Conversation,
    Message,
    MessagePointer,
    MessageStatus,
    OpenTurn,
    answer_id,
)
from fencepost.conversations.routes.conversations import ConversationRoutes
from fencepost.conversations.routes.messages import MessageRoutes
from fencepost.conversations.service.conversations import ConversationService
from fencepost.http.cors import SiteOrigins
from fencepost.http.cursors import Cursors
from fencepost.http.endpoint import Endpoint
from fencepost.http.routing import Route, Router
from fencepost.identity.domain.scope import Action, Caller, Member, Scope, Visitor, authorize, own
from fencepost.identity.domain.sites import Site, parse_origin
from fencepost.identity.service import SiteService
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Usage
from fencepost.limits.domain.requests import Counter, RateLimits
from fencepost.limits.service.address_guard import AddressGuard
from fencepost.model.domain import LayerUse, Role, Source
from fencepost.observability.ports import RequestLog
from fencepost.turns.domain.turns import fingerprint
from fencepost.web.api import Api
from tests.fakes.answers import FakeKeys, FakeLimiter, FixedClock
from tests.fakes.conversations import FakeConversations, owned
from tests.fakes.directory import FakeDirectory
from tests.worlds.chat import NOON, WIDE_LIMITS, FakeAudit, FakeEvents, Reply, proxy_event

DEPLOYMENT = "https://app.example"
"""On the deployment's own list of origins."""
PAGE = "https://docs.example"
"""The origin of the site `docs`."""
ANN, BOB = "visitor-ann", "visitor-bob"
SOURCE = Source("guide#1", "Guide", "https://docs.example/guide")
WIDE_OTHER_LIMITS = replace(WIDE_LIMITS, counter=Counter.OTHER)
DEFAULTS = Site(org="", id="", key="", model="claude-haiku-4-5")


class TrustedTokens:
    """Implements `MemberTokens`: believes what a token says."""

    def read(self, token: str, now: datetime) -> TokenSubject:
        try:
            claims = jwt.decode(token, options={"verify_signature": False})
            return TokenSubject(claims["sub"], claims.get("org"))
        except (jwt.PyJWTError, KeyError):
            raise FencepostError(ErrorCode.TOKEN_INVALID) from None


@dataclass
class ApiWorld:
    """Everything around the API: to be set before the first request, and looked at after it.

    `acme` and `zeta` are organisations with one site each, `docs`; `u1` is a member of both.
    """

    clock: FixedClock = field(default_factory=lambda: FixedClock(NOON))
    events: FakeEvents = field(default_factory=FakeEvents)
    audit: FakeAudit = field(default_factory=FakeAudit)
    limiter: FakeLimiter = field(default_factory=FakeLimiter)
    keys: FakeKeys = field(default_factory=FakeKeys)
    directory: FakeDirectory = field(default_factory=FakeDirectory)
    store: FakeConversations = field(default_factory=FakeConversations)
    members: MemberTokens = field(default_factory=TrustedTokens)
    limits: RateLimits = WIDE_LIMITS
    other_limits: RateLimits = WIDE_OTHER_LIMITS
    more_routes: Iterable[Route] = ()
    log: RequestLog | None = None
    """Takes the place of `events`."""

    def __post_init__(self) -> None:
        for org in ("acme", "zeta"):
            self.directory.add_site(org, "docs", origins=(PAGE,) if org == "acme" else ("https://zeta.example",))
            self.directory.grant(org, "u1")

    # Who asks.

    def visitor(self, visitor_id: str = ANN, org: str = "acme") -> dict[str, str]:
        """Return the headers of a visitor."""
        token = self.visitor_tokens.issue(Visitor(org, "docs", visitor_id), self.clock()).token
        return {"authorization": f"Bearer {token}"}

    def member(self, user: str = "u1", org: str = "acme", *, default: str | None = None) -> dict[str, str]:
        """Return the headers of a member who chooses an organisation; with a default one, the token does."""
        token = _compact({"alg": "fake"}, {"sub": user, "org": default})
        return {"authorization": f"Bearer {token}"} | ({} if default else {"x-org-id": org})

    def scope(self, visitor_id: str = ANN, org: str = "acme") -> Scope:
        """Return the scope of a visitor's own data."""
        return _scope(Visitor(org, "docs", visitor_id))

    def member_scope(self, user: str = "u1", org: str = "acme") -> Scope:
        """Return the scope of a member's own data."""
        return _scope(Member(org, user, self.directory.membership(org, user)))

    # What is there.

    def converse(self, scope: Scope, conversation_id: str, turns: int = 1, *, title: str = "") -> Conversation:
        """Store a conversation with so many turns; questions are `<conversation>-<number>`."""
        shelf, row = self.store.shelf, conversation(conversation_id, turns, self.clock, title=title)
        shelf.conversations[owned(scope, conversation_id)] = row
        messages = shelf.messages.setdefault(owned(scope, conversation_id), [])
        for number in range(1, turns + 1):
            question, answer = exchange(conversation_id, number, self.clock)
            messages += [question, answer]
            pointer = MessagePointer(question.id, conversation_id, question.seq, fingerprint(question.content))
            shelf.pointers[owned(scope, question.id)] = pointer
            shelf.answers[owned(scope, question.id)] = {1: (answer.seq, context(answer, self.clock))}
        return row

    def wait(self, scope: Scope, conversation_id: str, question_id: str = "waiting") -> None:
        """Let a question of an existing conversation wait for its answer."""
        place = owned(scope, conversation_id)
        row = self.store.shelf.conversations[place]
        turn = OpenTurn(message_id=question_id, seq=row.next_seq, holder="h", until=self.clock())
        self.store.shelf.conversations[place] = replace(row, open_turn=turn)
        asked = replace(exchange(conversation_id, 1, self.clock)[0], id=question_id, seq=row.next_seq)
        self.store.shelf.messages[place].append(replace(asked, status=MessageStatus.PENDING))
        pointer = MessagePointer(question_id, conversation_id, row.next_seq, fingerprint(asked.content))
        self.store.shelf.pointers[owned(scope, question_id)] = pointer

    # What happens.

    def send(
        self,
        method: str,
        address: str,
        body: str | bytes | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        source_ip: str = "203.0.113.7",
    ) -> Reply:
        """Send a request as it is."""
        return self.handle(api_event(method, address, body, headers=headers or {}, source_ip=source_ip))

    def ask(self, method: str, address: str, who: Mapping[str, str], body: object = None) -> Reply:
        """Send a request with a token, and with JSON where there is a body."""
        if body is None:
            return self.send(method, address, headers=who)
        return self.send(method, address, json.dumps(body), headers={**who, "content-type": "application/json"})

    def handle(self, event: Mapping[str, Any]) -> Reply:
        """Pass a proxy event through the handler."""
        answer = self.endpoint(event, None)
        headers = {name.lower(): value for name, value in answer["headers"].items()}
        return Reply(answer["statusCode"], headers, answer["body"])

    @property
    def counted(self) -> int:
        """Requests that used up an address's quota."""
        return len(self.limiter.admitted)

    @cached_property
    def visitor_tokens(self) -> SignedVisitorTokens:
        return SignedVisitorTokens(self.keys, timedelta(hours=1))

    @cached_property
    def endpoint(self) -> Endpoint:
        log, origins = self.log or self.events, SiteOrigins(frozenset([parse_origin(DEPLOYMENT)]))
        callers = Callers(self.visitor_tokens, self.members, self.directory, self.clock)
        sites = SiteService(self.directory, DEFAULTS)
        conversations = ConversationService(self.store, self.clock)
        routes = (
            *VisitorRoutes(VisitorService(self.visitor_tokens, self.clock), sites, callers, origins).routes(),
            *ConversationRoutes(conversations, Cursors(self.keys)).routes(),
            *MessageRoutes(conversations, Cursors(self.keys)).routes(),
            *self.more_routes,
        )
        limits = (self.limits, self.other_limits)
        guard, other_guard = (AddressGuard(self.limiter, each, log, self.clock) for each in limits)
        decide, secret = Authorizer(self.keys, log), self.keys.edge_secret
        api = Api(Router(routes), origins, guard, other_guard, callers, sites, secret, decide, decide.refused)
        return Endpoint(api, origins, log, self.audit, self.clock)


def api_event(
    method: str,
    address: str,
    body: str | bytes | None = None,
    *,
    headers: Mapping[str, str],
    source_ip: str = "203.0.113.7",
) -> dict[str, Any]:
    """Return the event of the greedy resource under `/v1`."""
    parts = urlsplit(address)
    event = proxy_event(body, method=method, headers=headers, source_ip=source_ip, resource="/v1/{proxy+}")
    return event | {
        "path": parts.path,
        "pathParameters": {"proxy": parts.path.removeprefix("/v1/")},
        "queryStringParameters": dict(parse_qsl(parts.query, keep_blank_values=True)) or None,
    }


def conversation(conversation_id: str, turns: int, clock: FixedClock, *, title: str = "") -> Conversation:
    """Return the row of a conversation with so many turns."""
    return Conversation(
        id=conversation_id,
        site="docs",
        incarnation=f"{conversation_id}-incarnation",
        title=title,
        created_at=clock(),
        updated_at=clock(),
        next_seq=2 * turns + 1,
    )


def exchange(conversation_id: str, number: int, clock: FixedClock) -> tuple[Message, Message]:
    """Return the question and the answer of one turn."""
    question = Message(
        id=f"{conversation_id}-{number}",
        seq=2 * number - 1,
        role=Role.USER,
        content=f"Question {number} of {conversation_id}?",
        created_at=clock(),
        status=MessageStatus.ANSWERED,
    )
    answer = Message(
        id=answer_id(question.id, 1),
        seq=2 * number,
        role=Role.ASSISTANT,
        content=f"Answer {number} of {conversation_id}.",
        created_at=clock(),
        status=MessageStatus.COMPLETE,
        reply_to=question.seq,
        sources=(SOURCE,),
        usage=Usage(100, 0, 0, 10),
    )
    return question, answer


def context(answer: Message, clock: FixedClock) -> AnswerContext:
    """Return the audit view of an answer."""
    return AnswerContext(
        answer_id=answer.id,
        created_at=clock(),
        model="claude-haiku-4-5",
        prompt_version="2",
        permission_version=0,
        layers=(LayerUse("rules", 200), LayerUse("context", 50, (SOURCE.id,))),
        usage=answer.usage,
        cost_microdollars=150,
        cited=(SOURCE.id,),
    )


def _compact(*parts: object) -> str:
    """Return a JSON Web Token whose signature nobody looks at."""
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, "AAAA"])


def _scope(caller: Caller) -> Scope:
    return authorize(caller, Action.READ, own(caller))
