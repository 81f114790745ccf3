"""What a turn asks an index: for whom, with which words, and when it may begin."""

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
"""Passages of each kind in a prompt, where they fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalRequest:
    """Who asks what, and where.

    Attributes:
        caller: with the membership of this moment.
        conversation: id; its messages are in the prompt already.
    """

    caller: Caller
    scope: Scope
    site: Site
    conversation: str
    question: str

    @property
    def grants(self) -> frozenset[str]:
        """Of which a document asks for one."""
        return grants_of(self.caller, self.site.id)

    @property
    def wanted(self) -> Mapping[EntryKind, int]:
        """How many passages of each kind. Where a site's prompts have no room for memory, none is looked for."""
        return WANTED if self.site.budgets.memory_tokens else {**WANTED, "message": 0}


@dataclass(frozen=True, slots=True)
class RunningSearch:
    """A search under way, and what it was begun for."""

    asked: RetrievalRequest
    running: Future[Mapping[EntryKind, RetrievedPassages]]


@dataclass(frozen=True, slots=True)
class TurnRetrieval:
    """Finds what belongs into the prompt of a turn (docs/adr/0013).

    Attributes:
        rewriting: puts follow-ups into words of their own (docs/adr/0015); None looks for them by their words.
    """

    recall: Retriever
    rewriting: Rewriting | None = None

    def early(self, asked: RetrievalRequest) -> RunningSearch | None:
        """Begin while the conversation is being loaded; None where the question has to wait for what was said."""
        return None if not asked.question or is_follow_up(asked.question) else self._begun(asked, asked.question)

    def found(
        self, asked: RetrievalRequest, said: Sequence[Exchange], begun: RunningSearch | None, trace: Trace
    ) -> tuple[Recalled, bool]:
        """Return what was found, and whether a part of it is missing.

        Args:
            asked: with what the turn knows by now. What was begun for other rights, or another question, is dropped.
            said: the conversation's exchanges before the question, oldest first.
            begun: the early search, where there was one.
            trace: of the request.
        """
        is_current = begun is not None and (begun.asked.grants, begun.asked.question) == (asked.grants, asked.question)
        search = begun if begun and is_current else self._begun(asked, self._text(asked, said, trace))
        found = search.running.result()
        documents, messages = found.get("document", RetrievedPassages()), found.get("message", RetrievedPassages())
        # Without an answer nothing tells whether there is nothing: the site's own sections are ranked then.
        told = documents.any and (documents.passages or not documents.degraded)
        recalled = Recalled(passages=documents.passages if told else None, memories=messages.passages)
        return recalled, documents.degraded or messages.degraded

    def _text(self, asked: RetrievalRequest, said: Sequence[Exchange], trace: Trace) -> str:
        """Return what to look for: the question, with what it leans on, or in words of its own."""
        if self.rewriting and said and is_follow_up(asked.question):
            text = self.rewriting.text(asked.site, asked.question, said, trace)
            if text:
                return text
        return resolved(asked.question, said)

    def _begun(self, asked: RetrievalRequest, text: str) -> RunningSearch:
        query = RetrievalQuery(text=text, grants=asked.grants, wanted=asked.wanted, conversation=asked.conversation)
        return RunningSearch(asked, self.recall.begin(asked.scope, query))
