from __future__ import annotations

import io
import sys

import pytest

from fencepost.identity.domain.scope import Action, Visitor, authorize, own
from fencepost.kernel.aws.secrets import SecretKeys
from fencepost.observability.service import pseudonyms, subject
from local.pseudonym import main, pseudonym
from local.trouble import Trouble

SECRET = "the deployment's signing secret"


def test_it_is_the_name_that_events_use() -> None:
    keys = SecretKeys("arn", read=lambda *_: SECRET)
    visitor = Visitor("acme", "docs", "0198")
    about = subject(pseudonyms(keys), authorize(visitor, Action.CHAT, own(visitor)), "c1")
    assert pseudonym({"KIND": "conv", "ORG": "acme", "ID": "c1"}, SECRET) == about.conversation
    assert pseudonym({"KIND": "owner", "ORG": "acme", "ID": "visitor:0198"}, SECRET) == about.owner
    assert pseudonym({"KIND": "org", "ORG": "acme"}, SECRET) == about.org


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"KIND": "msg", "ORG": "acme", "ID": "m1"},
        {"KIND": "conv", "ORG": "Acme", "ID": "c1"},
        {"KIND": "conv", "ORG": "acme"},
        {"KIND": "org", "ORG": "acme", "ID": "c1"},
    ],
)
def test_what_is_missing_or_wrong_is_told(wrong: dict[str, str]) -> None:
    with pytest.raises(Trouble, match="KIND=conv ORG=acme ID="):
        pseudonym(wrong, SECRET)


def test_the_secret_comes_over_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{SECRET}\n"))
    for name, value in {"KIND": "conv", "ORG": "acme", "ID": "c1"}.items():
        monkeypatch.setenv(name, value)
    assert main() == 0
    assert capsys.readouterr().out.strip() == pseudonym({"KIND": "conv", "ORG": "acme", "ID": "c1"}, SECRET)
