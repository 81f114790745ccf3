"""The backdrop of the fakes: the dictionaries that they share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from fencepost.conversations.domain.messages import (
    AnswerContext,
    Conversation,
    Message,
    MessagePointer,
    MessageStatus,
    OpenTurn,
)
from fencepost.identity.domain.scope import Membership, OrgRole, Scope
from fencepost.identity.domain.sites import Fact, FactState
from fencepost.memory.domain.summaries import Summary
from fencepost.model.domain import Role
from tests.conformance.backdrop import Backdrop
from tests.conformance.samples import NOW
from tests.fakes.conversations import Owned, Shelf, owned


@dataclass
class FakeBackdrop(Backdrop):
    """Implements `Backdrop`.

    Attributes:
        erased: when everything of an owner was erased, by organisation and owner.
        files: the users of each attachment.
    """

    shelf: Shelf = field(default_factory=Shelf)
    memberships: dict[tuple[str, str], Membership] = field(default_factory=dict)
    erased: dict[tuple[str, str], datetime] = field(default_factory=dict)
    summaries: dict[str, Summary] = field(default_factory=dict)
    facts: dict[str, tuple[Fact, ...]] = field(default_factory=dict)
    files: dict[Owned, set[str]] = field(default_factory=dict)

    def put_conversation(self, scope: Scope, row: Conversation) -> None:
        self.shelf.conversations[owned(scope, row.id)] = row

    def remove_conversation(self, scope: Scope, conversation_id: str) -> None:
        # A question that waits goes with the row that it is part of.
        self.shelf.messages[owned(scope, conversation_id)] = self.messages(scope, conversation_id)
        self.shelf.conversations.pop(owned(scope, conversation_id), None)

    def conversation(self, scope: Scope, conversation_id: str) -> Conversation | None:
        return self.shelf.conversations.get(owned(scope, conversation_id))

    def messages(self, scope: Scope, conversation_id: str) -> list[Message]:
        row, place = self.conversation(scope, conversation_id), owned(scope, conversation_id)
        found = sorted(self.shelf.messages.get(place, []), key=lambda message: message.seq)
        return [message for message in found if row is None or message.seq < row.next_seq]

    def put_messages(self, scope: Scope, conversation_id: str, *messages: Message) -> None:
        place, replaced = owned(scope, conversation_id), {message.seq for message in messages}
        others = [message for message in self.shelf.messages.get(place, []) if message.seq not in replaced]
        self.shelf.messages[place] = [*others, *messages]

    def put_pointer(
        self, scope: Scope, pointer: MessagePointer, answers: Mapping[int, tuple[int, AnswerContext | None]]
    ) -> None:
        self.shelf.pointers[owned(scope, pointer.message_id)] = pointer
        self.shelf.answers[owned(scope, pointer.message_id)] = dict(answers)

    def wait(self, scope: Scope, row: Conversation, seq: int) -> None:
        turn = OpenTurn(message_id="waiting", seq=seq, holder="h", until=NOW)
        self.put_conversation(scope, replace(row, open_turn=turn))
        if seq == row.next_seq:
            question = Message(
                id="waiting",
                seq=seq,
                role=Role.USER,
                content="Still there?",
                created_at=NOW,
                status=MessageStatus.PENDING,
            )
            self.put_messages(scope, row.id, question)

    def grant(self, org: str, user: str, *, active: bool = True, version: int = 1) -> Membership:
        self.memberships[org, user] = Membership(org, user, OrgRole.MEMBER, active, version)
        return self.memberships[org, user]

    def remove_membership(self, org: str, user: str) -> None:
        del self.memberships[org, user]

    def membership(self, org: str, user: str) -> Membership | None:
        return self.memberships.get((org, user))

    def erase_owner(self, scope: Scope, at: datetime) -> None:
        self.erased[scope.org, scope.owner] = at

    def put_summary(self, scope: Scope, conversation_id: str, summary: Summary) -> None:
        self.summaries[conversation_id] = summary

    def put_facts(self, scope: Scope, *facts: Fact) -> None:
        self.facts[scope.owner] = tuple(fact for fact in facts if fact.state is FactState.PINNED)

    def put_file(self, scope: Scope, file_id: str, *used_by: str) -> None:
        self.files[owned(scope, file_id)] = set(used_by)

    def file_users(self, scope: Scope, file_id: str) -> set[str] | None:
        return self.files.get(owned(scope, file_id))
