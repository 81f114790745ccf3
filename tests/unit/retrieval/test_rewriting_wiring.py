"""What rewrites follow-ups in a deployment: only where it is asked for, and on bills that keep their last permit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.bootstrap.stores import tenant_stores
from fencepost.bootstrap.wiring.turn_retrieval import turn_retrieval, with_headroom
from fencepost.bootstrap.wiring.turns import answer_parts
from fencepost.conversations.domain.attachments import AttachedText
from fencepost.documents.domain.sections import NO_DOCUMENTS, DocumentSet
from fencepost.identity.domain.sites import LayerBudgets, Site
from fencepost.kernel.input_limits import MAX_MESSAGE_CHARACTERS
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.prices import price_of, worst_case
from fencepost.limits.service.headroom import HeadroomLedger
from fencepost.limits.service.site_caps import SiteLedger
from fencepost.settings import load_settings
from tests.fakes.answers import FakeKeys
from tests.worlds.chat import MODEL, FakeEvents
from tests.worlds.layered_prompts import shown, turn
from tests.worlds.prompts import GUIDE, SITE

CAPS = Caps(5, MicroDollars(500_000))


@pytest.mark.parametrize(("followups", "rewrites"), [("", False), ("words", False), ("model", True)])
def test_follow_ups_are_rewritten_where_the_settings_ask_for_it(tmp_path: Path, followups: str, rewrites: bool) -> None:
    variables = {"FENCEPOST_INDEX": "embedded", "FENCEPOST_INDEX_PATH": str(tmp_path / "index.db")}
    chosen = {"FENCEPOST_FOLLOWUPS": followups} if followups else {}
    settings, log = load_settings(variables | chosen), FakeEvents()
    recall = turn_retrieval(settings, tenant_stores(settings, log), answer_parts(settings, FakeKeys(), log).models)
    assert recall
    assert (recall.rewriting is not None) == rewrites


def test_both_bills_keep_what_an_answer_may_cost() -> None:
    models = answer_parts(load_settings({}), FakeKeys(), FakeEvents()).models
    site = Site(org="acme", id="docs", key="pk", model=MODEL, caps=CAPS)
    sparing, paid = with_headroom(models)(site).billing, models.paid(site).billing
    assert sparing.caps == paid.caps
    assert isinstance(sparing.ledger, SiteLedger)
    assert isinstance(paid.ledger, SiteLedger)
    for bill in (sparing.ledger.deployment, sparing.ledger.site):
        assert isinstance(bill, HeadroomLedger)
        # A prompt that fills its layers is some hundred thousand counted tokens, of a dollar a million or more.
        assert 100_000 < bill.spared < CAPS.spend
    assert sparing.ledger.caps == CAPS
    assert not isinstance(paid.ledger.deployment, HeadroomLedger)


@pytest.mark.parametrize("documents", [NO_DOCUMENTS, GUIDE])
def test_the_dearest_answer_costs_no_more_than_is_kept_for_it(documents: DocumentSet) -> None:
    """Little of it is in the layers that have budgets of their own, where a site keeps these small."""
    small = LayerBudgets(facts_tokens=0, summary_tokens=0, history_tokens=0, documents_tokens=400, memory_tokens=0)
    site = replace(SITE, model=MODEL, product_prompt="Tea. " * 1_600, budgets=small)
    layers = replace(
        turn(documents=documents, site=site, files=[AttachedText("9", "notes.txt", "My notes. " * 99)]),
        message="\U0002070e" * MAX_MESSAGE_CHARACTERS,
    )
    prompt = shown(layers, small)
    models = answer_parts(load_settings({}), FakeKeys(), FakeEvents()).models
    bill = with_headroom(models)(site).billing.ledger
    assert isinstance(bill, HeadroomLedger)
    assert worst_case(price_of(MODEL), prompt.input_tokens, prompt.max_output_tokens) <= bill.spared
