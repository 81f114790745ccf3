"""Embeddings from Bedrock: the real SDK against a double of its wire."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from fencepost.retrieval.bedrock import COHERE_V4, TITAN_V2, BedrockEmbedder, BedrockModel
from fencepost.retrieval.domain.search import EmbedderUnavailable
from tests.doubles.bedrock import COHERE, TITAN, Answer, BedrockDouble, bedrock, failing

THROTTLED = failing("ThrottlingException", 429)


@pytest.fixture(scope="module")
def served() -> Iterator[BedrockDouble]:
    with bedrock() as double:
        yield double


@pytest.fixture
def double(served: BedrockDouble) -> BedrockDouble:
    served.calls.clear()
    served.failures.clear()
    return served


def embedder(double: BedrockDouble, model: BedrockModel = TITAN_V2, seconds: float = 30) -> BedrockEmbedder:
    client = double.client()
    return BedrockEmbedder(
        model, lambda: client, passages_seconds=seconds, query_seconds=seconds, pause=lambda _seconds: None
    )


@pytest.mark.parametrize("model", [TITAN_V2, COHERE_V4])
def test_vectors_come_in_the_order_of_their_texts_and_have_length_one(
    double: BedrockDouble, model: BedrockModel
) -> None:
    texts = ["x" * (1 + number % 100) for number in range(200)]

    vectors = embedder(double, model).passages(texts)

    assert [vector.index(1.0) for vector in vectors] == [len(text) for text in texts]
    assert {len(vector) for vector in vectors} == {model.model.dimensions}
    assert all(math.isclose(math.sumprod(vector, vector), 1) for vector in vectors)


def test_titan_takes_one_text_a_call(double: BedrockDouble) -> None:
    embedder(double).passages(["one", "two", "three"])

    assert sorted(body["inputText"] for _, body in double.calls) == ["one", "three", "two"]
    assert {model for model, _ in double.calls} == {TITAN}


def test_cohere_takes_ninety_six_texts_a_call_and_is_told_their_use(double: BedrockDouble) -> None:
    cohere = embedder(double, COHERE_V4)

    cohere.passages(["text"] * 200)
    cohere.query("text?")

    assert sorted(len(body["texts"]) for _, body in double.calls) == [1, 8, 96, 96]
    assert [body["input_type"] for _, body in double.calls] == ["search_document"] * 3 + ["search_query"]
    assert {model for model, _ in double.calls} == {COHERE}


def test_a_text_is_cut_where_the_model_would_refuse_it(double: BedrockDouble) -> None:
    assert len(embedder(double).passages(["x" * 60_000])) == 1


@pytest.mark.parametrize("model", [TITAN_V2, COHERE_V4])
def test_model_and_dimension_are_in_the_name(double: BedrockDouble, model: BedrockModel) -> None:
    assert embedder(double, model).model.name == f"{model.id}/1024"


@pytest.mark.parametrize(
    "failure",
    [
        THROTTLED,
        failing("ModelTimeoutException", 408),
        failing("ModelNotReadyException", 429),
        failing("ServiceUnavailableException", 503),
        failing("InternalServerException", 500),
        (502, "<html>", {}),
        (200, "{not JSON", {}),
    ],
)
def test_what_passes_is_tried_again(double: BedrockDouble, failure: Answer) -> None:
    double.failures.extend([failure, failure])

    assert embedder(double).query("text").index(1.0) == 4
    assert len(double.calls) == 3


def test_what_does_not_pass_is_not_tried_again(double: BedrockDouble) -> None:
    for code, status, reason in (("AccessDeniedException", 403, "denied"), ("ValidationException", 400, "refused")):
        double.failures.append(failing(code, status))

        with pytest.raises(EmbedderUnavailable) as raised:
            embedder(double).query("text")

        assert (raised.value.reason, raised.value.retriable) == (reason, False)
    assert len(double.calls) == 2


def test_the_deadline_ends_the_tries(double: BedrockDouble) -> None:
    double.failures.extend([THROTTLED] * 9)

    with pytest.raises(EmbedderUnavailable) as raised:
        embedder(double, seconds=0).query("text")

    assert (raised.value.reason, raised.value.retriable) == ("throttled", True)
    assert len(double.calls) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "{}",
        "[]",
        '{"embedding": null}',
        '{"embedding": [1, 2]}',
        '{"embedding": ["a"]}',
        '{"embedding": %s}' % ([0.0] * 1024),
        '{"embedding": %s}' % ([math.inf] * 1024),
    ],
)
def test_an_answer_that_is_no_vector_is_none(double: BedrockDouble, answer: str) -> None:
    double.failures.append((200, answer.replace("inf", "Infinity"), {}))

    with pytest.raises(EmbedderUnavailable, match="malformed"):
        embedder(double, seconds=0).query("text")


def test_nobody_there_is_unavailable(double: BedrockDouble) -> None:
    nowhere = BedrockDouble("http://127.0.0.1:9")

    with pytest.raises(EmbedderUnavailable, match="connection"):
        embedder(nowhere, seconds=0).passages(["text"])


def test_nothing_asks_nobody(double: BedrockDouble) -> None:
    assert embedder(double).passages([]) == ()
    assert double.calls == []


def test_tokens_are_never_underestimated(double: BedrockDouble) -> None:
    assert embedder(double).count("héllo") == 6
