"""What rewrites follow-ups in a deployment: only where it is asked for, and on bills that keep their last permit."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.bootstrap.answers import answers
from fencepost.bootstrap.recalling import turn_recall
from fencepost.bootstrap.stores import stores
from fencepost.domain.limits import Caps
from fencepost.domain.money import MicroDollars
from fencepost.domain.sites import Site
from fencepost.services.site_caps import SiteLedger
from fencepost.services.sparing import SparingLedger
from fencepost.settings import load_settings
from tests.chat_world import MODEL, FakeEvents
from tests.fakes import FakeKeys

CAPS = Caps(5, MicroDollars(500_000))


@pytest.mark.parametrize(("followups", "rewrites"), [("", False), ("words", False), ("model", True)])
def test_follow_ups_are_rewritten_where_the_settings_ask_for_it(tmp_path: Path, followups: str, rewrites: bool) -> None:
    variables = {"FENCEPOST_INDEX": "embedded", "FENCEPOST_INDEX_PATH": str(tmp_path / "index.db")}
    chosen = {"FENCEPOST_FOLLOWUPS": followups} if followups else {}
    settings, log = load_settings(variables | chosen), FakeEvents()
    recall = turn_recall(settings, stores(settings, log), answers(settings, FakeKeys(), log))
    assert recall
    assert (recall.rewriting is not None) == rewrites


def test_both_bills_keep_what_an_answer_may_cost() -> None:
    made = answers(load_settings({}), FakeKeys(), FakeEvents())
    site = Site(org="acme", id="docs", key="pk", model=MODEL, caps=CAPS)
    sparing, paid = made.sparing(site).billing, made.paid(site).billing
    assert sparing.caps == paid.caps
    assert isinstance(sparing.ledger, SiteLedger)
    assert isinstance(paid.ledger, SiteLedger)
    for bill in (sparing.ledger.deployment, sparing.ledger.site):
        assert isinstance(bill, SparingLedger)
        # A prompt that fills its layers is some hundred thousand counted tokens, of a dollar a million or more.
        assert 100_000 < bill.spared < CAPS.spend
    assert sparing.ledger.caps == CAPS
    assert not isinstance(paid.ledger.deployment, SparingLedger)
