"""`make site`, `make member`, `make token` and the demo's organisation, over a directory in memory."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from fencepost.identity.domain.scope import Membership, OrgRole
from fencepost.identity.domain.sites import LayerBudgets, Organisation, parse_origin
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.web.admin.service import Administration
from local import member, site
from local.directory import change, seed
from local.paths import ROOT
from local.state import StateFolder
from local.token import token
from local.trouble import Trouble
from tests.fakes.answers import FixedClock
from tests.fakes.directory import FakeDirectory

DOCS = {"ORG": "acme", "SITE": "docs", "ORIGINS": "https://acme.example, http://localhost:8080"}
ORIGINS = tuple(map(parse_origin, ("https://acme.example", "http://localhost:8080")))


@pytest.fixture
def directory() -> FakeDirectory:
    return FakeDirectory()


@pytest.fixture
def operated(directory: FakeDirectory) -> Administration:
    return Administration(directory.administered, LayerBudgets(), FixedClock())


def test_a_site_is_made_with_its_organisation(directory: FakeDirectory, operated: Administration) -> None:
    assert site.put(operated, DOCS) == "acme-docs"
    made = directory.site_by_key("acme-docs")
    assert made
    assert (made.org, made.id, made.origins) == ("acme", "docs", ORIGINS)
    assert directory.organisation("acme") == Organisation(id="acme", name="acme", default_site="docs", version=1)


def test_a_site_keeps_what_is_not_named(directory: FakeDirectory, operated: Administration) -> None:
    directory.add_site("acme", "docs", key="pk", origins=("https://acme.example",), facts="trust", active=False)
    assert site.put(operated, {"ORG": "acme", "SITE": "docs"}) == "pk"
    changed = directory.site("acme", "docs")
    assert changed
    assert (changed.origins, changed.facts, changed.active) == (ORIGINS[:1], "trust", True)
    assert site.put(operated, DOCS | {"KEY": "pk2"}) == "pk2"
    assert directory.site_by_key("pk") is None


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"ORG": ""}, "ORG"),
        ({"ORG": "Acme"}, "ORG"),
        ({"SITE": "a/b"}, "SITE"),
        ({"ORIGINS": "acme.example"}, "ORIGINS"),
        ({"ORIGINS": "https://acme.example/path"}, "ORIGINS"),
        ({"KEY": "a key"}, "KEY"),
    ],
)
def test_a_site_that_cannot_be_is_explained(operated: Administration, changes: Mapping[str, str], named: str) -> None:
    with pytest.raises(Trouble, match=f"^{named} ") as trouble:
        site.put(operated, {**DOCS, **changes})
    assert trouble.value.exit_code == 2


def test_a_key_of_another_site_is_refused(directory: FakeDirectory, operated: Administration) -> None:
    directory.add_site("zeta", "docs", key="acme-docs")
    with pytest.raises(FencepostError) as refused:
        site.put(operated, DOCS)
    assert refused.value.code is ErrorCode.SITE_KEY_TAKEN


def test_a_member_is_made_with_their_organisation(directory: FakeDirectory, operated: Administration) -> None:
    wanted = {"ORG": "acme", "MEMBER": "u1"}
    for version, (role, active) in enumerate([("member", True), ("admin", True), ("none", False)], 1):
        assert member.put(operated, {**wanted, "ROLE": role}) == f"u1 has the role {role} in acme."
        stored = OrgRole.ADMIN if role == "admin" else OrgRole.MEMBER
        assert directory.membership("acme", "u1") == Membership("acme", "u1", stored, active, version)
    assert directory.organisation("acme") == Organisation(id="acme", name="acme", version=1)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"ORG": ""}, "ORG"),
        ({"MEMBER": ""}, "USER"),
        ({"MEMBER": "a b"}, "USER"),
        ({"ROLE": ""}, "ROLE"),
        ({"ROLE": "owner"}, "ROLE"),
    ],
)
def test_a_member_who_cannot_be_is_explained(operated: Administration, changes: Mapping[str, str], named: str) -> None:
    with pytest.raises(Trouble, match=f"^{named} ") as trouble:
        member.put(operated, {"ORG": "acme", "MEMBER": "u1", "ROLE": "member", **changes})
    assert trouble.value.exit_code == 2


def test_the_demo_is_seeded_once_and_kept(directory: FakeDirectory, operated: Administration) -> None:
    door = ("http://127.0.0.1:8787", "http://localhost:8787")
    seed(operated, door)
    made = directory.site_by_key("demo")
    assert made
    assert (made.org, made.id, made.origins, made.version) == ("demo", "demo", tuple(map(parse_origin, door)), 1)
    assert directory.organisation("demo") == Organisation(id="demo", name="demo", default_site="demo", version=1)
    seed(operated, door)
    assert directory.site_by_key("demo") == made


def test_the_demo_serves_a_front_door_on_another_port_and_keeps_its_settings(
    directory: FakeDirectory, operated: Administration
) -> None:
    directory.add_site("demo", "demo", key="demo", origins=("https://mine.example",), facts="trust")
    seed(operated, ("http://127.0.0.1:9000",))
    kept = directory.site_by_key("demo")
    assert kept
    assert (list(map(str, kept.origins)), kept.facts) == (["http://127.0.0.1:9000", "https://mine.example"], "trust")


@pytest.fixture
def nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FENCEPOST_STATE_DIR", str(tmp_path))
    return tmp_path


def test_where_nothing_runs_it_is_said(nothing_runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert change(site.put, DOCS) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "make dev" in err
    with pytest.raises(Trouble, match="make dev"):
        token({"MEMBER": "u1"})
    with pytest.raises(Trouble, match="make dev"):
        StateFolder(nothing_runs).serving()


def test_nobody_is_guessed_for_a_token(nothing_runs: Path) -> None:
    with pytest.raises(Trouble, match=r"^USER "):
        token({"USER": "whoever-is-logged-in"})


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    others = {"USER": "whoever-is-logged-in", "PROFILE": "whatever-a-shell-has"}
    environment = {**os.environ, "FENCEPOST_STATE_DIR": str(folder), **others}
    command = ["make", "-s", "--no-print-directory", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["token", "USER=u1"], "make dev"),
        (["token"], "USER must be"),
        (["member", "ORG=acme", "ROLE=admin"], "make dev"),
        (["site", "ORG=acme", "SITE=docs", "ORIGINS=https://a.example"], "make dev"),
        (["member", "PROFILE=stage", "ORG=acme", "USER=u1", "ROLE=admin"], "samconfig.toml"),
        (["site", "PROFILE=version", "ORG=acme", "SITE=docs"], "samconfig.toml"),
        (["migrate-index"], "make dev"),
        (["migrate-index", "PROFILE=stage"], "samconfig.toml"),
        (["ingest", "PROFILE=stage", "SRC=docs/security.md"], "samconfig.toml"),
    ],
)
def test_make_says_what_is_wrong_and_prints_nothing_else(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = make(tmp_path, *arguments)
    assert done.returncode != 0
    assert done.stdout == ""
    assert said in done.stderr
