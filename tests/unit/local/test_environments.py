"""The environments of the tools: made when they are missing, moved, broken or older than the lock."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from local import environments, processes
from local.trouble import Trouble

UV = """#!/bin/sh
mkdir -p "$UV_PROJECT_ENVIRONMENT/bin"
ln -s "{python}" "$UV_PROJECT_ENVIRONMENT/bin/python"
printf '#!%s\\necho ready\\n' /bin/sh > "$UV_PROJECT_ENVIRONMENT/bin/sam"
chmod +x "$UV_PROJECT_ENVIRONMENT/bin/sam"
echo made >> "{record}"
"""


class Project:
    """A project of its own, in which uv makes an environment with one command and keeps count."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self._monkeypatch = monkeypatch
        self._record = root.parent / "record"
        root.mkdir()
        uv = root / "uv"
        uv.write_text(UV.format(python=sys.executable, record=self._record))
        uv.chmod(0o755)
        (root / "uv.lock").touch()
        self._stand_at(root)

    def _stand_at(self, root: Path) -> None:
        self.root = root
        for name, value in {"ROOT": root, "UV": root / "uv", "_LOCK": root / "uv.lock"}.items():
            self._monkeypatch.setattr(environments, name, value)

    def move(self) -> None:
        """Move the project to another folder."""
        self._stand_at(self.root.rename(self.root.with_name("moved")))

    def sam(self) -> Path:
        """Ask for the command, which must be there."""
        command = environments.binary("sam", "sam")
        assert command.is_relative_to(self.root)
        assert os.access(command, os.X_OK)
        return command

    @property
    def made(self) -> int:
        """How often uv was run."""
        return len(self._record.read_text().splitlines())


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path / "project", monkeypatch)


def test_an_environment_is_made_once(project: Project) -> None:
    assert project.sam() == project.sam()
    assert project.made == 1


def test_a_moved_environment_is_made_anew(project: Project) -> None:
    (project.sam().parent / "left over").touch()
    project.move()
    assert not (project.sam().parent / "left over").exists()
    assert project.made == 2


@pytest.mark.parametrize("gone", ["python", "sam"])
def test_a_broken_environment_is_made_anew(project: Project, gone: str) -> None:
    part = project.sam().with_name(gone)
    part.unlink()
    part.symlink_to("/nowhere/at/all")
    project.sam()
    assert project.made == 2


def test_a_newer_lock_is_followed(project: Project) -> None:
    stamp = project.sam().parent.parent / ".synced"
    os.utime(stamp, (0, 0))
    project.sam()
    assert project.made == 2


def test_a_program_that_is_missing_is_trouble_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match=r"`sam build` cannot be started: /nowhere/sam: No such file"):
        processes.run("sam build", ["/nowhere/sam", "build"], {}, tmp_path / "log")


def test_a_script_whose_interpreter_is_gone_is_trouble_too(tmp_path: Path) -> None:
    script = tmp_path / "sam"
    script.write_text("#!/nowhere/bin/python\n")
    script.chmod(0o755)
    with pytest.raises(Trouble, match="`make clean`"):
        processes.run("sam build", [script], {}, tmp_path / "log")
