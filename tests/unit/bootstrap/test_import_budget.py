"""Import budgets: how many modules of ours each function loads. A function imports only what it uses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

# The function, its module, and the modules after its import: packages' `__init__` included.
IMPORTED = [
    ("chat", "fencepost.bootstrap.chat", 180),
    ("api", "fencepost.bootstrap.api", 263),
    ("jobs", "fencepost.bootstrap.jobs", 181),
    ("relay", "fencepost.bootstrap.relay", 68),
    ("schedule", "fencepost.bootstrap.schedule", 140),
    ("meta", "fencepost.web.meta", 9),
]
# The same after the handler of a deployment with an index was built: retrieval and ingestion are imported then.
BUILT = [("chat", 227), ("api", 296), ("jobs", 226), ("relay", 68), ("schedule", 151), ("meta", 9)]
# Packages that a function has no use for, built or not.
FOREIGN = [
    ("chat", ("fencepost.lifecycle", "fencepost.web.admin", "fencepost.jobs.dynamodb")),
    ("jobs", ("fencepost.screening", "fencepost.web", "fencepost.turns.service", "fencepost.http")),
    ("relay", ("fencepost.documents", "fencepost.access", "fencepost.screening", "fencepost.web")),
    ("schedule", ("fencepost.turns", "fencepost.model.service", "fencepost.screening", "fencepost.web")),
]


def loaded(statement: str, *paths: Path) -> list[str]:
    """Return the names of our modules that a process has loaded after one statement."""
    result = subprocess.run(
        [sys.executable, "-c", f"import sys\n{statement}\nprint(*sys.modules, sep='\\n')"],
        env={
            "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "layers/core/python", *paths))),
            "PATH": os.environ["PATH"],
            "FENCEPOST_INDEX": "classic",
            "FENCEPOST_OPENSEARCH_ENDPOINT": "https://index.example",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return [name for name in result.stdout.split() if name == "fencepost" or name.startswith("fencepost.")]


@pytest.mark.parametrize(("function", "module", "budget"), IMPORTED)
def test_importing_a_function_loads_no_more_modules_than_its_budget(function: str, module: str, budget: int) -> None:
    assert len(loaded(f"import {module}")) <= budget, function


@pytest.mark.parametrize(("function", "budget"), BUILT)
def test_building_a_function_with_an_index_loads_no_more_modules_than_its_budget(function: str, budget: int) -> None:
    assert len(loaded("import app", ROOT / "functions" / function)) <= budget


@pytest.mark.parametrize(("function", "foreign"), FOREIGN)
def test_a_function_loads_nothing_of_what_others_do(function: str, foreign: tuple[str, ...]) -> None:
    names = loaded("import app", ROOT / "functions" / function)
    assert [name for name in names if f"{name}.".startswith(tuple(f"{other}." for other in foreign))] == []
