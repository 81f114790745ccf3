"""Fixtures: the emulated cloud, and the deployed stack on another one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from hypothesis import settings

from local import emulator as emulators
from local import processes, template
from local.cloud import started
from local.state import StateFolder
from tests.doubles import dynamodb_watch
from tests.doubles.dynamodb_scans import mark_scans
from tests.doubles.stack import Stack
from tests.doubles.stand_in import StandIn
from tests.worlds.thoroughness import EXHAUSTIVE

# Nothing in a test run may meet a real account, and nobody's own settings may change what is tested.
os.environ.update(emulators.CREDENTIALS)
for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "PORT", "FENCEPOST_STATE_DIR", *template.variables()):
    os.environ.pop(name, None)

# Without deadlines: no test asserts a time.
settings.register_profile("fencepost", max_examples=200 if EXHAUSTIVE else 40, deadline=None)
settings.load_profile("fencepost")

_RECORD = pytest.StashKey[Path]()
"""The file of the requests that DynamoDB would refuse."""

# So that tests do not spend each other's quota; those of the limits set their own.
_ROOMY = {
    "RATE_LIMIT_PER_MINUTE": "100000",
    "RATE_LIMIT_PER_DAY": "1000000",
    "RATE_LIMIT_OTHER_PER_MINUTE": "100000",
    "RATE_LIMIT_OTHER_PER_DAY": "1000000",
}


def pytest_configure(config: pytest.Config) -> None:
    """Have all emulators of this run check what DynamoDB is asked, and mark the scans that tests make themselves."""
    with tempfile.NamedTemporaryFile(prefix="dynamodb-rules-", delete=False) as file:
        record = Path(file.name)
    config.stash[_RECORD] = record
    os.environ |= {dynamodb_watch.MODULE: dynamodb_watch.__name__, dynamodb_watch.RECORD: str(record)}
    mark_scans()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run where a request breaks a rule of DynamoDB."""
    if session.config.stash[_RECORD].stat().st_size:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name the requests that break a rule of DynamoDB."""
    record = config.stash[_RECORD]
    if findings := record.read_text(encoding="utf-8"):
        terminalreporter.section("DynamoDB would have refused these requests (tests/doubles/dynamodb_rules.py)")
        terminalreporter.write(findings)
    record.unlink()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs a whole local cloud: `make test` runs it beside the rest."""
    for item in items:
        if "stack" in getattr(item, "fixturenames", ()) or "e2e" in item.path.parts:
            item.add_marker(pytest.mark.cloud)


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[emulators.Emulator]:
    """Yield a fresh emulated cloud: `.endpoint_url`, and `.client("dynamodb")` for a boto3 client of it."""
    running = emulators.start(tmp_path_factory.mktemp("emulator"), processes.free_port())
    yield running
    running.stop()


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Yield the deployed template with its front door and its stand-in for the provider."""
    folder = StateFolder(tmp_path_factory.mktemp("stack"))
    with started(folder, 0, _ROOMY, print) as cloud, httpx.Client(timeout=150, trust_env=False) as http:
        http.base_url = httpx.URL(cloud.url)
        yield Stack(cloud, http, StandIn(f"{cloud.url}/_local/provider", http))
