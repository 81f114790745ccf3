"""The emulator's process: layers are unpacked once, and everything else as ever."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from local.ministack_process import Archive, unpacked


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def archive(folder: Path, **files: str) -> Path:
    folder.mkdir()
    path = folder / "layer.zip"
    with zipfile.ZipFile(path, "w") as written:
        for name, text in files.items():
            written.writestr(f"python/{name}.py", text)
    return path


def unpack(path: Path, target: Path) -> Path:
    """Unpack an archive as ministack does, to a folder that it has just made."""
    target.mkdir(parents=True)
    with Archive(path) as opened:
        opened.extractall(str(target))
    return target


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_layer_is_the_same_files_for_every_process(tmp_path: Path) -> None:
    layer = archive(tmp_path / "a", one="1", two="2")
    first, second = (unpack(layer, tmp_path / process / "layer_0") for process in ("p", "q"))
    assert texts(first / "python") == texts(second / "python") == {"one.py": "1", "two.py": "2"}
    assert (first / "python" / "one.py").samefile(second / "python" / "one.py")


def test_another_layer_is_another(tmp_path: Path) -> None:
    first = unpack(archive(tmp_path / "a", one="1"), tmp_path / "p" / "layer_0")
    second = unpack(archive(tmp_path / "b", one="2"), tmp_path / "p" / "layer_1")
    assert (texts(first / "python"), texts(second / "python")) == ({"one.py": "1"}, {"one.py": "2"})


def test_a_functions_own_code_is_its_own(tmp_path: Path) -> None:
    code = archive(tmp_path / "a", app="1")
    first, second = (unpack(code, tmp_path / process / "code") for process in ("p", "q"))
    assert not (first / "python" / "app.py").samefile(second / "python" / "app.py")
    assert not unpacked().exists()


def test_what_was_not_unpacked_to_its_end_is_unpacked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layer = archive(tmp_path / "a", one="1", two="2")

    def broken(self: zipfile.ZipFile, path: Path, *_: object) -> None:
        self.extract("python/one.py", path)
        raise OSError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(zipfile.ZipFile, "extractall", broken)
        with pytest.raises(OSError, match="the disk is full"):
            unpack(layer, tmp_path / "p" / "layer_0")
    assert texts(unpack(layer, tmp_path / "q" / "layer_0") / "python") == {"one.py": "1", "two.py": "2"}
