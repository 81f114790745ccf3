from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator
from datetime import date
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from fencepost.domain.errors import ErrorCode
from fencepost.domain.events import (
    AddressGuardEvent,
    AdmissionEvent,
    AuditFailedEvent,
    DocumentsEvent,
    Event,
    LedgerEvent,
    RequestEvent,
    StageTimings,
    UnexpectedErrorEvent,
)
from fencepost.edge.events import LambdaEvents, silence_libraries
from fencepost.edge.metrics import Metric, measures

DAY = date(2026, 3, 4)
LOGGER_KEYS = {"level", "message", "timestamp", "service", "correlation_id"}
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
        AuditFailedEvent(),
    ]
    for event in sent:
        events.emit(event)
    written = lines(capsys)
    read = [{key: value for key, value in line.items() if key not in LOGGER_KEYS} for line in written]
    assert [TypeAdapter[Event](Event).validate_python(line) for line in read] == sent
    assert {line["correlation_id"] for line in written} == {"request-1"}


def test_levels_tell_what_needs_attention(capsys: pytest.CaptureFixture[str]) -> None:
    events = fresh()
    events.emit(AddressGuardEvent(decision="denied"))
    events.emit(AddressGuardEvent(decision="failed_closed"))
    events.emit(AuditFailedEvent())
    events.log_unexpected(ValueError())
    assert [line["level"] for line in lines(capsys)] == ["INFO", "WARNING", "WARNING", "ERROR"]


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
    measured = {metric for metric, _ in measures(request(stages=stages))}
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
    ]
    # `Outcomes` alone is written when a request is flushed, since it has a dimension of its own.
    assert {metric for event in events for metric, _ in measures(event)} == set(Metric) - {Metric.OUTCOMES}


def test_money_of_unknown_cost_is_counted_at_its_worst_case() -> None:
    kept = LedgerEvent(result="kept", utc_day=DAY, reserved_microdollars=900)
    assert (Metric.SPEND, 900) in list(measures(kept))


@given(code=st.sampled_from(list(ErrorCode)), status=st.integers(200, 599))
def test_failures_are_the_server_errors_and_no_others(code: ErrorCode, status: int) -> None:
    assert dict(measures(request(outcome=code, status=status)))[Metric.FAILURES] == (status >= 500)
