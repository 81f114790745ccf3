"""Diagnostic mode: an admin reads one conversation for some minutes, with personal data masked and looks recorded."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message
from fencepost.conversations.ports import ConversationStore
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ids import RANDOM_BITS, uuid7
from fencepost.kernel.paging import Page
from fencepost.kernel.ports import Clock, Keys
from fencepost.lifecycle.domain.diagnosis import Diagnosis, Look
from fencepost.lifecycle.domain.personal_data import mask_personal_data
from fencepost.lifecycle.ports import DiagnosisStore
from fencepost.observability.domain.events import DiagnosisEvent
from fencepost.observability.ports import Events
from fencepost.observability.service import pseudonyms, subject

_MOST = 100
_FIRST = 1


@dataclass(frozen=True, slots=True)
class View:
    """A conversation and a page of its messages, with personal data masked in all texts."""

    conversation: Conversation
    messages: Page[Message]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosticsService:
    """Opens, lists and closes diagnoses, and shows content in open ones.

    Scopes are of the action `diagnose`. For opening and looking, the scope's owner is the conversation's, and its actor
    is the admin. All methods raise `FencepostError`: `not_found`, or an error of the stores.
    """

    conversations: ConversationStore
    diagnoses: DiagnosisStore
    keys: Keys
    events: Events
    clock: Clock

    def open(self, scope: Scope, conversation_id: str, reason: str, minutes: int) -> Diagnosis:
        """Open a diagnosis of an existing conversation."""
        if self.conversations.get(scope, conversation_id) is None:
            raise FencepostError(ErrorCode.NOT_FOUND)
        now = self.clock()
        diagnosis = Diagnosis(
            id=uuid7(now, secrets.randbits(RANDOM_BITS)),
            conversation_id=conversation_id,
            owner=scope.owner,
            opened_by=scope.actor,
            reason=reason,
            opened_at=now,
            until=now + timedelta(minutes=minutes),
        )
        self.diagnoses.open(scope, diagnosis)
        self._report("opened", scope, diagnosis, minutes)
        return diagnosis

    def newest(self, scope: Scope) -> tuple[Diagnosis, ...]:
        """Return the organisation's diagnoses, of all admins, newest first."""
        return self.diagnoses.newest(scope, _MOST)

    def get(self, scope: Scope, diagnosis_id: str) -> Diagnosis:
        """Return a diagnosis."""
        found = self.diagnoses.get(scope, diagnosis_id)
        if found is None:
            raise FencepostError(ErrorCode.NOT_FOUND)
        return found

    def looks(self, scope: Scope, diagnosis: Diagnosis) -> tuple[Look, ...]:
        """Return the looks taken in a diagnosis, newest first."""
        return self.diagnoses.looks(scope, diagnosis.id, _MOST)

    def close(self, scope: Scope, diagnosis: Diagnosis) -> None:
        """Close a diagnosis before its time. Any admin may; closing it again changes nothing."""
        self.diagnoses.close(scope, replace(diagnosis, closed_at=self.clock()))
        self._report("closed", scope, diagnosis)

    def messages(self, scope: Scope, diagnosis: Diagnosis, *, after: int | None, limit: int) -> View:
        """Record a look, and return messages, oldest first.

        Raises:
            FencepostError: also `diagnosis_ended`; the diagnosis has ended, or another admin opened it.
        """
        self._look(scope, diagnosis, "messages", (after or 0) + _FIRST)
        conversation = self.conversations.get(scope, diagnosis.conversation_id)
        if conversation is None:
            raise FencepostError(ErrorCode.NOT_FOUND)
        page = self.conversations.messages(scope, conversation.id, after=after, limit=limit, newest_first=False)
        items = tuple(replace(message, content=mask_personal_data(message.content)) for message in page.items)
        return View(replace(conversation, title=mask_personal_data(conversation.title)), replace(page, items=items))

    def context(self, scope: Scope, diagnosis: Diagnosis, seq: int) -> AnswerContext:
        """Record a look, and return the context of an answer. Ids of sources are replaced by pseudonyms.

        Raises:
            FencepostError: as `messages`.
        """
        self._look(scope, diagnosis, "context", seq)
        page = self.conversations.messages(scope, diagnosis.conversation_id, after=seq - 1, limit=1, newest_first=False)
        context = self._context(scope, page.items[0]) if page.items else None
        if context is None:
            raise FencepostError(ErrorCode.NOT_FOUND)
        return self._with_pseudonyms(scope, context)

    def _look(self, scope: Scope, diagnosis: Diagnosis, what: Literal["messages", "context"], seq: int) -> None:
        """Record a look before anything is read. The store refuses the record if the diagnosis is not open."""
        look = Look(diagnosis_id=diagnosis.id, at=self.clock(), what=what, from_seq=seq)
        if not self.diagnoses.look(scope, look):
            self._report("ended", scope, diagnosis)
            raise FencepostError(ErrorCode.DIAGNOSIS_ENDED)
        self._report("looked", scope, diagnosis)

    def _context(self, scope: Scope, message: Message) -> AnswerContext | None:
        pointer = self.conversations.pointer(scope, message.id)
        return None if pointer is None else self.conversations.context(scope, pointer, message.id)

    def _with_pseudonyms(self, scope: Scope, context: AnswerContext) -> AnswerContext:
        names = pseudonyms(self.keys)
        layers = tuple(
            replace(layer, sources=tuple(names.source(scope, source) for source in layer.sources))
            for layer in context.layers
        )
        cited = tuple(names.source(scope, source) for source in context.cited)
        return replace(context, layers=layers, cited=cited)

    def _report(
        self,
        result: Literal["opened", "looked", "closed", "ended"],
        scope: Scope,
        diagnosis: Diagnosis,
        minutes: int | None = None,
    ) -> None:
        about = subject(pseudonyms(self.keys), scope, diagnosis.conversation_id)
        self.events.emit(DiagnosisEvent(result=result, minutes=minutes, looks=diagnosis.looks, subject=about))
