"""Answers to prompts that ask for notes: lines that each cite messages. The stand-in quotes these messages.

Follows the prompt's rules: number and length of lines, and whether questions and statements of others are wanted.
"""

from __future__ import annotations

import re

from local.provider.passages import Fence, fences, sentences
from local.provider.requests import MessagesRequest

_ASKED = re.compile(r"\bline ends with the messages\b", re.IGNORECASE)
_MOST_LINES = re.compile(r"\bat most (\d+) lines\b", re.IGNORECASE)
_LONGEST = re.compile(r"\bat most (\d+) characters\b", re.IGNORECASE)
_NO_QUESTIONS = re.compile(r"\bno questions\b", re.IGNORECASE)
_OF_THEMSELVES = re.compile(r"\bof themselves\b.*\bown case\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|me|my|mine|we|our|us)\b|[私僕俺]|저는|제가|우리|나는|내\b", re.IGNORECASE)
_NOTHING = "-"


def asks_for_notes(request: MessagesRequest) -> bool:
    """Return whether the rules at the start of the prompt ask for lines that end with the cited messages."""
    return _ASKED.search(_rules(request)) is not None


def notes(request: MessagesRequest) -> str:
    """Return the earlier notes, followed by one line for each message with a statement.

    Keeps the newest lines if there are too many. Returns a single dash if there is nothing to note.
    """
    rules = _rules(request)
    material = [fence for block in request.messages[-1].blocks() for fence in fences(block.text)]
    earlier = [fence for fence in material if fence.source.startswith("summary:")]
    kept = [line for fence in earlier for line in fence.body.splitlines() if line.startswith("- ")]
    known = {fence.body.strip() for fence in material if fence.source.startswith("fact:")}
    quotes = (_quote(fence, rules, known) for fence in material if fence.source.startswith("msg:"))
    lines = [*kept, *filter(None, quotes)]
    return "\n".join(lines[-_number(_MOST_LINES, rules, len(lines)) :]) or _NOTHING


def _quote(message: Fence, rules: str, known: set[str]) -> str:
    """Return the longest sentence that the rules allow, with its message; empty if there is none."""
    wanted = [sentence for sentence in sentences(message.body) if _is_wanted(sentence, rules) and sentence not in known]
    sentence = " ".join(max(wanted, key=len, default="").split())
    return f"- {sentence[: _number(_LONGEST, rules, len(sentence))]} [{message.source}]" if sentence else ""


def _is_wanted(sentence: str, rules: str) -> bool:
    if _NO_QUESTIONS.search(rules) and sentence.endswith(("?", "？")):
        return False
    return not _OF_THEMSELVES.search(rules) or _FIRST_PERSON.search(sentence) is not None


def _number(pattern: re.Pattern[str], rules: str, default: int) -> int:
    match = pattern.search(rules)
    return int(match[1]) if match else default


def _rules(request: MessagesRequest) -> str:
    return " ".join(request.system_blocks()[0].text.split()) if request.system else ""
