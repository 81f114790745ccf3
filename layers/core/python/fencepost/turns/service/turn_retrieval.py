"""Retrieval for a turn: which text to search for, with which grants, and whether to search before the load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from fencepost.identity.domain.scope import Caller, Scope, grants_of
from fencepost.identity.domain.sites import Site
from fencepost.observability.service import Trace
from fencepost.prompting.domain.history import Exchange
from fencepost.retrieval.domain.followups import is_follow_up, resolved
from fencepost.retrieval.domain.search import EntryKind, Recalled
from fencepost.retrieval.service.retriever import RetrievalQuery, RetrievedPassages, Retriever
from fencepost.retrieval.service.rewriting import Rewriting

WANTED: Final[Mapping[EntryKind, int]] = MappingProxyType({"document": 10, "message": 6})
"""The most passages of each kind in a prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalRequest:
    """A question to retrieve passages for.

    Attributes:
        caller: with the membership as just read.
        conversation: id of the conversation, whose messages are left out of the results.
    """

    caller: Caller
    scope: Scope
    site: Site
    conversation: str
    question: str

    @property
    def grants(self) -> frozenset[str]:
        """The caller's grants. A document requires one of them."""
        return grants_of(self.caller, self.site.id)

    @property
    def wanted(self) -> Mapping[EntryKind, int]:
        """How many passages of each kind to retrieve; no messages for a site without a memory budget."""
        return WANTED if self.site.budgets.memory_tokens else {**WANTED, "message": 0}


@dataclass(frozen=True, slots=True)
class RunningSearch:
    """A running search and its request."""

    asked: RetrievalRequest
    running: Future[Mapping[EntryKind, RetrievedPassages]]


@dataclass(frozen=True, slots=True)
class TurnRetrieval:
    """Retrieves passages for the prompt of a turn (docs/adr/0013).

    Attributes:
        rewriting: rewrites follow-ups as standalone questions (docs/adr/0015); None searches for their own text.
    """

    recall: Retriever
    rewriting: Rewriting | None = None

    def early(self, asked: RetrievalRequest) -> RunningSearch | None:
        """Begin a search before the conversation is loaded; None for a follow-up, which needs the earlier messages."""
        return None if not asked.question or is_follow_up(asked.question) else self._begun(asked, asked.question)

    def found(
        self, asked: RetrievalRequest, said: Sequence[Exchange], begun: RunningSearch | None, trace: Trace
    ) -> tuple[Recalled, bool]:
        """Return the passages, and whether the result is degraded.

        Args:
            asked: the current request. An early search with other grants, or for another question, is dropped.
            said: the conversation's exchanges before the question, oldest first.
            begun: the early search, if any.
            trace: of the request.
        """
        is_current = begun is not None and (begun.asked.grants, begun.asked.question) == (asked.grants, asked.question)
        search = begun if begun and is_current else self._begun(asked, self._text(asked, said, trace))
        found = search.running.result()
        documents, messages = found.get("document", RetrievedPassages()), found.get("message", RetrievedPassages())
        # Without a result the index may still hold passages: the site's own sections are ranked instead.
        told = documents.any and (documents.passages or not documents.degraded)
        recalled = Recalled(passages=documents.passages if told else None, memories=messages.passages)
        return recalled, documents.degraded or messages.degraded

    def _text(self, asked: RetrievalRequest, said: Sequence[Exchange], trace: Trace) -> str:
        """Return the text to search for: the question, with its context if it is a follow-up, or rewritten."""
        if self.rewriting and said and is_follow_up(asked.question):
            text = self.rewriting.text(asked.site, asked.question, said, trace)
            if text:
                return text
        return resolved(asked.question, said)

    def _begun(self, asked: RetrievalRequest, text: str) -> RunningSearch:
        query = RetrievalQuery(text=text, grants=asked.grants, wanted=asked.wanted, conversation=asked.conversation)
        return RunningSearch(asked, self.recall.begin(asked.scope, query))
