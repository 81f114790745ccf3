"""What `sam build` makes: complete, without doubles, compiled and small."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import subprocess
import sys
import sysconfig
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fencepost.settings import Settings
from local import build, parameters, template
from local.paths import BUILD, ROOT

# A source layer has no build: its archive is made of the folder itself.
CORE = ROOT / "layers" / "core" / "python"
DEPS = BUILD / "DepsLayer" / "python"
# Lambda allows 250 MB for a function with its layers; start-up time and the deployment's patience allow far less.
MAX_DEPENDENCY_MB = 85
MAX_OWN_CODE_MB = 2
# What the Lambda runtime brings (docs/adr/0003), and what of it the layer leaves out.
RUNTIME_PACKAGES = ("boto3", "botocore", "s3transfer", "urllib3", "jmespath", "dateutil")
LEFT_OUT = {"boto3", "botocore", "s3transfer", "urllib3", "dateutil"}
FUNCTIONS = sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py"))
HEAVY = ("boto3", "botocore.session", "botocore.client", "anthropic", "httpx2")

# Prints what a handler's import loaded, after the layers' folders have taken the places of /opt/python.
IMPORT = """
import importlib, json, sys
handler = importlib.import_module("app").handler
print(json.dumps({"callable": callable(handler), "modules": sorted(sys.modules)}))
"""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the build folder, brought up to date first."""
    build.build(parameters.machine(), tmp_path_factory.mktemp("build") / "build.log")
    return BUILD


def logical_id(function: str) -> str:
    resources: dict[str, Any] = template.load()["Resources"]
    (name,) = (
        key for key, value in resources.items() if value.get("Properties", {}).get("CodeUri") == f"functions/{function}"
    )
    return name


def environment(**variables: str) -> dict[str, str]:
    """Return a function's environment: every setting that a resource gives, and nothing of this process."""
    names = {field.alias: "name" for field in Settings.model_fields.values() if field.alias and "TABLE" in field.alias}
    return (
        {
            "PATH": os.environ["PATH"],
            "AWS_DEFAULT_REGION": "us-east-1",
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        | names
        | variables
    )


def import_handler(built: Path, function: str, tmp_path: Path, **variables: str) -> dict[str, Any]:
    """Import a built handler where only its layers and the runtime's own packages can be found."""
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    for package in RUNTIME_PACKAGES:
        (runtime / package).symlink_to(Path(sysconfig.get_path("purelib")) / package)
    (runtime / "six.py").symlink_to(Path(sysconfig.get_path("purelib")) / "six.py")
    path = [built / logical_id(function), CORE, DEPS, runtime]
    run = subprocess.run(
        [sys.executable, "-S", "-c", IMPORT],
        env=environment(PYTHONPATH=os.pathsep.join(map(str, path)), **variables),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    result: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return result


@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_handler_imports_from_the_build(built: Path, function: str, tmp_path: Path) -> None:
    assert import_handler(built, function, tmp_path)["callable"]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_sdk_is_imported_before_it_is_needed(built: Path, function: str, tmp_path: Path) -> None:
    modules = set(import_handler(built, function, tmp_path)["modules"])
    assert modules.isdisjoint(HEAVY)


def test_a_snapshot_holds_the_sdks(built: Path, tmp_path: Path) -> None:
    loaded = import_handler(built, "chat", tmp_path, AWS_LAMBDA_INITIALIZATION_TYPE="snap-start")
    assert {"botocore.client", "anthropic"} <= set(loaded["modules"])


def top_level(folder: Path) -> set[str]:
    rest = (".dist-info", "__pycache__")
    return {path.name for path in folder.iterdir() if not path.name.endswith(rest) and not path.name.startswith(".")}


def test_no_code_is_there_twice(built: Path) -> None:
    folders = [CORE, DEPS, *(built / logical_id(name) for name in FUNCTIONS)]
    counts = Counter(name for folder in folders for name in top_level(folder) if name != "app.py")
    assert [name for name, count in counts.items() if count > 1] == []


def test_functions_hold_their_handler_and_nothing_else(built: Path) -> None:
    for function in FUNCTIONS:
        assert top_level(built / logical_id(function)) == {"app.py"}


def test_the_layer_leaves_out_what_the_runtime_brings(built: Path) -> None:
    assert top_level(DEPS).isdisjoint(LEFT_OUT)


def megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1_000_000


def test_the_package_stays_small(built: Path) -> None:
    assert megabytes(DEPS) < MAX_DEPENDENCY_MB
    # Without the bytecode that a test run leaves beside it.
    assert sum(source.stat().st_size for source in CORE.rglob("*.py")) / 1_000_000 < MAX_OWN_CODE_MB


def test_every_dependency_is_compiled_and_its_bytecode_is_valid_whatever_the_files_times(built: Path) -> None:
    sources = list(DEPS.rglob("*.py"))
    assert sources
    for source in sources:
        compiled = Path(importlib.util.cache_from_source(str(source)))
        header = compiled.read_bytes()[:16]
        assert header[:4] == importlib.util.MAGIC_NUMBER
        assert int.from_bytes(header[4:8], "little") == 0b01, "hash-based and unchecked (PEP 552)"
        assert header[8:16] == importlib.util.source_hash(source.read_bytes())


def test_the_layers_requirements_are_the_locks(tmp_path: Path) -> None:
    dry_run = ["make", "--dry-run", "--no-print-directory", "requirements"]
    recipe = subprocess.run(dry_run, cwd=ROOT, capture_output=True, text=True, check=True)
    command = shlex.split(recipe.stdout.replace("\\\n", ""))
    place = command.index("--output-file") + 1
    committed, command[place] = ROOT / command[place], str(tmp_path / "requirements.txt")
    subprocess.run(command, cwd=ROOT, check=True)
    assert committed.read_text() == (tmp_path / "requirements.txt").read_text()
