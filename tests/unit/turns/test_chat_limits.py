"""`POST /api/ai-chat`: the limits of an address and the caps of a day."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from fencepost.http.proxy import Request
from fencepost.kernel.clock import Window
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.requests import RateLimits
from fencepost.observability.domain.events import AddressGuardEvent, AdmissionEvent
from tests.fakes.answers import FakeKeys, FakeLedger, FakeLimiter
from tests.worlds.chat import JSON_TYPE, World


def worst_case_of_a_call() -> MicroDollars:
    world = World()
    world.ask()
    return MicroDollars(world.events.of(AdmissionEvent)[0].committed_microdollars or 0)


ONE_CALL = worst_case_of_a_call()


def test_the_minute_limit_names_its_window() -> None:
    world = World(limits=RateLimits(2, 100))
    assert [world.ask().status for _ in range(3)] == [200, 200, 429]
    reply = world.ask()
    assert (reply.code, reply.headers["retry-after"]) == ("rate_limited_minute", "30")
    assert set(reply.json) == {"error", "code", "requestId"}
    assert world.events.of(AddressGuardEvent)[0] == AddressGuardEvent(decision="denied", window=Window.MINUTE)


def test_the_day_limit_names_its_window() -> None:
    world = World(limits=RateLimits(10, 1))
    world.ask()
    reply = world.ask()
    assert (reply.status, reply.code, reply.headers["retry-after"]) == (429, "rate_limited_day", "43170")


def test_rejected_inputs_use_up_the_quota_and_then_get_the_limit() -> None:
    world = World(limits=RateLimits(2, 100))
    assert [world.send("{").status for _ in range(3)] == [400, 400, 429]


def test_a_denied_request_is_not_read() -> None:
    world = World(limits=RateLimits(1, 100))
    world.ask()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Request, "body", reading := Mock(return_value=b"{}"))
        assert world.ask().code == "rate_limited_minute"
    reading.assert_not_called()


def test_addresses_are_counted_apart_and_only_as_the_gateway_saw_them() -> None:
    world = World(limits=RateLimits(1, 100))
    forged = {**JSON_TYPE, "x-forwarded-for": "198.51.100.1", "cloudfront-viewer-address": "198.51.100.1:80"}
    assert world.send('{"message": "Hi"}').status == 200
    assert world.send('{"message": "Hi"}', headers=forged).status == 429
    assert world.send('{"message": "Hi"}', source_ip="198.51.100.2").status == 200


def test_behind_cloudfront_its_viewer_is_counted() -> None:
    world = World(keys=FakeKeys(edge_secret="shared"), limits=RateLimits(1, 100))
    statuses = []
    for viewer in ("198.51.100.1:80", "198.51.100.2:80", "198.51.100.1:81"):
        headers = {**JSON_TYPE, "X-Fencepost-Edge": "shared", "CloudFront-Viewer-Address": viewer}
        statuses.append(world.send('{"message": "Hi"}', headers=headers).status)
    assert statuses == [200, 200, 429]


def test_a_limiter_that_does_not_answer_lets_nobody_pass() -> None:
    limiter = FakeLimiter()
    limiter.available = False
    world = World(limiter=limiter)
    reply = world.ask()
    assert (reply.status, reply.code, world.calls) == (429, "rate_limit_unavailable", 0)
    assert int(reply.headers["retry-after"]) > 0
    assert world.events.of(AddressGuardEvent) == [AddressGuardEvent(decision="failed_closed")]


@pytest.mark.parametrize("source_ip", ["", "unknown", "999.1.1.1"])
def test_without_an_address_nobody_passes(source_ip: str) -> None:
    world = World()
    assert world.send('{"message": "Hi"}', source_ip=source_ip).code == "rate_limit_unavailable"
    assert world.events.of(AddressGuardEvent) == [AddressGuardEvent(decision="failed_closed")]


def test_what_the_guard_turns_away_is_not_audited() -> None:
    world = World(limits=RateLimits(1, 100))
    world.ask()
    world.ask()
    assert [entry.outcome for entry in world.audit.records] == ["answered"]


@pytest.mark.parametrize(
    ("caps", "code", "cap"),
    [
        (Caps(1, MicroDollars(10_000_000)), "daily_calls_exhausted", "calls"),
        (Caps(100, ONE_CALL), "daily_spend_exhausted", "spend"),
    ],
)
def test_a_daily_cap_ends_at_midnight(caps: Caps, code: str, cap: str) -> None:
    world = World(caps=caps)
    world.ask()
    reply = world.ask()
    assert (reply.status, reply.code) == (429, code)
    assert reply.headers["retry-after"] == "43170"
    assert reply.json["retryAfter"] == 43_170
    event = world.events.of(AdmissionEvent)[-1]
    assert (event.decision, event.cap, event.count) == ("denied", cap, None)
    world.clock.advance(43_170)
    assert world.ask().status == 200


def test_a_cap_that_no_call_fits_under_is_no_matter_of_waiting() -> None:
    world = World(caps=Caps(100, MicroDollars(ONE_CALL - 1)))
    reply = world.ask()
    assert (reply.status, reply.code, world.calls) == (500, "misconfigured", 0)
    assert "retry-after" not in reply.headers
    assert [(event.decision, event.cap) for event in world.events.of(AdmissionEvent)] == [("denied", "spend")]
    assert world.bill.calls == 0


def test_a_cap_of_nothing_switches_the_chat_off() -> None:
    assert World(caps=Caps(100, MicroDollars(0))).ask().code == "daily_spend_exhausted"


def test_a_ledger_that_does_not_answer_lets_nothing_be_spent() -> None:
    ledger = FakeLedger()
    ledger.faults.append("before")
    world = World(ledger=ledger)
    reply = world.ask()
    assert (reply.status, reply.code, world.calls) == (500, "ledger_unavailable", 0)
    assert world.events.of(AdmissionEvent)[0].decision == "failed_closed"


def test_an_admission_names_the_limits_and_the_count() -> None:
    world = World()
    world.ask()
    world.ask()
    first, second = world.events.of(AdmissionEvent)
    assert (first.decision, first.count, second.count) == ("admitted", 1, 2)
    assert (first.call_limit, first.spend_limit_microdollars) == (100_000, 5_000_000)
    assert first.utc_day == world.clock.now.date()
