"""What the documents in `docs/` say of the repository."""

from __future__ import annotations

import re

import pytest

from local.paths import ROOT

SECURITY = (ROOT / "docs" / "security.md").read_text()
NAMED_TESTS = sorted(set(re.findall(r"`((?:unit|integration|infrastructure|e2e)/[\w*./]*[\w*])`", SECURITY)))


@pytest.mark.parametrize("name", NAMED_TESTS)
def test_the_security_model_names_tests_that_exist(name: str) -> None:
    assert list((ROOT / "tests").glob(name if name.endswith(".py") else f"{name}.py"))


def test_each_promise_says_who_what_not_and_which_tests() -> None:
    sections = re.split(r"^## ", SECURITY, flags=re.MULTILINE)[1:]
    assert sections
    for section in sections[:-1]:
        assert "*What does not:*" in section
    assert all("*Tests:*" in section for section in sections)


def test_contributing_names_paths_that_exist() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text().partition("## I want to change")[2].partition("\n## ")[0]
    paths = set(re.findall(r"`([\w./*-]+(?:/|\.(?:py|yaml|md)))`", table))
    core = ROOT / "layers" / "core" / "python" / "fencepost"
    assert len(paths) > 30
    assert {path for path in paths if not any([*core.glob(path), *ROOT.glob(path)])} == set()
