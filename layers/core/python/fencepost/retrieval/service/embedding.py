"""Embedding with a cache."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import batched

from fencepost.identity.domain.scope import Scope
from fencepost.retrieval.domain.search import EmbeddingModel, Vector
from fencepost.retrieval.ports import Embedder, EmbeddingCache


@dataclass(frozen=True, slots=True)
class CachedEmbedder:
    """An embedder behind a cache, which is keyed by organisation and by the texts' hashes.

    Attributes:
        batch: most texts in one call of the embedder.
    """

    embedder: Embedder
    cache: EmbeddingCache
    batch: int = 96

    @property
    def model(self) -> EmbeddingModel:
        """The model that makes the vectors."""
        return self.embedder.model

    def passages(self, scope: Scope, texts: Sequence[str]) -> tuple[Vector, ...]:
        """Return the vectors of passages, in order. Each text that is not cached is embedded once.

        Raises:
            EmbedderUnavailable: the embedder does not answer; vectors made until then are cached.
        """
        digests = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts]
        known = dict(self.cache.known(scope, self.model.name, digests))
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        for some in batched(missing.items(), self.batch, strict=False):
            fresh = dict(zip(dict(some), self.embedder.passages([text for _, text in some]), strict=True))
            self.cache.remember(scope, self.model.name, fresh)
            known |= fresh
        return tuple(known[digest] for digest in digests)

    def count(self, text: str) -> int:
        """Return the tokens of a text, or an upper bound."""
        return self.embedder.count(text)
