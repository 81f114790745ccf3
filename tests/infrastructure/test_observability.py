"""Dashboard, alarms and runbook against each other and against what the code emits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from fencepost.edge.metrics import NAMESPACE, Metric
from local.paths import ROOT
from tests.infrastructure.test_template import properties

# Metrics that AWS itself emits for what the template makes.
AWS_METRICS = {
    ("AWS/Lambda", "Errors"),
    ("AWS/Lambda", "Throttles"),
    ("AWS/DynamoDB", "WriteThrottleEvents"),
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
    watched = {
        alarm["Dimensions"][0]["Value"]["Ref"]
        for alarm in ALARMS.values()
        if alarm["MetricName"] == "WriteThrottleEvents"
    }
    assert watched == properties("AWS::DynamoDB::Table").keys()


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
