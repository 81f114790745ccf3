"""The jars of a node, as Maven resolves them from `pom.xml`, kept in `.tools` from one run to the next."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from local import processes
from local.paths import ROOT
from local.trouble import Trouble

_POM = Path(__file__).with_name("pom.xml")
_NAMESPACE = {"pom": "http://maven.apache.org/POM/4.0.0"}
_MAVENS_OWN = ("JAVA_HOME", "MAVEN_ARGS", "MAVEN_OPTS")


def version() -> str:
    """Return the version of OpenSearch that the pom pins, e.g. `2.19.1`."""
    pinned = ET.parse(_POM).findtext("pom:properties/pom:opensearch.version", namespaces=_NAMESPACE)  # noqa: S314  # our own file
    if pinned is None:
        raise Trouble(f"{_POM} names no opensearch.version.")
    return pinned


def jars() -> Path:
    """Return the folder of the jars. Maven fills it when the pom changed.

    Raises:
        Trouble: Maven is not installed, or cannot fetch the jars.
    """
    digest = hashlib.sha256(_POM.read_bytes()).hexdigest()
    folder = ROOT / ".tools" / f"opensearch-{digest[:12]}"
    if not folder.exists():
        _fill(folder)
    return folder


def _fill(folder: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise Trouble("OpenSearch is put together with Maven (`mvn`): install it, start Docker or set OPENSEARCH_URL.")
    print("Getting OpenSearch's jars …", flush=True)
    folder.parent.mkdir(exist_ok=True)
    # Renamed when it is whole: a run that was cut short leaves nothing that looks complete.
    with tempfile.TemporaryDirectory(prefix="opensearch-", dir=folder.parent) as scratch:
        made = Path(scratch) / "jars"
        _run(maven, made, folder.with_suffix(".log"))
        made.rename(folder)


def _run(maven: str, made: Path, log: Path) -> None:
    options = ("--batch-mode", "--no-transfer-progress", "--file", str(_POM), f"-Djars={made}")
    environment = {name: os.environ[name] for name in _MAVENS_OWN if name in os.environ}
    processes.run("mvn package", [maven, *options, "package"], environment, log)
