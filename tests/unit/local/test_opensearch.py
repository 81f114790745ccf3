"""Which OpenSearch `make test-opensearch` takes, and how it gets one."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from local.opensearch_node import artefacts
from local.opensearch_node import node as nodes
from local.trouble import Trouble
from tests.doubles.servers import serve

HEALTHY = Starlette(routes=[Route("/_cluster/health", lambda _: JSONResponse({"status": "green"}))])
# Answers as an engine does, and runs a "container" that says it is healthy at the published port.
DOCKER = """
[ "$1" = version ] && exit 0
echo "$@"
for part; do case "$part" in 127.0.0.1:*:9200) port=${part#*:}; port=${port%:*};; esac; done
exec PYTHON -m http.server "$port" --bind 127.0.0.1 --directory FOLDER
"""


class Machine:
    """A machine with only those programs that a test installs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[str] = []
        self.programs = folder / "bin"
        self.programs.mkdir()

    def install(self, name: str, script: str) -> None:
        program = self.programs / name
        program.write_text(f"#!/bin/sh\n{script}")
        program.chmod(0o755)

    def container(self) -> None:
        (self.folder / "_cluster").mkdir()
        (self.folder / "_cluster" / "health").touch()
        self.install("docker", DOCKER.replace("PYTHON", sys.executable).replace("FOLDER", str(self.folder)))

    def url(self) -> str:
        """Bring OpenSearch up and down again, and return where it was."""
        with nodes.running(self.folder / "node", self.said.append) as url:
            assert httpx.get(f"{url}/_cluster/health", trust_env=False).is_success
        return url


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    for name in ("OPENSEARCH_URL", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    made = Machine(tmp_path)
    monkeypatch.setenv("PATH", str(made.programs))
    monkeypatch.setattr(artefacts, "ROOT", tmp_path)
    return made


def test_a_given_one_is_taken_and_nothing_is_started(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.container()
    with serve(HEALTHY) as given:
        monkeypatch.setenv("OPENSEARCH_URL", given)
        assert (machine.url(), machine.said) == (given, [])


def test_a_given_one_that_does_not_answer_is_not_replaced(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.container()
    monkeypatch.setenv("OPENSEARCH_URL", "http://127.0.0.1:1")
    monkeypatch.setattr(nodes, "_ANSWER_SECONDS", 0.1)
    with pytest.raises(Trouble, match="OPENSEARCH_URL") as raised:
        machine.url()
    assert raised.value.exit_code == 2


def test_where_docker_answers_a_container_runs_for_the_block(machine: Machine) -> None:
    machine.container()
    url = machine.url()
    assert f"opensearchproject/opensearch:{artefacts.version()}" in (machine.folder / "node/opensearch.log").read_text()
    with pytest.raises(httpx.ConnectError):
        httpx.get(url, trust_env=False)


def test_one_that_ends_at_once_tells_its_last_words(machine: Machine) -> None:
    machine.install("docker", '[ "$1" = version ] || { echo no such image; exit 1; }')
    with pytest.raises(Trouble, match="no such image"):
        machine.url()


def test_a_docker_client_without_an_engine_is_no_container(machine: Machine) -> None:
    machine.install("docker", "exit 1")
    with pytest.raises(Trouble, match="install one, start Docker or set OPENSEARCH_URL"):
        machine.url()


def test_java_without_maven_says_what_is_missing(machine: Machine) -> None:
    machine.install("java", "exit 1")
    with pytest.raises(Trouble, match="Maven"):
        machine.url()


def test_a_download_that_fails_leaves_nothing_that_looks_complete(machine: Machine) -> None:
    machine.install("mvn", 'for part; do case "$part" in -Djars=*) /bin/mkdir "${part#-Djars=}";; esac; done; exit 1')
    with pytest.raises(Trouble, match="mvn package"):
        artefacts.jars()
    assert [path.suffix for path in (machine.folder / ".tools").iterdir()] == [".log"]


def test_what_was_downloaded_is_not_asked_for_again(machine: Machine) -> None:
    machine.install("mvn", 'for part; do case "$part" in -Djars=*) /bin/mkdir "${part#-Djars=}";; esac; done')
    first = artefacts.jars()
    machine.install("mvn", "exit 1")
    assert artefacts.jars() == first
