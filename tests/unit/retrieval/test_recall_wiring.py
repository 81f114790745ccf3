"""What finds passages in a deployment: for how long, of which kinds, and by which model."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.bootstrap.stores import tenant_stores
from fencepost.bootstrap.wiring.turn_retrieval import turn_retrieval
from fencepost.bootstrap.wiring.turns import answer_parts
from fencepost.retrieval.domain.ranking.selection import FLOOR
from fencepost.settings import load_settings
from fencepost.turns.service.turn_retrieval import WANTED, TurnRetrieval
from tests.fakes.answers import FakeKeys
from tests.worlds.chat import FakeEvents


def wired(path: Path, **variables: str) -> TurnRetrieval | None:
    index = {"FENCEPOST_INDEX": "embedded", "FENCEPOST_INDEX_PATH": str(path / "index.db")}
    settings, log = load_settings(index | variables), FakeEvents()
    return turn_retrieval(settings, tenant_stores(settings, log), answer_parts(settings, FakeKeys(), log).models)


@pytest.mark.parametrize(("milliseconds", "seconds"), [(None, 0.4), ("250", 0.25)])
def test_it_is_waited_for_as_long_as_the_settings_say(tmp_path: Path, milliseconds: str | None, seconds: float) -> None:
    chosen = {"FENCEPOST_RETRIEVAL_DEADLINE_MS": milliseconds} if milliseconds else {}
    made = wired(tmp_path, **chosen)
    assert made
    assert made.recall.deadline == seconds


def test_all_that_a_turn_wants_can_be_shown_and_nothing_below_the_floor(tmp_path: Path) -> None:
    made = wired(tmp_path)
    assert made
    assert set(made.recall.hydrators) == set(WANTED)
    assert made.recall.floor == FLOOR > 0


@pytest.mark.parametrize(
    ("embedder", "model"),
    [
        ("local", "multilingual-e5-small-q4/384"),
        ("titan-v2", "amazon.titan-embed-text-v2:0/1024"),
        ("cohere-v4", "cohere.embed-v4:0/1024"),
    ],
)
def test_questions_are_embedded_by_the_model_that_is_deployed(tmp_path: Path, embedder: str, model: str) -> None:
    made = wired(tmp_path, FENCEPOST_EMBEDDER=embedder)
    assert made
    assert made.recall.embedder.model.name == model


def test_without_an_index_nothing_is_looked_for(tmp_path: Path) -> None:
    assert wired(tmp_path, FENCEPOST_INDEX="none", FENCEPOST_INDEX_PATH="") is None
