"""Commands that start a node, in a container or in a Java virtual machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from local.opensearch_node import artefacts
from local.trouble import Trouble

_HERE = Path(__file__).parent
_CONFIG = _HERE / "config"
_HEAP = ("-Xms512m", "-Xmx512m")
# A node of a few small indexes that lives for a minute: starting costs more than running.
_SHORT_LIVED = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
_DOCKERS_OWN = ("DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_HOST")


class Launch(NamedTuple):
    """A command that runs a node on a port of the loopback interface until it is told to end."""

    how: str
    command: tuple[str | Path, ...]
    environment: Mapping[str, str]


def has_docker() -> bool:
    """Return whether a Docker engine answers: the client may be installed without an engine."""
    docker = shutil.which("docker")
    if docker is None:
        return False
    return subprocess.run([docker, "version"], capture_output=True, check=False).returncode == 0


def container(port: int) -> Launch:
    """Return the command that runs the distribution's image, which Docker pulls if needed."""
    settings = {
        "discovery.type": "single-node",
        "cluster.routing.allocation.disk.threshold_enabled": "false",
        "DISABLE_INSTALL_DEMO_CONFIG": "true",
        "DISABLE_SECURITY_PLUGIN": "true",
        "OPENSEARCH_JAVA_OPTS": " ".join(_HEAP),
    }
    given = (part for name, value in settings.items() for part in ("--env", f"{name}={value}"))
    image = f"opensearchproject/opensearch:{artefacts.version()}"
    command = ("docker", "run", "--rm", "--publish", f"127.0.0.1:{port}:9200", *given, image)
    return Launch("in a container", command, {name: os.environ[name] for name in _DOCKERS_OWN if name in os.environ})


def virtual_machine(folder: Path, port: int) -> Launch:
    """Return the command that runs a node from its jars and keeps all its files in the folder.

    Raises:
        Trouble: there is no Java, or the jars cannot be had.
    """
    scratch = folder / "tmp"
    scratch.mkdir(parents=True, exist_ok=True)
    logging = f"-Dlog4j2.configurationFile={_CONFIG / 'log4j2.properties'}"
    options = (*_HEAP, *_SHORT_LIVED, f"-Djava.io.tmpdir={scratch}", f"-Djna.tmpdir={scratch}", logging)
    node = (_HERE / "LocalNode.java", _CONFIG, f"path.home={folder}", f"http.port={port}")
    command = (_java(), *options, "-cp", f"{artefacts.jars()}/*", *node)
    return Launch("from its jars", command, {})


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if java is None:
        raise Trouble("OpenSearch needs a JDK, 11 or newer: install one, start Docker or set OPENSEARCH_URL.")
    return java
