from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator
from datetime import date
from itertools import count
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from fencepost.identity.domain.scope import Action
from fencepost.kernel.errors import ErrorCode
from fencepost.observability.domain.event_parts import Fetched, StageTimings, Subject
from fencepost.observability.domain.events import (
    AddressGuardEvent,
    AdmissionEvent,
    AuditFailedEvent,
    AuthorizationEvent,
    BatchEvent,
    DiagnosisEvent,
    DocumentsEvent,
    ErasureEvent,
    Event,
    IsolationEvent,
    JobEvent,
    KeySetEvent,
    LeaseEvent,
    LedgerEvent,
    ReconcileEvent,
    RequestEvent,
    TenantSessionEvent,
    UnexpectedErrorEvent,
)
from fencepost.observability.powertools.log import LambdaEvents, silence_libraries
from fencepost.observability.powertools.metrics import Metric, measures
from fencepost.queue.domain import Purpose

DAY = date(2026, 3, 4)
ABOUT = Subject(org="org_0123456789abcdef", owner="owner_0123456789abcdef", conversation="conv_0123456789abcdef")
DENIAL = AuthorizationEvent(
    decision="denied", action=Action.READ, caller="member", reason="organisation_mismatch", subject=ABOUT
)
LOGGER_KEYS = {"level", "message", "timestamp", "service", "correlation_id"}
JOB_RESULTS: tuple[Literal["done", "refused", "failed"], ...] = ("done", "refused", "failed")
_names = count()


def fresh() -> LambdaEvents:
    return LambdaEvents(service=f"test-{next(_names)}")


def request(**fields: Any) -> RequestEvent:
    return RequestEvent.model_validate(
        {"outcome": "answered", "status": 200, "stages": StageTimings(total=12.5, first_token=4.0), **fields}
    )


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_each_line_is_json_and_reads_back_as_the_event_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    events = fresh()
    events.begin("request-1")
    sent: list[Event] = [
        AdmissionEvent(decision="denied", cap="spend", utc_day=DAY, call_limit=7, spend_limit_microdollars=9),
        AddressGuardEvent(decision="failed_closed"),
        LedgerEvent(result="kept", utc_day=DAY, reserved_microdollars=5),
        DocumentsEvent(result="stale_served", reason="timeout"),
        DENIAL,
        LeaseEvent(result="joined", waited_milliseconds=12.5, attempts=3, subject=ABOUT),
        JobEvent(purpose=Purpose.TITLE, result="refused", reason="site_inactive", age_milliseconds=5, subject=ABOUT),
        BatchEvent(source="queue", records=5, failed=1, milliseconds=20, cold_start=True),
        ReconcileEvent(organisations=2, pages=9, reads=30, vectors_without_rows=4, repairs=3),
        ErasureEvent(result="leftovers", what="owner", left=3, subject=ABOUT),
        IsolationEvent(finding="cache_key", subject=ABOUT),
        DiagnosisEvent(result="opened", minutes=10, subject=ABOUT),
        TenantSessionEvent(result="assumed", milliseconds=40, subject=ABOUT),
        KeySetEvent(result="unknown_key"),
        AuditFailedEvent(),
    ]
    for event in sent:
        events.emit(event)
    written = [line for line in lines(capsys) if "_aws" not in line]
    read = [{key: value for key, value in line.items() if key not in LOGGER_KEYS} for line in written]
    assert [TypeAdapter[Event](Event).validate_python(line) for line in read] == sent
    assert {line["correlation_id"] for line in written} == {"request-1"}


def test_levels_tell_what_needs_attention(capsys: pytest.CaptureFixture[str]) -> None:
    events = fresh()
    events.emit(AddressGuardEvent(decision="denied"))
    events.emit(AddressGuardEvent(decision="failed_closed"))
    events.emit(AuditFailedEvent())
    events.emit(DENIAL)
    events.emit(LeaseEvent(result="lost"))
    events.emit(JobEvent(purpose=Purpose.ERASE, result="refused"))
    events.emit(ErasureEvent(result="leftovers", what="owner", left=1))
    events.emit(IsolationEvent(finding="tenant_session"))
    events.log_unexpected(ValueError())
    levels = [line["level"] for line in lines(capsys)]
    assert levels == ["INFO", "WARNING", "WARNING", "INFO", *["WARNING"] * 4, "ERROR"]


