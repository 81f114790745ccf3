"""`local/uv` on machines that lack something."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from local.environments import UV


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Return the command folder of a machine with neither uv nor Python; the script stands in a copy of the project."""
    (tmp_path / "project" / "local").mkdir(parents=True)
    shutil.copy(UV, tmp_path / "project" / "local" / "uv")
    commands = tmp_path / "bin"
    commands.mkdir()
    dirname = shutil.which("dirname")
    assert dirname
    (commands / "dirname").symlink_to(dirname)
    return commands


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def run_uv(commands: Path) -> subprocess.CompletedProcess[str]:
    uv = commands.parent / "project" / "local" / "uv"
    environment = {"PATH": str(commands)}
    return subprocess.run([uv, "--version"], env=environment, capture_output=True, text=True, check=False)


def test_a_machine_without_anything_is_told_what_it_needs(machine: Path) -> None:
    done = run_uv(machine)
    assert done.returncode == 1
    assert "needs Python 3.13 or uv" in done.stderr


def test_an_interpreter_of_another_version_is_not_taken(machine: Path) -> None:
    script(machine / "python3", "exit 1")
    assert "needs Python 3.13 or uv" in run_uv(machine).stderr


def test_a_uv_that_works_is_used(machine: Path) -> None:
    script(machine / "uv", 'echo "uv of the machine"')
    assert run_uv(machine).stdout == "uv of the machine\n"


def test_a_shim_that_fails_is_passed_over(machine: Path) -> None:
    script(machine / "uv", "exit 127")
    script(machine / "python3.13", 'case "$1" in -c) exit 0 ;; *) echo "making $3" ; exit 3 ;; esac')
    done = run_uv(machine)
    assert "Installing uv" in done.stderr
    assert "uv could not be installed with python3.13" in done.stderr
