"""Embeddings from Amazon Bedrock: Titan Text Embeddings V2 and Cohere Embed v4.

Sources of the bodies: docs.aws.amazon.com, "Amazon Titan Embeddings G1 - Text" (V2) and "Cohere Embed v4". Titan takes
one text a call, Cohere up to 96; both are asked for vectors of 1,024 dimensions.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import batched
from typing import TYPE_CHECKING, Any, Final, Literal, override

from fencepost.kernel.aws.session import aws_errors
from fencepost.model.domain import count_tokens
from fencepost.retrieval.domain.search import EmbedderUnavailable, EmbeddingModel, Vector
from fencepost.retrieval.ports import Embedder

if TYPE_CHECKING:
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

type Use = Literal["passage", "query"]

CALLS_AT_ONCE: Final = 8
PASSAGES_SECONDS: Final = 30.0
"""Deadline for all calls of one batch of passages, retries included; jobs wait for it."""
QUERY_SECONDS: Final = 2.0
"""Deadline for a query. The retriever has its own, shorter deadline."""

_CONNECT_TIMEOUT_SECONDS = 1
_READ_TIMEOUT_SECONDS = 10
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 4.0
_DIMENSIONS = 1_024
_TITAN_CHARACTERS = 50_000  # More is an error of Titan's, not a cut.
_TITAN_TOKENS = 8_192
_COHERE_TOKENS = 128_000
_COHERE_TEXTS = 96
_PASSING = frozenset(
    {
        "ThrottlingException",
        "ModelTimeoutException",
        "ModelNotReadyException",
        "ModelErrorException",
        "ServiceUnavailableException",
        "InternalServerException",
    }
)


@dataclass(frozen=True, slots=True)
class BedrockModel:
    """A Bedrock model, and the format of its requests and answers.

    Attributes:
        id: the model id of `InvokeModel`.
        max_tokens: of one text.
        texts: most texts of one call.
        body: returns the body of a request for texts and their use.
        vectors: returns the vectors of an answer; raises `KeyError`, `TypeError` or `ValueError` if it is malformed.
    """

    id: str
    max_tokens: int
    texts: int
    body: Callable[[Sequence[str], Use], Mapping[str, Any]]
    vectors: Callable[[Any], Sequence[Sequence[float]]]

    @property
    def model(self) -> EmbeddingModel:
        """The model, as it is recorded with each vector."""
        return EmbeddingModel(name=f"{self.id}/{_DIMENSIONS}", dimensions=_DIMENSIONS, max_tokens=self.max_tokens)


TITAN_V2: Final = BedrockModel(
    id="amazon.titan-embed-text-v2:0",
    max_tokens=_TITAN_TOKENS,
    texts=1,
    body=lambda texts, _use: {
        "inputText": texts[0][:_TITAN_CHARACTERS],
        "dimensions": _DIMENSIONS,
        "normalize": True,
    },
    vectors=lambda answer: [answer["embedding"]],
)
COHERE_V4: Final = BedrockModel(
    id="cohere.embed-v4:0",
    max_tokens=_COHERE_TOKENS,
    texts=_COHERE_TEXTS,
    body=lambda texts, use: {
        "texts": list(texts),
        "input_type": "search_query" if use == "query" else "search_document",
        "embedding_types": ["float"],
        "output_dimension": _DIMENSIONS,
        "truncate": "RIGHT",
    },
    vectors=lambda answer: answer["embeddings"]["float"],
)


@cache
def bedrock_client() -> BedrockRuntimeClient:
    """Return the client of the process, without retries. The SDK is imported here, at the first use."""
    from boto3.session import Session
    from botocore.config import Config

    config = Config(
        connect_timeout=_CONNECT_TIMEOUT_SECONDS,
        read_timeout=_READ_TIMEOUT_SECONDS,
        retries={"total_max_attempts": 1},
        max_pool_connections=CALLS_AT_ONCE,
    )
    return Session().client("bedrock-runtime", config=config)


class BedrockEmbedder(Embedder):
    """Embeds through Bedrock, and retries transient errors until a deadline.

    Args:
        model: `TITAN_V2` or `COHERE_V4`.
        client: makes or returns the client, at the first use.
        passages_seconds: deadline of `passages`.
        query_seconds: deadline of `query`.
        pause: sleeps for some seconds.
    """

    def __init__(
        self,
        model: BedrockModel,
        client: Callable[[], BedrockRuntimeClient] = bedrock_client,
        *,
        passages_seconds: float = PASSAGES_SECONDS,
        query_seconds: float = QUERY_SECONDS,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._bedrock = model
        self._client = client
        self._passages_seconds = passages_seconds
        self._query_seconds = query_seconds
        self._pause = pause

    @property
    @override
    def model(self) -> EmbeddingModel:
        return self._bedrock.model

    @override
    def passages(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """Embed passages, with up to `CALLS_AT_ONCE` concurrent calls."""
        until, calls = (
            time.monotonic() + self._passages_seconds,
            list(batched(texts, self._bedrock.texts, strict=False)),
        )
        if not calls:
            return ()
        with ThreadPoolExecutor(min(len(calls), CALLS_AT_ONCE)) as pool:
            answers = list(pool.map(lambda some: self._embed(some, "passage", until), calls))
        return tuple(vector for vectors in answers for vector in vectors)

    @override
    def query(self, text: str) -> Vector:
        return self._embed([text], "query", time.monotonic() + self._query_seconds)[0]

    @override
    def count(self, text: str) -> int:
        """Return the upper bound of `fencepost.model.domain`: neither model counts tokens."""
        return count_tokens(text)

    def _embed(self, texts: Sequence[str], use: Use, until: float) -> tuple[Vector, ...]:
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                return self._call(texts, use)
            except EmbedderUnavailable as error:
                if not error.retriable or time.monotonic() + pause >= until:
                    raise
            # Half of the pause is random, so that calls that were throttled together are not repeated together.
            self._pause(pause * (1 + random.random()) / 2)  # noqa: S311 - no secret
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _call(self, texts: Sequence[str], use: Use) -> tuple[Vector, ...]:
        try:
            answer = self._client().invoke_model(
                modelId=self._bedrock.id,
                body=json.dumps(self._bedrock.body(texts, use)),
                contentType="application/json",
                accept="application/json",
            )
            content = answer["body"].read()
        except aws_errors() as error:
            raise _unavailable(error) from None
        return self._read(content, len(texts))

    def _read(self, content: bytes, wanted: int) -> tuple[Vector, ...]:
        try:
            vectors = tuple(map(_unit, self._bedrock.vectors(json.loads(content))))
        except (KeyError, TypeError, ValueError):
            raise EmbedderUnavailable("malformed") from None
        if [len(vector) for vector in vectors] != [_DIMENSIONS] * wanted:
            raise EmbedderUnavailable("malformed")
        return vectors


def _unit(vector: Sequence[float]) -> Vector:
    """Return a vector scaled to length one.

    Raises:
        ValueError: its length is zero or not finite.
    """
    length = math.sqrt(math.sumprod(vector, vector))
    if not (length and math.isfinite(length)):
        raise ValueError("a vector with a direction is needed")
    return tuple(each / length for each in vector)


def _unavailable(error: Exception) -> EmbedderUnavailable:
    from botocore.exceptions import ClientError

    if not isinstance(error, ClientError):
        return EmbedderUnavailable("connection")
    code = error.response["Error"]["Code"]
    status = error.response["ResponseMetadata"]["HTTPStatusCode"]
    known = {"ThrottlingException": "throttled", "AccessDeniedException": "denied", "ValidationException": "refused"}
    reason = known.get(code, "unavailable" if code in _PASSING else "error")
    return EmbedderUnavailable(reason, retriable=code in _PASSING or status >= 500)  # noqa: PLR2004 - HTTP's
