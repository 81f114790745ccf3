"""Conformance tests of every `ImportStore` and `AttachmentStore`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from fencepost.conversations.domain.attachments import Attachment, AttachmentState
from fencepost.conversations.domain.messages import Conversation, MessagePointer
from fencepost.conversations.ports import AttachmentStore, ConversationStore
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import FencepostError
from fencepost.lifecycle.domain.bundle_check import AskedQuestion
from fencepost.lifecycle.ports import ImportStore
from fencepost.queue.domain import Job, Purpose
from tests.conformance.backdrop import CLOCK, Backdrop, context_of
from tests.conformance.samples import NOW, job_for, namesake, visitor_scope
from tests.worlds import api as api_world

QUESTION, ANSWER = api_world.exchange("c1", 1, CLOCK)
LATER = NOW + timedelta(seconds=1)


def import_job(scope: Scope, record: str = "j1", made_at: datetime = NOW) -> Job:
    """Return the job of an import."""
    changes = {"record": record, "created_at": made_at, "conversation": None, "incarnation": None}
    return job_for(scope, purpose=Purpose.IMPORT, **changes)


def asked(conversation_id: str = "c1") -> AskedQuestion:
    """Return what points to `QUESTION`."""
    pointer = MessagePointer(QUESTION.id, conversation_id, QUESTION.seq, "f" * 64)
    return AskedQuestion(pointer, {1: ANSWER.seq}, {1: context_of(ANSWER)})


def imported(incarnation: str = "first") -> Conversation:
    """Return the row of the conversation that is written."""
    return replace(api_world.conversation("c1", 1, CLOCK), incarnation=incarnation)


class ImportConformance:
    """The tests. A subclass provides `subject`, `conversations` over the same rows, `backdrop` and `broken`."""

    @pytest.fixture
    def scope(self) -> Scope:
        return visitor_scope(visitor=uuid4().hex)

    def test_an_import_is_visible_when_it_is_complete(
        self, subject: ImportStore, conversations: ConversationStore, scope: Scope
    ) -> None:
        assert subject.begin(scope, "c1", import_job(scope), "first") == "first"
        assert subject.begin(scope, "c1", import_job(scope), "second") == "first"
        assert subject.write_messages(scope, "c1", "first", [QUESTION, ANSWER])
        assert subject.write_questions(scope, "c1", "first", [asked()])
        assert conversations.get(scope, "c1") is None
        assert conversations.messages(scope, "c1", after=None, limit=9, newest_first=False).items == ()
        assert subject.finish(scope, imported())
        assert conversations.get(scope, "c1") == imported()
        found = conversations.messages(scope, "c1", after=None, limit=9, newest_first=False)
        assert found.items == (QUESTION, ANSWER)
        pointer = conversations.pointer(scope, QUESTION.id)
        assert pointer == asked().pointer
        assert conversations.context(scope, pointer, None) == context_of(ANSWER)
        assert not subject.finish(scope, imported())

    def test_another_import_takes_over_and_keeps_nothing_of_the_first(
        self, subject: ImportStore, conversations: ConversationStore, scope: Scope
    ) -> None:
        assert subject.begin(scope, "c1", import_job(scope, "j1"), "first")
        assert subject.write_messages(scope, "c1", "first", [QUESTION, ANSWER])
        assert subject.begin(scope, "c1", import_job(scope, "j2"), "second") == "second"
        assert not subject.write_messages(scope, "c1", "first", [QUESTION])
        assert not subject.write_questions(scope, "c1", "first", [asked()])
        assert not subject.finish(scope, imported())
        assert subject.finish(scope, imported("second"))
        assert conversations.messages(scope, "c1", after=None, limit=9, newest_first=False).items == ()

    def test_nothing_is_written_without_a_mark(self, subject: ImportStore, scope: Scope) -> None:
        assert not subject.write_messages(scope, "c1", "first", [QUESTION])
        assert not subject.write_questions(scope, "c1", "first", [asked()])
        assert not subject.finish(scope, imported())

    def test_a_conversation_that_is_there_is_not_imported(
        self, subject: ImportStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.begin(scope)
        assert subject.begin(scope, "c1", import_job(scope), "first") is None

    def test_an_id_of_another_conversation_is_taken(
        self, subject: ImportStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.converse(scope, "c1", 1)
        assert subject.taken(scope, [QUESTION.id, "q2"]) == {QUESTION.id: "c1"}
        assert subject.taken(namesake(scope), [QUESTION.id]) == {}
        assert subject.begin(scope, "c2", import_job(scope), "first")
        assert not subject.write_questions(scope, "c2", "first", [asked("c2")])
        assert subject.taken(scope, [QUESTION.id]) == {QUESTION.id: "c1"}

    def test_questions_may_be_written_again(self, subject: ImportStore, scope: Scope) -> None:
        assert subject.begin(scope, "c1", import_job(scope), "first")
        assert subject.write_questions(scope, "c1", "first", [asked()])
        assert subject.write_questions(scope, "c1", "first", [asked()])

    def test_an_erasure_of_the_owner_ends_imports_that_were_asked_for_before(
        self, subject: ImportStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.erase_owner(scope, NOW)
        assert subject.begin(scope, "c1", import_job(scope), "first") is None
        assert subject.begin(scope, "c1", import_job(scope, made_at=LATER), "second") == "second"

    @pytest.mark.parametrize(
        "call",
        [
            lambda store, scope: store.taken(scope, ["q1"]),
            lambda store, scope: store.begin(scope, "c1", import_job(scope), "first"),
            lambda store, scope: store.write_messages(scope, "c1", "first", [QUESTION]),
            lambda store, scope: store.write_questions(scope, "c1", "first", [asked()]),
            lambda store, scope: store.finish(scope, imported()),
        ],
    )
    def test_an_unreachable_store_raises_one_error(
        self, broken: ImportStore, scope: Scope, call: Callable[[ImportStore, Scope], object]
    ) -> None:
        with pytest.raises(FencepostError, match=r"^conversations_unavailable$"):
            call(broken, scope)


class AttachmentConformance:
    """The tests. A subclass provides the fixtures `attachments` and `broken_attachments`."""

    def test_attachments_belong_to_their_owner_and_change_while_they_are_there(
        self, attachments: AttachmentStore
    ) -> None:
        scope, awaited = visitor_scope(visitor=uuid4().hex), AttachmentState.AWAITED
        attachment = Attachment(id="a1", name="a.txt", content_type="text/plain", size=3, state=awaited, created_at=NOW)
        assert not attachments.advance(scope, attachment)
        assert attachments.get(scope, ["a1"]) == {}
        attachments.put(scope, attachment)
        ready = replace(attachment, state=AttachmentState.READY, characters=3)
        assert attachments.advance(scope, ready)
        assert attachments.get(scope, ["a1", "a1", "absent"]) == {"a1": ready}
        assert attachments.get(namesake(scope), ["a1"]) == {}
        assert not attachments.advance(namesake(scope), ready)
        assert attachments.get(scope, []) == {}

    @pytest.mark.parametrize("method", ["put", "advance"])
    def test_an_unreachable_store_raises_one_error(self, broken_attachments: AttachmentStore, method: str) -> None:
        awaited = AttachmentState.AWAITED
        attachment = Attachment(id="a1", name="a.txt", content_type="text/plain", size=3, state=awaited, created_at=NOW)
        with pytest.raises(FencepostError, match=r"^conversations_unavailable$"):
            getattr(broken_attachments, method)(visitor_scope(), attachment)

    def test_reading_from_an_unreachable_store_raises_the_same_error(self, broken_attachments: AttachmentStore) -> None:
        with pytest.raises(FencepostError, match=r"^conversations_unavailable$"):
            broken_attachments.get(visitor_scope(), ["a1"])
