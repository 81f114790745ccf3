"""OpenSearch's query language, as far as ours goes: evaluated in memory, over what a search may see."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from fencepost.retrieval.domain.ranking.terms import terms

K1, B = 1.2, 0.75
MAX_CLAUSES = 1_024
type Source = Mapping[str, Any]
type Analyser = Callable[[str], list[str]]
type Score = float | None
"""None for what does not match."""


class Refused(Exception):
    """A request that OpenSearch refuses, with the status and the name of the reason."""

    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.status, self.kind, self.reason = status, kind, reason


@dataclass(frozen=True)
class Seen:
    """A document that a search may see."""

    id: str
    source: Source


def by_language(text: str) -> list[str]:
    """Stand in for the analysers of languages, whose rules are not what is tested here."""
    return list(terms(text))


ANALYSERS: dict[str, Analyser] = {
    "whitespace": str.split,
    **dict.fromkeys(("german", "spanish", "french", "italian", "dutch", "portuguese", "russian", "cjk"), by_language),
}
PLUGINS: dict[str, Analyser] = {"kuromoji": by_language, "nori": by_language}


class Reading:
    """A field of all documents that have it, as its analyser reads it, and its BM25."""

    def __init__(self, mapped: Mapping[str, Any], texts: Mapping[str, str]) -> None:
        self._analyse = (ANALYSERS | PLUGINS)[mapped["analyzer"]]
        self._words = {name: Counter(self._analyse(text)) for name, text in texts.items()}
        self._usual_length = sum(words.total() for words in self._words.values()) / max(1, len(self._words))
        self._rarity = cache(self._rare)

    def clauses(self, text: str) -> list[str]:
        """Return what a query of the text asks of the field."""
        return self._analyse(text)

    def score(self, asked: Iterable[str], name: str) -> Score:
        """Return how well a document answers."""
        words = self._words.get(name, Counter())
        saturation = K1 * (1 - B + B * words.total() / (self._usual_length or 1))
        matched = [self._rarity(term) * words[term] / (words[term] + saturation) for term in set(asked) & set(words)]
        return sum(matched) if matched else None

    def _rare(self, term: str) -> float:
        holding = sum(term in words for words in self._words.values())
        return math.log(1 + (len(self._words) - holding + 0.5) / (holding + 0.5))


class Evaluator:
    """Answers queries over the documents that can be seen."""

    def __init__(self, mapping: Mapping[str, Any], seen: Sequence[Seen]) -> None:
        self._fields = mapping["properties"]
        self._seen = seen
        self._readings: dict[str, Reading] = {}
        self._asked: dict[tuple[str, str], list[str]] = {}
        self._queries: dict[str, Callable[[Any, Seen], Score]] = {
            "match_all": self._all,
            "bool": self._bool,
            "ids": self._ids,
            "term": self._terms,
            "terms": self._terms,
            "dis_max": self._dis_max,
            "match": self._match,
            "multi_match": self._multi_match,
        }

    def search(self, body: Mapping[str, Any]) -> list[tuple[Seen, float]]:
        """Return the documents of a query's answer, in order, with their scores."""
        query = body.get("query", {"match_all": {}})
        size = body.get("size", 10)
        if "knn" in query:
            found = self._knn(query["knn"])
        else:
            scored = ((one, self._score(query, one)) for one in self._seen)
            found = [(one, score) for one, score in scored if score is not None]
        if "sort" not in body:
            return sorted(found, key=lambda pair: -pair[1])[:size]
        return self._sorted(body, found)[:size]

    def _sorted(self, body: Mapping[str, Any], found: list[tuple[Seen, float]]) -> list[tuple[Seen, float]]:
        ((field, direction),) = body["sort"][0].items()
        if direction != "asc" or self._fields[field]["type"] != "keyword":
            raise Refused(400, "illegal_argument_exception", "this field cannot be sorted by")
        after = body.get("search_after", [""])[0]
        rows = [pair for pair in found if pair[0].source[field] > after]
        return sorted(rows, key=lambda pair: pair[0].source[field])

    def _score(self, query: Mapping[str, Any], one: Seen) -> Score:
        ((kind, value),) = query.items()
        score = self._queries.get(kind)
        if score is None:
            raise Refused(400, "parsing_exception", f"unknown query [{kind}]")
        return score(value, one)

    def _all(self, value: Mapping[str, Any], one: Seen) -> Score:
        return 1.0

    def _ids(self, value: Mapping[str, Any], one: Seen) -> Score:
        return 1.0 if one.id in value["values"] else None

    def _dis_max(self, value: Mapping[str, Any], one: Seen) -> Score:
        return _best(self._score(each, one) for each in value["queries"])

    def _match(self, value: Mapping[str, Any], one: Seen) -> Score:
        ((field, text),) = value.items()
        return self._matched(field, text, one)

    def _multi_match(self, value: Mapping[str, Any], one: Seen) -> Score:
        if value["type"] != "best_fields":
            raise Refused(400, "parsing_exception", "this type of multi_match is not known here")
        return _best(self._matched(field, value["query"], one) for field in value["fields"])

    def _bool(self, clauses: Mapping[str, Any], one: Seen) -> Score:
        if unknown := set(clauses) - {"filter", "must", "must_not", "should", "minimum_should_match"}:
            raise Refused(400, "x_content_parse_exception", f"unknown clause {unknown}")
        needed = [self._score(query, one) for query in (*clauses.get("filter", ()), *clauses.get("must", ()))]
        barred = [self._score(query, one) for query in clauses.get("must_not", ())]
        wished = [score for query in clauses.get("should", ()) if (score := self._score(query, one)) is not None]
        if None in needed or any(score is not None for score in barred):
            return None
        if len(wished) < clauses.get("minimum_should_match", 0):
            return None
        must = needed[len(clauses.get("filter", ())) :]
        return sum(score for score in (*must, *wished) if score is not None)

    def _terms(self, value: Mapping[str, Any], one: Seen) -> Score:
        ((field, wanted),) = value.items()
        if self._fields[field]["type"] not in {"keyword", "integer"}:
            raise Refused(400, "illegal_argument_exception", f"[{field}] is analysed")
        held = _values(one.source.get(field, []))
        return 1.0 if held & _values(wanted) else None

    def _matched(self, field: str, text: str, one: Seen) -> Score:
        mapped = self._fields[field]
        if mapped.get("index") is False:
            raise Refused(400, "query_shard_exception", f"[{field}] is not indexed")
        if field not in self._readings:
            texts = {other.id: other.source[field] for other in self._seen if field in other.source}
            self._readings[field] = Reading(mapped, texts)
        return self._readings[field].score(self._clauses(field, text), one.id)

    def _clauses(self, field: str, text: str) -> list[str]:
        """Return the terms of a query, which all of its fields together may have so many of."""
        if (field, text) not in self._asked:
            self._asked[field, text] = self._readings[field].clauses(text)
            if sum(map(len, self._asked.values())) > MAX_CLAUSES:
                raise Refused(400, "search_phase_execution_exception", "too_many_clauses")
        return self._asked[field, text]

    def _knn(self, value: Mapping[str, Any]) -> list[tuple[Seen, float]]:
        ((field, wanted),) = value.items()
        if len(wanted["vector"]) != self._fields[field]["dimension"]:
            raise Refused(400, "search_phase_execution_exception", "Query vector has invalid dimension")
        within = [one for one in self._seen if field in one.source and self._score(wanted["filter"], one) is not None]
        scored = [(one, _inner_product(one.source[field], wanted["vector"])) for one in within]
        return sorted(scored, key=lambda pair: -pair[1])[: wanted["k"]]


def _best(scores: Iterable[Score]) -> Score:
    return max((score for score in scores if score is not None), default=None)


def _inner_product(one: Sequence[float], other: Sequence[float]) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return 1 + product if product >= 0 else 1 / (1 - product)


def _values(value: Any) -> set[Any]:
    return set(value) if isinstance(value, list) else {value}
