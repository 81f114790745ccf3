"""The stand-in's answer: quotes of the passages that best match the question."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from local.provider.notes import asks_for_notes, notes
from local.provider.passages import QuotedPassage, passages, without_fences
from local.provider.questions import asks_for_question, question
from local.provider.requests import MessagesRequest

_MOST_QUOTES = 3
_LEAST_COVERAGE = 0.25
"""Share of the question's weight that a passage must hold to be quoted."""
_LEAST_SCORE = 0.6
"""Share of the best passage's score that a further quote must reach."""
_HEADING_WEIGHT = 0.5
_PROSE_WEIGHT = 0.5
"""Extra weight of a term in prose over one in a link or in code."""

# Han and Hangul are written without spaces between what a question shares with a text: there, pairs of characters.
# Hiragana is left out: it is mostly grammar.
_PAIRED = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]{2,}|[\uac00-\ud7af]{2,}")
_WORD = re.compile(r"[\u30a1-\u30ff]{2,}|[^\W_\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2,}")
_STOP_WORDS = """
    about also and any are but can could did does for from get had has have how into its just may not our please should
    some tell than that the their them then there these they this was were what when where which who why will with would
    you your is it in on of to do be me my we or if at by as an so am us no up
    어떻 떻게 나요 하나 습니 니다 합니 무엇 엇인 인가 가요 에서 으로 해야 하는 있나
"""
_STOP = frozenset(_STOP_WORDS.split())

_PHRASES = {
    "en": ("This is what the documents say:", "Sorry, the documents do not answer this question."),
    "ja": (
        "ドキュメントには次のように書かれています。",
        "申し訳ありませんが、ドキュメントにはこの質問への答えがありません。",
    ),
    "ko": ("문서에는 다음과 같이 나와 있습니다.", "죄송하지만 문서에는 이 질문에 대한 답이 없습니다."),
}


@dataclass(frozen=True, slots=True)
class _Scored:
    passage: QuotedPassage
    score: float


def answer(request: MessagesRequest) -> str:
    """Return the answer to a prompt's last message: Markdown, the same for the same prompt."""
    if asks_for_notes(request):
        return notes(request)
    if asks_for_question(request):
        return question(request)
    asked = without_fences(request.messages[-1].blocks()[-1].text)
    found, lacking = _PHRASES[_language(asked)]
    # Assistant turns are left out: what the model said itself is no source.
    users = (block for message in request.messages if message.role == "user" for block in message.blocks())
    texts = [block.text for block in (*request.system_blocks(), *users)]
    quotable = dict.fromkeys(passage for text in texts for passage in passages(text))
    # An earlier message that only asks the same question does not answer it.
    candidates = [
        passage
        for passage in quotable
        if not (passage.source.startswith("msg:") and passage.text.rstrip().endswith(("?", "？")))
        or not terms(passage.text) <= terms(asked)
    ]
    quotes = [_quote(passage) for passage in _best(asked, candidates)]
    return "\n\n".join([found, *quotes]) if quotes else lacking


def _best(question: str, candidates: list[QuotedPassage]) -> list[QuotedPassage]:
    weights = _weights(terms(question), candidates)
    scored = [_Scored(passage, _score(passage, weights)) for passage in candidates]
    scored.sort(key=lambda candidate: -candidate.score)
    enough = _LEAST_COVERAGE * sum(weights.values())
    if not scored or not weights or scored[0].score < enough:
        return []
    floor = max(enough, _LEAST_SCORE * scored[0].score)
    return [candidate.passage for candidate in scored[:_MOST_QUOTES] if candidate.score >= floor]


def _weights(wanted: frozenset[str], candidates: list[QuotedPassage]) -> dict[str, float]:
    """Return the weight of each question term: its inverse document frequency over the passages."""
    frequency = Counter(term for passage in candidates for term in wanted & terms(passage.text))
    return {term: math.log(1 + (len(candidates) + 1) / (frequency[term] + 0.5)) for term in sorted(wanted)}


def _score(passage: QuotedPassage, weights: dict[str, float]) -> float:
    heading, prose = terms(passage.heading), terms(passage.prose)
    score = sum(weight for term, weight in weights.items() if term in terms(passage.text))
    score += sum(_HEADING_WEIGHT * weight for term, weight in weights.items() if term in heading)
    return score + sum(_PROSE_WEIGHT * weight for term, weight in weights.items() if term in prose)


@lru_cache(maxsize=16_384)
def terms(text: str) -> frozenset[str]:
    """Return the terms of a text: words without plural s, and pairs of Han and of Hangul characters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    pairs = (run[i : i + 2] for run in _PAIRED.findall(folded) for i in range(len(run) - 1))
    words = (word.removesuffix("s") for word in _WORD.findall(folded) if word not in _STOP)
    return frozenset(words) | (frozenset(pairs) - _STOP)


def _quote(passage: QuotedPassage) -> str:
    citation = f"[{passage.source}]"
    separator = "\n" if passage.text.endswith("```") else " "
    return "\n".join(f"> {line}".rstrip() for line in f"{passage.text}{separator}{citation}".splitlines())


def _language(text: str) -> str:
    if re.search(r"[\u3041-\u30ff]", text):
        return "ja"
    return "ko" if re.search(r"[\uac00-\ud7af]", text) else "en"
