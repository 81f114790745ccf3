"""What an index of ours looks like, and what it is called."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from fencepost.retrieval.domain.ranking.fields import CONTEXT_WEIGHTS, TEXT_WEIGHT
from fencepost.retrieval.domain.search import EmbeddingModel, EntryKind

VERSION: Final = 1
"""Of the mapping. A new one is filled behind the old one and then takes its place: see `migration`."""

ALIAS: Final = "fencepost"
"""The name that everything asks for. It stands for one index at a time."""

WORDS: Final[Mapping[EntryKind, str]] = {"document": "words", "message": "talk"}
"""The field that is searched, by kind. It holds the terms of our own analysis, the same as the embedded index."""
TEXT_REPETITIONS: Final = {kind: round(TEXT_WEIGHT / weight) for kind, weight in CONTEXT_WEIGHTS.items()}
"""How often the text's terms stand there, where the context's stand once: so BM25 counts both together, weighted."""

LANGUAGES: Final = {
    "de": "german",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "nl": "dutch",
    "pt": "portuguese",
    "ru": "russian",
}
"""Analysers by language. An entry of a known language has a further reading by that language's own rules."""
PLUGIN_LANGUAGES: Final = {"ja": "kuromoji", "ko": "nori"}
"""Those of plugins, which Serverless has and a node may not."""

K1: Final = 1.2
"""Lucene's default. A field that repeats its text has as many times more: one mention is to count as one."""

_HNSW: Final = {"ef_construction": 128, "m": 16}
"""The library's defaults are 100 and 16; filters inside the search thin the graph out."""
_DIGEST_LENGTH: Final = 8


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """An index to be: for one model's vectors, by one engine.

    Args:
        alias: what it is to be found under.
    """

    model: EmbeddingModel
    engine: Literal["faiss", "lucene"]
    alias: str = ALIAS

    @property
    def name(self) -> str:
        """The index's own name: it changes with the mapping and with the model."""
        slug = re.sub(r"[^a-z0-9]+", "-", self.model.name.lower()).strip("-")[:40]
        digest = hashlib.sha256(f"{self.model.name} {self.model.dimensions}".encode()).hexdigest()[:_DIGEST_LENGTH]
        return f"{self.alias}-v{VERSION}-{slug}-{digest}"

    def bodies(self) -> Iterator[dict[str, Any]]:
        """Yield what may create it, the best first: not every cluster has the plugins, or takes another similarity."""
        for similarity in (True, False):
            for plugins in (True, False):
                yield {"settings": _settings(similarity), "mappings": self._mappings(similarity, plugins)}

    def _mappings(self, similarity: bool, plugins: bool) -> dict[str, Any]:
        keyword, number, kept = {"type": "keyword"}, {"type": "integer"}, {"type": "text", "index": False}
        searched = {**{name: _words(name, similarity) for name in WORDS.values()}, **_readings(plugins)}
        return {
            # A field that is not foreseen would be a mistake of ours.
            "dynamic": "strict",
            "_source": {"excludes": sorted(searched)},
            "properties": {
                **dict.fromkeys(("entry", "first_id", "copied_from", "chunk", "org", "owner", "kind"), keyword),
                **dict.fromkeys(("parent", "grants", "model", "language"), keyword),
                **dict.fromkeys(("version", "position"), number),
                # What is given back with a hit.
                **dict.fromkeys(("text", "context"), kept),
                **searched,
                **dict.fromkeys(("vector", "context_vector"), self._vector()),
            },
        }

    def _vector(self) -> dict[str, Any]:
        # For vectors of length one the inner product is the cosine; Serverless's faiss has no cosine of its own.
        method = {"name": "hnsw", "engine": self.engine, "space_type": "innerproduct", "parameters": _HNSW}
        return {"type": "knn_vector", "dimension": self.model.dimensions, "method": method}


def reading(language: str) -> str:
    """Return the field that holds an entry's words by its language's own rules; empty where there is none."""
    code = language.partition("-")[0].lower()
    return f"in_{code}" if code in LANGUAGES | PLUGIN_LANGUAGES else ""


def _settings(similarity: bool) -> dict[str, Any]:
    named = {name: {"type": "BM25", "k1": K1 * TEXT_REPETITIONS[kind], "b": 0.75} for kind, name in WORDS.items()}
    return {"index": {"knn": True} | ({"similarity": named} if similarity else {})}


def _words(name: str, similarity: bool) -> dict[str, Any]:
    # Frequencies without positions: no query asks for phrases.
    plain = {"type": "text", "analyzer": "whitespace", "index_options": "freqs"}
    return plain | ({"similarity": name} if similarity else {})


def _readings(plugins: bool) -> dict[str, Any]:
    analysers = LANGUAGES | (PLUGIN_LANGUAGES if plugins else dict.fromkeys(PLUGIN_LANGUAGES, "cjk"))
    plain = {"type": "text", "index_options": "freqs"}
    return {reading(code): {**plain, "analyzer": analyser} for code, analyser in analysers.items()}
