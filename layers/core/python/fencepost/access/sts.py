"""Clients with credentials for one organisation's rows and objects only (docs/adr/0010).

The function's own role has no access to conversations. It assumes the tenant role with the organisation as a session
tag, and that role's policy allows `org#<org>#…` in the tables and `<org>/…` in the bucket.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, cast

from fencepost.access.domain import CacheKey, ScopedCache
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws import s3
from fencepost.kernel.aws import session as dynamodb
from fencepost.kernel.aws.session import (
    ATTEMPTS,
    CONNECT_TIMEOUT_SECONDS,
    READ_TIMEOUT_SECONDS,
    ClientFactory,
    aws_errors,
)
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock
from fencepost.observability.domain.events import IsolationEvent, TenantSessionEvent
from fencepost.observability.ports import Events

if TYPE_CHECKING:
    from boto3.session import Session
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sts import STSClient

ORGANISATION_TAG = "org"
"""Session tag that the tenant role's policy refers to as `${aws:PrincipalTag/org}`."""
SESSION_SECONDS = 3_600
"""Longest session of a role that another role assumes (role chaining)."""
RENEW_BEFORE = timedelta(minutes=15)
"""Remaining lifetime at which a session is renewed. Presigned links expire with the credentials that signed them."""

_MOST_SESSIONS = 32  # Each has its own clients; a warm instance rarely serves more organisations in an hour.
_SESSION_NAME_CHARACTERS = 64


@cache
def sts_client() -> STSClient:
    """Return the client of a process. The SDK is imported here, at the first use."""
    from boto3.session import Session
    from botocore.config import Config

    config = Config(
        connect_timeout=CONNECT_TIMEOUT_SECONDS,
        read_timeout=READ_TIMEOUT_SECONDS,
        retries={"total_max_attempts": ATTEMPTS, "mode": "legacy"},
    )
    return Session().client("sts", config=config)


@dataclass(frozen=True, slots=True)
class Access:
    """Factories of the clients that a store uses; each is called at the first use."""

    dynamodb: ClientFactory = dynamodb.dynamodb_client
    s3: Callable[[], S3Client] = s3.blob_client


@dataclass(frozen=True, slots=True)
class _Tenant:
    """An organisation's session, and the clients made from it, by factory."""

    org: str
    session: Session
    clients: dict[object, object] = field(default_factory=dict)


class TenantSessions:
    """Cache of sessions of the tenant role, until shortly before they expire. Safe in threads.

    Args:
        role: ARN of the tenant role.
        events: where sessions and failures are reported.
        clock: current time, for the expiry of sessions.
        sts: makes or returns the client of the Security Token Service, at the first use.
    """

    def __init__(self, role: str, events: Events, clock: Clock, sts: Callable[[], STSClient] = sts_client) -> None:
        self._role = role
        self._events = events
        self._clock = clock
        self._sts = sts
        self._tenants = ScopedCache[_Tenant](_MOST_SESSIONS, lambda _: events.emit(IsolationEvent(finding="cache_key")))
        # A turn requests several clients at once, which share one session.
        self._lock = Lock()

    def client[Client](self, scope: Scope, make: Callable[[Session], Client]) -> Client:
        """Return a client with credentials of the scope's organisation.

        Args:
            scope: names the organisation.
            make: makes the client from a session; called once for each session.

        Raises:
            FencepostError: `conversations_unavailable`; the role could not be assumed.
        """
        with self._lock:
            tenant = self._tenant(scope)
            if make not in tenant.clients:
                tenant.clients[make] = make(tenant.session)
            return cast("Client", tenant.clients[make])

    def _tenant(self, scope: Scope) -> _Tenant:
        now, key = self._clock(), CacheKey(scope.org)
        tenant = self._tenants.get(scope, key, now)
        if tenant is not None and tenant.org != scope.org:
            self._events.emit(IsolationEvent(finding="tenant_session"))
            tenant = None
        if tenant is None:
            tenant = _Tenant(scope.org, self._assume(scope.org))
            until = now + timedelta(seconds=SESSION_SECONDS) - RENEW_BEFORE
            self._tenants.put(scope, key, tenant, until)
        return tenant

    def _assume(self, org: str) -> Session:
        began = time.perf_counter()
        try:
            session = _session(self._sts(), self._role, org)
        except aws_errors():
            self._report("unavailable", began)
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
        self._report("assumed", began)
        return session

    def _report(self, result: Literal["assumed", "unavailable"], began: float) -> None:
        milliseconds = (time.perf_counter() - began) * 1_000
        self._events.emit(TenantSessionEvent(result=result, milliseconds=milliseconds))


def tenanted[Store](make: Callable[[Access], Store], sessions: TenantSessions | None) -> Store:
    """Return a store whose every method runs with the credentials of its scope's organisation.

    Args:
        make: makes the store. Each of its methods must take a `Scope` first, and keep no state between calls.
        sessions: None without a tenant role, when the function's own role reaches all rows.
    """
    return make(Access()) if sessions is None else cast("Store", _Tenanted(make, sessions))


class _Tenanted[Store]:
    """Proxy that makes the store for each call, with clients of the scope's organisation."""

    def __init__(self, make: Callable[[Access], Store], sessions: TenantSessions) -> None:
        self._make = make
        self._sessions = sessions

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def call(scope: Scope, *arguments: Any, **named: Any) -> Any:
            access = Access(
                dynamodb=lambda: self._sessions.client(scope, dynamodb.connect),
                s3=lambda: self._sessions.client(scope, s3.connect),
            )
            return getattr(self._make(access), method)(scope, *arguments, **named)

        return call


def _session(sts: STSClient, role: str, org: str) -> Session:
    from boto3.session import Session

    credentials = sts.assume_role(
        RoleArn=role,
        RoleSessionName=f"org-{org}"[:_SESSION_NAME_CHARACTERS],
        DurationSeconds=SESSION_SECONDS,
        Tags=[{"Key": ORGANISATION_TAG, "Value": org}],
    )["Credentials"]
    return Session(
        aws_access_key_id=credentials["AccessKeyId"],
        aws_secret_access_key=credentials["SecretAccessKey"],
        aws_session_token=credentials["SessionToken"],
    )