def test_a_request_flushes_all_its_metrics_once(capsys: pytest.CaptureFixture[str]) -> None:
    events = fresh()
    events.emit(AdmissionEvent(decision="admitted", utc_day=DAY, call_limit=7, spend_limit_microdollars=9, count=3))
    events.emit(LedgerEvent(result="settled", utc_day=DAY, reserved_microdollars=500, actual_microdollars=120))
    events.emit(request(cache_hit=True))
    embedded = [line for line in lines(capsys) if "_aws" in line]
    assert len(embedded) == 2
    measured, outcome = embedded
    assert measured["CallCapUsed"] == [pytest.approx(100 * 3 / 7)]
    assert measured["SpendMicrodollars"] == [120]
    assert measured["TotalLatency"] == [12.5]
    assert measured["FirstTokenLatency"] == [4]
    assert outcome["Outcome"] == "answered"
    assert outcome["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["service", "Outcome"]]


def test_a_batch_flushes_all_its_metrics_once(capsys: pytest.CaptureFixture[str]) -> None:
    events = fresh()
    events.emit(JobEvent(purpose=Purpose.TITLE, result="done", age_milliseconds=700))
    events.emit(JobEvent(purpose=Purpose.SUMMARISE, result="refused", reason="suspended"))
    events.emit(BatchEvent(source="queue", records=2, failed=0, milliseconds=30))
    (embedded,) = [line for line in lines(capsys) if "_aws" in line]
    assert embedded["JobsDone"] == [1]
    assert embedded["JobsRefused"] == [1]
    assert embedded["JobAgeLatency"] == [700]
    assert embedded["ColdStarts"] == [1]


@pytest.mark.parametrize(
    ("sections", "available", "empty"), [(0, 40, 1), (3, 40, 0), (0, 0, 0)], ids=["empty", "found", "no documents"]
)
def test_a_retrieval_is_empty_where_there_was_something_to_find(sections: int, available: int, empty: int) -> None:
    fetched = Fetched(messages=4, facts=1, sections=sections, sections_available=available)
    measured = dict(measures(request(fetched=fetched)))
    assert measured[Metric.EMPTY_RETRIEVALS] == empty
    assert measured[Metric.ITEMS_FETCHED] == 5 + sections


def test_each_decision_counts_towards_the_denial_rate() -> None:
    allowed = AuthorizationEvent(decision="allowed", action=Action.READ, caller="visitor")
    assert dict(measures(allowed))[Metric.DENIALS] == 0
    assert dict(measures(DENIAL)) == {Metric.ALLOWED: 0, Metric.DENIALS: 1, Metric.ORGANISATION_MISMATCHES: 1}


def test_a_chats_latency_and_that_of_all_else_are_kept_apart() -> None:
    assert Metric.API_LATENCY not in dict(measures(request()))
    done = dict(measures(request(outcome="done")))
    assert done[Metric.API_LATENCY] == 12.5
    assert Metric.TOTAL_LATENCY not in done


def test_a_preflight_does_not_thin_out_the_rates() -> None:
    measured = dict(measures(request(outcome="preflight", status=204, cold_start=True)))
    assert measured == {Metric.COLD_STARTS: 1}


@pytest.mark.parametrize(("result", "spend"), [("settled", 120), ("overrun", 120), ("settle_failed", 500)])
def test_spend_is_what_the_bill_counts(result: str, spend: int) -> None:
    fields = {"result": result, "utc_day": DAY, "reserved_microdollars": 500, "actual_microdollars": 120}
    assert dict(measures(LedgerEvent.model_validate(fields)))[Metric.SPEND] == spend


def test_metrics_do_not_leak_into_the_next_request(capsys: pytest.CaptureFixture[str]) -> None:
    events = fresh()
    events.emit(AddressGuardEvent(decision="denied"))
    events.emit(request(outcome=ErrorCode.RATE_LIMITED_MINUTE, status=429))
    events.emit(request())
    first, _, second, _ = (line for line in lines(capsys) if "_aws" in line)
    assert first["AddressDenials"] == [1]
    assert "AddressDenials" not in second


def test_only_the_first_request_of_an_instance_is_cold(capsys: pytest.CaptureFixture[str]) -> None:
    events = fresh()
    events.emit(request())
    events.emit(request())
    assert [line["cold_start"] for line in lines(capsys) if line.get("event") == "request"] == [True, False]


def test_an_unexpected_error_leaves_its_class_and_a_line_of_ours_and_no_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    visitor: dict[str, str] = {}
    try:
        visitor["a visitor's words"]
    except KeyError as error:
        fresh().log_unexpected(error)
    output = capsys.readouterr().out
    line = json.loads(output)
    assert "words" not in output
    assert line["kind"] == "KeyError"
    assert line["raised_at"].startswith("test_events.py:")


def test_an_error_deep_in_a_library_names_the_line_of_ours_that_led_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    library = compile("raise ValueError", "/opt/python/library/deep.py", "exec")
    ours = compile("run()", "/opt/python/fencepost/services/chat.py", "exec")
    try:
        exec(ours, {"run": lambda: exec(library)})
    except ValueError as error:
        fresh().log_unexpected(error)
    assert json.loads(capsys.readouterr().out)["raised_at"] == "chat.py:1"


@pytest.fixture
def library_defaults() -> Iterator[None]:
    level = logging.getLogger().level
    with warnings.catch_warnings():
        yield
    logging.getLogger().setLevel(level)


@pytest.mark.usefixtures("library_defaults")
def test_libraries_write_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    silence_libraries()
    logging.getLogger("httpx").error("POST body: a visitor's words")
    warnings.warn("Expected `int` but got a visitor's words", stacklevel=1)
    assert capsys.readouterr() == ("", "")


def test_every_stage_has_a_latency_metric() -> None:
    stages = StageTimings(**dict.fromkeys(StageTimings.model_fields, 1.0))
    measured = {
        metric for outcome in ("answered", "done") for metric, _ in measures(request(outcome=outcome, stages=stages))
    }
    assert {metric for metric in Metric if metric.name.endswith("_LATENCY")} <= measured


def test_every_metric_of_the_table_is_measured_by_some_event() -> None:
    stages = StageTimings(**dict.fromkeys(StageTimings.model_fields, 1.0))
    events: list[Event] = [
        request(stages=stages),
        AdmissionEvent(decision="denied", cap="calls", utc_day=DAY, call_limit=1, spend_limit_microdollars=1),
        AdmissionEvent(
            decision="admitted",
            utc_day=DAY,
            call_limit=1,
            spend_limit_microdollars=1,
            count=1,
            committed_microdollars=1,
        ),
        AddressGuardEvent(decision="denied"),
        AddressGuardEvent(decision="failed_closed"),
        LedgerEvent(result="kept", utc_day=DAY, reserved_microdollars=1),
        LedgerEvent(result="overrun", utc_day=DAY, reserved_microdollars=1, actual_microdollars=2),
        DocumentsEvent(result="stale_served"),
        DocumentsEvent(result="unavailable"),
        AuditFailedEvent(),
        UnexpectedErrorEvent(kind="KeyError", raised_at="chat.py:1"),
        request(outcome="done", fetched=Fetched(messages=1)),
        DENIAL,
        LeaseEvent(result="lost"),
        *(JobEvent(purpose=Purpose.TITLE, result=result, age_milliseconds=1) for result in JOB_RESULTS),
        BatchEvent(source="stream", records=1, failed=1, milliseconds=1),
        ErasureEvent(result="leftovers", what="conversation", left=1),
        ReconcileEvent(),
        IsolationEvent(finding="cache_key"),
        KeySetEvent(result="unavailable"),
        TenantSessionEvent(result="assumed", milliseconds=1),
        TenantSessionEvent(result="unavailable", milliseconds=1),
        DiagnosisEvent(result="opened", minutes=1),
        DiagnosisEvent(result="looked"),
    ]
    # `Outcomes` alone is written when a request is flushed, since it has a dimension of its own.
    assert {metric for event in events for metric, _ in measures(event)} == set(Metric) - {Metric.OUTCOMES}


def test_money_of_unknown_cost_is_counted_at_its_worst_case() -> None:
    kept = LedgerEvent(result="kept", utc_day=DAY, reserved_microdollars=900)
    assert (Metric.SPEND, 900) in list(measures(kept))


@given(code=st.sampled_from(list(ErrorCode)), status=st.integers(200, 599))
def test_failures_are_the_server_errors_and_no_others(code: ErrorCode, status: int) -> None:
    assert dict(measures(request(outcome=code, status=status)))[Metric.FAILURES] == (status >= 500)
