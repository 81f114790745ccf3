"""Answers to prompts that ask to rewrite a follow-up: the previous question, followed by the last one."""

from __future__ import annotations

import re

from local.provider.passages import fences
from local.provider.requests import MessagesRequest

_ASKED = re.compile(r"\blast question as one line of at most (\d+) characters\b", re.IGNORECASE)


def asks_for_question(request: MessagesRequest) -> bool:
    """Return whether the rules at the start of the prompt ask for a standalone question."""
    return _ASKED.search(_rules(request)) is not None


def question(request: MessagesRequest) -> str:
    """Return the visitor's last two questions on one line, within the requested length."""
    material = [fence for block in request.messages[-1].blocks() for fence in fences(block.text)]
    asked = [fence.body for fence in material if fence.title == "visitor"][-1:]
    last = [fence.body for fence in material if fence.title == "question"]
    asks = _ASKED.search(_rules(request))
    return " ".join(" ".join([*asked, *last]).split())[: int(asks[1]) if asks else None]


def _rules(request: MessagesRequest) -> str:
    return " ".join(request.system_blocks()[0].text.split()) if request.system else ""
