"""Name, settings and mapping of an index."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from fencepost.retrieval.domain.ranking.fields import CONTEXT_WEIGHTS, TEXT_WEIGHT
from fencepost.retrieval.domain.search import EmbeddingModel, EntryKind

VERSION: Final = 1
"""Version of the mapping. See `migration` for the change to a new one."""

ALIAS: Final = "fencepost"
"""The alias that all requests name. It points to one index at a time."""

WORDS: Final[Mapping[EntryKind, str]] = {"document": "words", "message": "talk"}
"""The searched field, by kind. It holds the terms of our own analysis, as the embedded index does."""
TEXT_REPETITIONS: Final = {kind: round(TEXT_WEIGHT / weight) for kind, weight in CONTEXT_WEIGHTS.items()}
"""Repetitions of the text in the searched field, for one of the context, so that BM25 weights both together."""

LANGUAGES: Final = {
    "de": "german",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "nl": "dutch",
    "pt": "portuguese",
    "ru": "russian",
}
"""Analysers by language. Entries of these languages have a further field, analysed by that language's rules."""
PLUGIN_LANGUAGES: Final = {"ja": "kuromoji", "ko": "nori"}
"""Analysers from plugins, which Serverless has and a node may lack."""

K1: Final = 1.2
"""Lucene's default. It is multiplied by the repetitions of the text, so that one mention counts as one."""

_HNSW: Final = {"ef_construction": 128, "m": 16}
"""The library's defaults are 100 and 16; filters inside the search thin the graph out."""
_DIGEST_LENGTH: Final = 8


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """The definition of an index for one embedding model and one engine.

    Args:
        model: the model of its vectors.
        engine: the engine of vector searches.
        alias: the alias to point to it.
    """

    model: EmbeddingModel
    engine: Literal["faiss", "lucene"]
    alias: str = ALIAS

    @property
    def name(self) -> str:
        """The name of the index. It changes with the mapping and with the model."""
        slug = re.sub(r"[^a-z0-9]+", "-", self.model.name.lower()).strip("-")[:40]
        digest = hashlib.sha256(f"{self.model.name} {self.model.dimensions}".encode()).hexdigest()[:_DIGEST_LENGTH]
        return f"{self.alias}-v{VERSION}-{slug}-{digest}"

    def bodies(self) -> Iterator[dict[str, Any]]:
        """Yield bodies to create the index with, the best first: some clusters lack plugins or custom similarities."""
        for similarity in (True, False):
            for plugins in (True, False):
                named = {
                    name: {"type": "BM25", "k1": K1 * TEXT_REPETITIONS[kind], "b": 0.75} for kind, name in WORDS.items()
                }
                settings = {"index": {"knn": True} | ({"similarity": named} if similarity else {})}
                yield {"settings": settings, "mappings": self._mappings(similarity, plugins)}

    def _mappings(self, similarity: bool, plugins: bool) -> dict[str, Any]:
        keyword, number, kept = {"type": "keyword"}, {"type": "integer"}, {"type": "text", "index": False}
        searched = {**{name: _words(name, similarity) for name in WORDS.values()}, **_readings(plugins)}
        # For vectors of length one the inner product is the cosine; Serverless's faiss has no cosine.
        method = {"name": "hnsw", "engine": self.engine, "space_type": "innerproduct", "parameters": _HNSW}
        vector = {"type": "knn_vector", "dimension": self.model.dimensions, "method": method}
        return {
            # An undeclared field would be a bug of ours.
            "dynamic": "strict",
            "_source": {"excludes": sorted(searched)},
            "properties": {
                **dict.fromkeys(("entry", "first_id", "copied_from", "chunk", "org", "owner", "kind"), keyword),
                **dict.fromkeys(("parent", "grants", "model", "language"), keyword),
                **dict.fromkeys(("version", "position"), number),
                # Returned with a hit, not searched.
                **dict.fromkeys(("text", "context"), kept),
                **searched,
                **dict.fromkeys(("vector", "context_vector"), vector),
            },
        }


def reading(language: str) -> str:
    """Return the field that is analysed by a language's rules; empty for other languages."""
    code = language.partition("-")[0].lower()
    return f"in_{code}" if code in LANGUAGES | PLUGIN_LANGUAGES else ""


def _words(name: str, similarity: bool) -> dict[str, Any]:
    # Frequencies without positions: no query asks for phrases.
    plain = {"type": "text", "analyzer": "whitespace", "index_options": "freqs"}
    return plain | ({"similarity": name} if similarity else {})


def _readings(plugins: bool) -> dict[str, Any]:
    analysers = LANGUAGES | (PLUGIN_LANGUAGES if plugins else dict.fromkeys(PLUGIN_LANGUAGES, "cjk"))
    plain = {"type": "text", "index_options": "freqs"}
    return {reading(code): {**plain, "analyzer": analyser} for code, analyser in analysers.items()}
