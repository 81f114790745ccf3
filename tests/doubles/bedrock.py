"""Bedrock's `InvokeModel` over HTTP, for two embedding models: it refuses what they refuse, and fails when told to.

Sources: docs.aws.amazon.com, "InvokeModel" (path, errors), "Amazon Titan Embeddings G1 - Text" and "Cohere Embed v4"
(bodies and bounds). A text's vector is of its length alone: twice as long as a unit, so that nobody relies on that.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from boto3.session import Session
from botocore.config import Config
from mypy_boto3_bedrock_runtime import BedrockRuntimeClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.doubles.servers import serve

TITAN, COHERE = "amazon.titan-embed-text-v2:0", "cohere.embed-v4:0"
type Answer = tuple[int, str, dict[str, str]]
"""Status, body and headers."""


@dataclass
class BedrockDouble:
    """What was asked, and what goes wrong with the next calls.

    Attributes:
        url: where it listens.
        calls: model and body of each call.
        failures: answers of the next calls, in order; None answers as the model would.
    """

    url: str = ""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    failures: deque[Answer | None] = field(default_factory=deque)

    def client(self) -> BedrockRuntimeClient:
        """Return the real client, of this address."""
        return Session().client(
            "bedrock-runtime",
            endpoint_url=self.url,
            region_name="us-east-1",
            config=Config(retries={"total_max_attempts": 1}, connect_timeout=1, read_timeout=5),
        )

    async def invoke(self, request: Request) -> Response:
        """Answer a call."""
        model, body = request.path_params["model"], await request.json()
        self.calls.append((model, body))
        failure = self.failures.popleft() if self.failures else None
        status, content, headers = failure or _MODELS.get(model, _unknown)(body)
        return Response(content, status, {"Content-Type": "application/json", **headers})


def failing(code: str, status: int) -> Answer:
    """Return an answer as AWS words a failure."""
    return status, json.dumps({"message": "No."}), {"x-amzn-ErrorType": f"{code}:http://internal.amazon.com/"}


def vector_of(text: str, dimensions: int) -> list[float]:
    """Return the vector of a text."""
    vector = [0.0] * dimensions
    vector[len(text) % dimensions] = 2.0
    return vector


@contextmanager
def bedrock() -> Iterator[BedrockDouble]:
    """Serve it on loopback for the length of a block."""
    double = BedrockDouble()
    app = Starlette(routes=[Route("/model/{model}/invoke", double.invoke, methods=["POST"])])
    with serve(app) as url:
        double.url = url
        yield double


def _titan(body: dict[str, Any]) -> Answer:
    text = body.get("inputText")
    bounds = {"inputText", "dimensions", "normalize", "embeddingTypes"}
    if set(body) - bounds or not isinstance(text, str) or not 0 < len(text) <= 50_000:
        return failing("ValidationException", 400)
    if body.get("dimensions", 1024) not in (256, 512, 1024):
        return failing("ValidationException", 400)
    vector = vector_of(text, body.get("dimensions", 1024))
    answer = {"embedding": vector, "embeddingsByType": {"float": vector}, "inputTextTokenCount": len(text.split())}
    return 200, json.dumps(answer), {"X-Amzn-Bedrock-Input-Token-Count": "1"}


def _cohere(body: dict[str, Any]) -> Answer:
    texts = body.get("texts")
    uses = ("search_document", "search_query", "classification", "clustering")
    if not isinstance(texts, list) or not 0 < len(texts) <= 96 or body.get("input_type") not in uses:
        return failing("ValidationException", 400)
    if body.get("truncate", "NONE") not in ("NONE", "LEFT", "RIGHT"):
        return failing("ValidationException", 400)
    if body.get("output_dimension", 1536) not in (256, 512, 1024, 1536):
        return failing("ValidationException", 400)
    vectors = [vector_of(text, body.get("output_dimension", 1536)) for text in texts]
    answer = {"id": "1", "response_type": "embeddings_by_type", "embeddings": {"float": vectors}, "texts": texts}
    return 200, json.dumps(answer), {}


def _unknown(_body: dict[str, Any]) -> Answer:
    return failing("ResourceNotFoundException", 404)


_MODELS: dict[str, Callable[[dict[str, Any]], Answer]] = {TITAN: _titan, COHERE: _cohere}
