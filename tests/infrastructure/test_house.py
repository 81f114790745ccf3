"""The layout that a newcomer relies on: few files in a folder, one meaning a name, no re-exports."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.paths import ROOT

CORE = ROOT / "layers" / "core" / "python" / "fencepost"
MOST_FILES = 12
PATTERNS = "patterns"
"""A folder of data: one file a language."""
RETIRED = {
    "comparing",
    "Sides",
    "strays",
    "bury",
    "sparing",
    "leasing",
    "Taking",
    "building",
    "Told",
    "Piece",
    "cut",
    "Fate",
    "Asked",
    "Part",
    "Placed",
    "Stretch",
    "Due",
    "stack",
    "layers",
    "composition",
    "remains",
    "Remnant",
    "roll",
    "transact_surely",
    "together",
    "DocumentLibrary",
    "CorpusService",
    "leans_back",
    "Hopeless",
    "inert_address",
    "harmless",
}
"""Names that had to be explained, each replaced by the field's term."""


def sources() -> list[Path]:
    return sorted(path for folder in (CORE, ROOT / "local", ROOT / "functions") for path in folder.rglob("*.py"))


def definitions(path: Path) -> Iterator[str]:
    """Yield the names of classes, functions and type aliases, nested ones included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.TypeAlias(name=ast.Name(id=name)):
                yield name


def test_no_name_is_one_that_was_retired() -> None:
    named = {(str(path.relative_to(ROOT)), name) for path in sources() for name in (path.stem, *definitions(path))}
    assert {(path, name) for path, name in named if name.lstrip("_") in RETIRED} == set()


def test_a_class_has_a_name_of_its_own() -> None:
    homes = defaultdict(list)
    for path in sorted(CORE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(CORE)))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


@pytest.mark.parametrize("folder", sorted({path.parent for path in CORE.rglob("*.py")}), ids=lambda path: path.name)
def test_a_folder_is_taken_in_at_a_glance(folder: Path) -> None:
    files = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert folder.name == PATTERNS or len(files) <= MOST_FILES


def test_packages_re_export_nothing() -> None:
    for path in CORE.rglob("__init__.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module != "__future__"]
        assert not imported, path


def test_every_package_says_what_lives_in_it() -> None:
    for room in (path for path in CORE.iterdir() if (path / "__init__.py").exists()):
        text = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
        assert len(text.splitlines()) >= 3 or room.name == "bootstrap", room.name
