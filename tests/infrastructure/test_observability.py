"""Dashboard, alarms and runbook against each other and against what the code emits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from fencepost.observability.powertools.metrics import NAMESPACE, Metric
from local.paths import ROOT
from tests.infrastructure.test_template import properties

# Metrics that AWS itself emits for what the template makes.
AWS_METRICS = {
    ("AWS/Lambda", "Errors"),
    ("AWS/Lambda", "Throttles"),
    ("AWS/Lambda", "IteratorAge"),
    ("AWS/DynamoDB", "WriteThrottleEvents"),
    ("AWS/SQS", "ApproximateAgeOfOldestMessage"),
    ("AWS/SQS", "ApproximateNumberOfMessagesVisible"),
}
ALARMS = properties("AWS::CloudWatch::Alarm")
RUNBOOK = (ROOT / "docs" / "operations.md").read_text()


def dashboard() -> dict[str, Any]:
    (board,) = properties("AWS::CloudWatch::Dashboard").values()
    body: str = board["DashboardBody"]["Sub"]
    # A number stands for each substitution: it fits inside and outside of strings.
    filled = re.sub(r"\$\{(?!!)[^}]+\}", "5", body).replace("${!", "${")
    parsed: dict[str, Any] = json.loads(filled)
    return parsed


def plotted() -> Iterator[tuple[str, str]]:
    for widget in dashboard()["widgets"]:
        for row in widget["properties"]["metrics"]:
            if isinstance(row[0], str):
                yield row[0], row[1]
            elif found := re.search(r'MetricName="(\w+)"', row[0]["expression"]):
                yield NAMESPACE, found[1]


def known(namespace: str, name: str) -> bool:
    return (namespace, name) in AWS_METRICS or (namespace == NAMESPACE and name in set(Metric))


def test_the_dashboard_plots_only_what_exists() -> None:
    rows = list(plotted())
    assert rows
    assert [row for row in rows if not known(*row)] == []


def test_the_dashboard_plots_every_metric_of_ours() -> None:
    assert {name for namespace, name in plotted() if namespace == NAMESPACE} == set(Metric)


def test_widgets_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for widget in dashboard()["widgets"]:
        columns = range(widget["x"], widget["x"] + widget["width"])
        cells = {(x, y) for x in columns for y in range(widget["y"], widget["y"] + widget["height"])}
        assert columns.stop <= 24
        assert not taken & cells
        taken |= cells


@pytest.mark.parametrize("name", ALARMS)
def test_each_alarm_watches_what_exists_and_tells_somebody(name: str) -> None:
    alarm = ALARMS[name]
    assert known(alarm["Namespace"], alarm["MetricName"])
    assert alarm["TreatMissingData"] == "notBreaching"
    assert alarm["AlarmActions"] == [{"Ref": "AlarmTopic"}]
    if alarm["Namespace"] == NAMESPACE:
        assert alarm["Dimensions"] == [{"Name": "service", "Value": "fencepost"}]


@pytest.mark.parametrize("name", ALARMS)
def test_each_alarm_has_a_section_that_says_what_it_means_and_what_to_do(name: str) -> None:
    section = re.search(rf"^### [^\n]*`{name}`[^\n]*\n(.*?)(?=^#|\Z)", RUNBOOK, re.MULTILINE | re.DOTALL)
    assert section, f"docs/operations.md has no section for {name}"
    assert "**Means.**" in section[1]
    assert "**Do.**" in section[1]


def test_the_runbook_names_no_alarm_that_does_not_exist() -> None:
    named = set(re.findall(r"`(\w+Alarm)`", RUNBOOK))
    assert named == set(ALARMS)


def test_every_table_is_watched_for_throttling() -> None:
    assert watched("WriteThrottleEvents", "TableName") == properties("AWS::DynamoDB::Table").keys()


def watched(metric: str, dimension: str) -> set[str]:
    """Return the resources whose metric has an alarm."""
    values = [
        row["Value"]
        for alarm in ALARMS.values()
        for row in alarm["Dimensions"]
        if alarm["MetricName"] == metric and row["Name"] == dimension
    ]
    return {value["Ref"] if "Ref" in value else value["GetAtt"].partition(".")[0] for value in values}


def test_every_function_that_reaches_a_store_is_watched_for_errors() -> None:
    assert watched("Errors", "FunctionName") == properties("AWS::Serverless::Function").keys() - {"MetaFunction"}


def test_every_queue_of_dead_letters_is_watched_and_every_other_for_its_age() -> None:
    queues = properties("AWS::SQS::Queue")
    working = {name for name, queue in queues.items() if "RedrivePolicy" in queue}
    assert watched("ApproximateNumberOfMessagesVisible", "QueueName") == queues.keys() - working
    assert watched("ApproximateAgeOfOldestMessage", "QueueName") == working


# The signals of conversations, each by the metric that its alarm watches.
SIGNALS = {
    "empty retrieval": Metric.EMPTY_RETRIEVALS,
    "organisation mismatch": Metric.ORGANISATION_MISMATCHES,
    "denial rate": Metric.DENIALS,
    "cache key outside its scope": Metric.CACHE_KEY_FINDINGS,
    "jobs refused at run time": Metric.JOBS_REFUSED,
    "erase verifier findings": Metric.ERASURE_LEFTOVERS,
}


@pytest.mark.parametrize("signal", SIGNALS)
def test_each_signal_has_an_alarm(signal: str) -> None:
    assert SIGNALS[signal] in {alarm["MetricName"] for alarm in ALARMS.values()}


def test_the_forecast_adds_the_rest_of_the_day_at_this_hours_rate() -> None:
    expressions = [
        row[0]["expression"]
        for widget in dashboard()["widgets"]
        for row in widget["properties"]["metrics"]
        if isinstance(row[0], dict) and row[0].get("id") == "forecast"
    ]
    assert [evaluate(expressions[0], committed=2_000_000, spend=100_000, hour=hour) for hour in (0, 12, 23)] == [
        pytest.approx(2.0 + 0.1 * 23),
        pytest.approx(2.0 + 0.1 * 11),
        pytest.approx(2.0),
    ]


def evaluate(expression: str, *, committed: int, spend: int, hour: int) -> float:
    """Evaluate one point of a metric expression: its arithmetic is Python's."""
    functions = {"FILL": lambda value, _: value, "HOUR": lambda _: hour}
    result: float = eval(expression, {"committed": committed, "spend": spend} | functions)
    return result
