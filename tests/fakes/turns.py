"""Turns in plain memory, with the same rules as the adapter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from fencepost.conversations.domain.archives import is_expired, is_kept
from fencepost.conversations.domain.attachments import MOST_CONVERSATIONS
from fencepost.conversations.domain.messages import (
    Conversation,
    Message,
    MessagePointer,
    MessageStatus,
    OpenTurn,
    revision_of,
)
from fencepost.identity.domain.scope import Membership, Scope
from fencepost.identity.domain.sites import Fact
from fencepost.memory.domain.summaries import Summary
from fencepost.model.domain import Role
from fencepost.turns.domain.turns import Claim, ClaimRefused, Settlement, SettleRefused, TurnMaterial
from tests.fakes.conversations import Owned, Shelf, owned
from tests.fakes.memory import Faults

_OWN_ROWS = 2
"""A turn's own question and the answer that it replaces may be among the newest rows."""
_SETTLED = (MessageStatus.ANSWERED, MessageStatus.COMPLETE)


def _nobody(_org: str, _user: str) -> Membership | None:
    return None


@dataclass
class FakeTurns:
    """Implements `TurnStore`. The question of an open turn stands among the messages, as pending.

    Attributes:
        membership: reads a membership as it is now.
        summaries: by the conversation's id.
        facts: pinned ones, of every owner.
        claims: every claim that was tried.
        made_for: by question and key, the revision that was made for it.
        erased_files: of every owner.
        files: the conversations that use each attachment; None knows all attachments but the erased ones.
        clock: tells what is too old to be read; without one nothing is.
        claimed_by: holder of the claim that stored a question, by the question.
    """

    shelf: Shelf = field(default_factory=Shelf)
    membership: Callable[[str, str], Membership | None] = _nobody
    summaries: dict[str, Summary] = field(default_factory=dict)
    facts: dict[str, tuple[Fact, ...]] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)
    claims: list[Claim] = field(default_factory=list)
    made_for: dict[tuple[Owned, str], int] = field(default_factory=dict)
    erased_files: set[str] = field(default_factory=set)
    files: dict[Owned, set[str]] | None = None
    claimed_by: dict[Owned, str] = field(default_factory=dict)
    clock: Callable[[], datetime] | None = None

    def claim(self, scope: Scope, claim: Claim) -> ClaimRefused | None:
        with self.faults.call():
            self.claims.append(claim)
            refused = self._refusal(scope, claim)
            if refused is None:
                self._take(scope, claim)
            return refused

    def load(self, scope: Scope, conversation_id: str, limit: int) -> TurnMaterial | None:
        with self.faults.call():
            row = self.shelf.conversations.get(owned(scope, conversation_id))
            if row is None:
                return None
            return TurnMaterial(
                conversation=row,
                recent=self._recent(scope, row, limit + _OWN_ROWS),
                summary=self.summaries.get(conversation_id),
                facts=tuple(sorted(self.facts.get(scope.owner, ()), key=lambda fact: (fact.created_at, fact.id))),
                membership=self._membership(scope),
            )

    def settle(self, scope: Scope, settlement: Settlement) -> SettleRefused | None:
        with self.faults.call():
            row = self.shelf.conversations.get(owned(scope, settlement.conversation.id))
            membership = self._membership(scope)
            ended = _is_member(scope) and (membership is None or not membership.active)
            held = row is not None and row.open_turn is not None and row.open_turn.holder == settlement.holder
            if self._is_settled(scope, settlement):
                return None
            if ended or row is None or not held:
                gone = row is None or row.incarnation != settlement.conversation.incarnation
                return SettleRefused(membership_ended=ended, membership=membership if ended else None, gone=gone)
            self._settle(scope, row, settlement)
            return None

    def release(self, scope: Scope, conversation_id: str, holder: str, now: datetime) -> None:
        with self.faults.call():
            row = self.shelf.conversations.get(owned(scope, conversation_id))
            if row and row.open_turn and row.open_turn.holder == holder:
                self._store(scope, replace(row, open_turn=replace(row.open_turn, until=now)))

    def park(self, scope: Scope, conversation: Conversation, now: datetime) -> bool:
        with self.faults.call():
            row = self.shelf.conversations.get(owned(scope, conversation.id))
            turn = row.open_turn if row else None
            if row is None or turn is None or conversation.open_turn is None:
                return False
            if turn.holder != conversation.open_turn.holder:
                return False
            if turn.seq == row.next_seq:
                row = replace(row, next_seq=turn.seq + 1, updated_at=now)
                pointers, place = self.shelf.pointers, owned(scope, turn.message_id)
                pointers[place] = replace(pointers[place], seq=turn.seq)
            self._store(scope, replace(row, open_turn=None))
            return True

    def stored_answer(self, scope: Scope, pointer: MessagePointer, key: str | None = None) -> Message | None:
        with self.faults.call():
            place = owned(scope, pointer.message_id)
            answers = self.shelf.answers.get(place, {})
            revision = self.made_for.get((place, key)) if key else max(answers, default=None)
            if revision is None:
                return None
            seq, _ = answers[revision]
            rows = self._rows(scope, pointer.conversation_id)
            return next(message for message in rows if message.seq == seq)

    def _recent(self, scope: Scope, row: Conversation, limit: int) -> tuple[Message, ...]:
        """Return the newest settled messages, and pending questions that stand between or after them."""
        rows = [message for message in self._rows(scope, row.id) if row.kept_from <= message.seq < row.next_seq]
        settled = [message.seq for message in rows if message.status in _SETTLED][-limit:]
        first = settled[0] if len(settled) == limit else row.kept_from
        shown = (message for message in rows if message.status is not MessageStatus.SUPERSEDED)
        kept = (message for message in shown if self.clock is None or is_kept(row, message, self.clock()))
        return tuple(message for message in kept if message.seq >= first)

    def _refusal(self, scope: Scope, claim: Claim) -> ClaimRefused | None:
        membership = self._membership(scope)
        changed = _is_member(scope) and (
            membership is None or not membership.active or membership.version != scope.permission_version
        )
        row = self.shelf.conversations.get(owned(scope, claim.conversation_id))
        pointer = self.shelf.pointers.get(owned(scope, claim.message_id))
        blocked, known = self._is_blocked(claim, row), self._is_known(scope, claim, pointer)
        lost = _is_new(claim) and any(self._is_lost(scope, claim, file_id) for file_id in claim.attachments)
        if not (changed or blocked or known or lost):
            return None
        absent = known and pointer is None
        expired = blocked and row is not None and _is_expired(claim, row)
        return ClaimRefused(
            membership_changed=changed,
            conversation=row if blocked and not expired else None,
            gone=expired or (blocked and row is None) or absent,
            pointer=pointer if known else None,
            files_gone=lost,
        )

    def _is_blocked(self, claim: Claim, row: Conversation | None) -> bool:
        if row is None:
            return claim.begins is None
        if claim.begins is None and row.site != claim.site:
            return True
        turn = row.open_turn
        if claim.resumes is not None:
            return turn is None or turn.holder not in (claim.resumes, claim.holder)
        if turn is None:
            return claim.begins is not None or _is_expired(claim, row)
        return turn.holder != claim.holder

    def _is_lost(self, scope: Scope, claim: Claim, file_id: str) -> bool:
        if self.files is None:
            return file_id in self.erased_files
        users = self.files.get(owned(scope, file_id))
        return users is None or (claim.conversation_id not in users and len(users) >= MOST_CONVERSATIONS)

    def _users(self, scope: Scope, claim: Claim) -> list[set[str]]:
        return [self.files[owned(scope, file_id)] for file_id in claim.attachments] if self.files is not None else []

    def _is_known(self, scope: Scope, claim: Claim, pointer: MessagePointer | None) -> bool:
        if _is_new(claim):
            return pointer is not None and self.claimed_by.get(owned(scope, claim.message_id)) != claim.holder
        place = owned(scope, claim.message_id)
        made = claim.key is not None and (place, claim.key) in self.made_for
        return pointer is None or made or (claim.regenerates or 1) in self.shelf.answers.get(place, {})

    def _take(self, scope: Scope, claim: Claim) -> None:
        row = claim.begins or self.shelf.conversations[owned(scope, claim.conversation_id)]
        if claim.resumes and row.open_turn:
            turn = replace(row.open_turn, holder=claim.holder, until=claim.until)
        else:
            turn = OpenTurn(
                message_id=claim.message_id,
                seq=claim.answers_seq or row.next_seq,
                holder=claim.holder,
                until=claim.until,
                regenerates=claim.regenerates,
                key=claim.key,
            )
        days = row.keep_days if claim.resumes else claim.keep_days
        self._store(scope, replace(row, open_turn=turn, keep_days=days))
        if _is_new(claim):
            self._write(scope, row.id, _pending(claim, row.next_seq))
            pointer = MessagePointer(claim.message_id, row.id, 0, claim.fingerprint)
            self.shelf.pointers[owned(scope, claim.message_id)] = pointer
            self.claimed_by[owned(scope, claim.message_id)] = claim.holder
            for users in self._users(scope, claim):
                users.add(row.id)

    def _settle(self, scope: Scope, row: Conversation, settlement: Settlement) -> None:
        answer, place = settlement.answer, owned(scope, settlement.question_id)
        if settlement.question is not None:
            self._write(scope, row.id, settlement.question)
        for message in self._rows(scope, row.id):
            if message.seq == settlement.question_seq:
                self._write(scope, row.id, replace(message, status=MessageStatus.ANSWERED))
            if message.seq == settlement.supersedes:
                self._write(scope, row.id, replace(message, status=MessageStatus.SUPERSEDED))
        self._write(scope, row.id, answer)
        self.shelf.answers.setdefault(place, {})[revision_of(answer)] = (answer.seq, settlement.context)
        if settlement.key:
            self.made_for[place, settlement.key] = revision_of(answer)
        self.shelf.pointers[place] = replace(self.shelf.pointers[place], seq=settlement.question_seq)
        self._store(scope, replace(row, open_turn=None, next_seq=answer.seq + 1, updated_at=settlement.now))

    def _is_settled(self, scope: Scope, settlement: Settlement) -> bool:
        return settlement.answer in self._rows(scope, settlement.conversation.id)

    def _membership(self, scope: Scope) -> Membership | None:
        kind, _, name = scope.actor.partition(":")
        return self.membership(scope.org, name) if kind == "member" else None

    def _rows(self, scope: Scope, conversation_id: str) -> list[Message]:
        return sorted(self.shelf.messages.get(owned(scope, conversation_id), []), key=lambda message: message.seq)

    def _write(self, scope: Scope, conversation_id: str, message: Message) -> None:
        others = [one for one in self._rows(scope, conversation_id) if one.seq != message.seq]
        self.shelf.messages[owned(scope, conversation_id)] = [*others, message]

    def _store(self, scope: Scope, row: Conversation) -> None:
        self.shelf.conversations[owned(scope, row.id)] = row


def _is_new(claim: Claim) -> bool:
    return claim.resumes is None and claim.answers_seq is None


def _is_expired(claim: Claim, row: Conversation) -> bool:
    return row.site == claim.site and is_expired(replace(row, keep_days=claim.keep_days), claim.now)


def _is_member(scope: Scope) -> bool:
    return scope.actor.startswith("member:")


def _pending(claim: Claim, seq: int) -> Message:
    return Message(
        id=claim.message_id,
        seq=seq,
        role=Role.USER,
        content=claim.content,
        created_at=claim.now,
        status=MessageStatus.PENDING,
        attachments=claim.attachments,
    )
