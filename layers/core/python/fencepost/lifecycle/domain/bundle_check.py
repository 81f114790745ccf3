"""Checks the content of a bundle: all lines are read and all errors found before anything is stored."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from fencepost.conversations.domain.messages import AnswerContext, Message, MessagePointer, answer_id
from fencepost.identity.domain.sites import Fact
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.json_lines import UnreadableLine, from_line
from fencepost.lifecycle.domain.bundle_reader import Bundle
from fencepost.lifecycle.domain.bundles import (
    CONTEXTS,
    CONVERSATIONS,
    FACTS,
    MESSAGES,
    SUMMARIES,
    BundledContext,
    BundledConversation,
    BundledMessage,
    BundledSummary,
)
from fencepost.memory.domain.summaries import Summary
from fencepost.model.domain import Role
from fencepost.turns.domain.turns import fingerprint

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_REVISION: Final = re.compile(r"[1-9][0-9]{0,5}")
_ID: Final = re.compile(r"[\w.:-]{1,128}", re.ASCII)


@dataclass(slots=True)
class AskedQuestion:
    """A question and its answers.

    Attributes:
        pointer: the question's pointer.
        answers: the answers' numbers in the conversation, by revision.
        contexts: the answers' contexts, by revision, where the bundle has them.
        last_at: when the question or its newest answer was written.
    """

    pointer: MessagePointer
    answers: dict[int, int] = field(default_factory=dict)
    contexts: dict[int, AnswerContext] = field(default_factory=dict)
    last_at: datetime = _EPOCH


@dataclass(slots=True, kw_only=True)
class Candidate:
    """A conversation of a bundle.

    Attributes:
        content_hash: of its messages' lines, see `fencepost.lifecycle.domain.bundles.content_hash`.
        next_seq: the number after its last message.
        questions: its questions, in order.
    """

    conversation: BundledConversation
    content_hash: str
    next_seq: int
    questions: tuple[AskedQuestion, ...] = ()
    summary: Summary | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """Content of a bundle, except the messages themselves."""

    candidates: tuple[Candidate, ...]
    facts: tuple[Fact, ...]


@dataclass(slots=True)
class _MessageCheck:
    """Checks a conversation's messages in order: numbers have no gaps, and each answer follows its question."""

    conversation_id: str
    first: int
    next_seq: int
    hash: hashlib._Hash = field(default_factory=hashlib.sha256)
    asked: dict[int, AskedQuestion] = field(default_factory=dict)

    def follow(self, line: bytes, message: Message) -> None:
        _require(message.seq == self.next_seq and bool(_ID.fullmatch(message.id)))
        if message.role is Role.USER:
            asked = fingerprint(message.content, message.attachments)
            pointer = MessagePointer(message.id, self.conversation_id, message.seq, asked)
            self.asked[message.seq] = AskedQuestion(pointer, last_at=message.created_at)
        else:
            self._answer(message)
        self.hash.update(line)
        self.next_seq += 1

    def _answer(self, message: Message) -> None:
        reply_to = message.reply_to or 0
        # Retention may have removed the question of an answer that is kept.
        if 0 < reply_to < self.first:
            return
        _require(reply_to in self.asked)
        question, (asked_id, _, revision) = self.asked[reply_to], message.id.rpartition(".")
        _require(asked_id == question.pointer.message_id and bool(_REVISION.fullmatch(revision)))
        question.answers[int(revision)] = message.seq
        question.last_at = max(question.last_at, message.created_at)


def inventory(bundle: Bundle) -> Inventory:
    """Return the content of a bundle after checking every line.

    Raises:
        FencepostError: `bundle_invalid`.
    """
    conversations = [conversation for _, conversation in _read(bundle, CONVERSATIONS, BundledConversation)]
    _require_ordered([conversation.id for conversation in conversations])
    candidates = _candidates(bundle, conversations)
    asked = [question.pointer.message_id for candidate in candidates for question in candidate.questions]
    _require(len(asked) == len(set(asked)))
    named = {candidate.conversation.id: candidate for candidate in candidates}
    _add_summaries(bundle, named)
    _add_contexts(bundle, named)
    facts = tuple(fact for _, fact in _read(bundle, FACTS, Fact))
    _require_ordered([fact.id for fact in facts])
    return Inventory(candidates=candidates, facts=facts)


def messages(bundle: Bundle) -> Iterator[tuple[str, Iterator[Message]]]:
    """Yield conversation ids with their messages. The messages must be read before the next id is requested.

    Raises:
        FencepostError: `bundle_invalid`.
    """
    pairs = ((entry.conversation, entry.message) for _, entry in _read(bundle, MESSAGES, BundledMessage))
    for conversation_id, run in groupby(pairs, key=itemgetter(0)):
        yield conversation_id, (message for _, message in run)


def _candidates(bundle: Bundle, conversations: list[BundledConversation]) -> tuple[Candidate, ...]:
    checks = {one.id: _MessageCheck(one.id, one.kept_from, one.kept_from) for one in conversations}
    order: list[str] = []
    for line, entry in _read(bundle, MESSAGES, BundledMessage):
        _require(entry.conversation in checks)
        checks[entry.conversation].follow(line, entry.message)
        if order[-1:] != [entry.conversation]:
            order.append(entry.conversation)
    _require_ordered(order)
    return tuple(_candidate(one, checks[one.id]) for one in conversations)


def _candidate(conversation: BundledConversation, check: _MessageCheck) -> Candidate:
    _require(conversation.kept_from >= 1)
    return Candidate(
        conversation=conversation,
        content_hash=check.hash.hexdigest(),
        next_seq=check.next_seq,
        questions=tuple(check.asked.values()),
    )


def _add_summaries(bundle: Bundle, candidates: dict[str, Candidate]) -> None:
    for _, entry in _read(bundle, SUMMARIES, BundledSummary):
        candidate = candidates.get(entry.conversation)
        if candidate is None or candidate.summary is not None or entry.summary.last_seq >= candidate.next_seq:
            raise FencepostError(ErrorCode.BUNDLE_INVALID)
        candidate.summary = entry.summary


def _add_contexts(bundle: Bundle, candidates: dict[str, Candidate]) -> None:
    """Add each context to its answer, which must exist and have no context yet."""
    answers = {
        (name, answer_id(question.pointer.message_id, revision)): (question, revision)
        for name, candidate in candidates.items()
        for question in candidate.questions
        for revision in question.answers
    }
    for _, entry in _read(bundle, CONTEXTS, BundledContext):
        found = answers.pop((entry.conversation, entry.context.answer_id), None)
        if found is None:
            raise FencepostError(ErrorCode.BUNDLE_INVALID)
        question, revision = found
        question.contexts[revision] = entry.context


def _read[T: DataclassInstance](bundle: Bundle, part: str, kind: type[T]) -> Iterator[tuple[bytes, T]]:
    for line in bundle.lines(part):
        try:
            yield line, from_line(kind, line)
        except UnreadableLine:
            raise FencepostError(ErrorCode.BUNDLE_INVALID) from None


def _require_ordered(ids: list[str]) -> None:
    _require(ids == sorted(set(ids)) and all(map(_ID.fullmatch, ids)))


def _require(holds: bool) -> None:
    if not holds:
        raise FencepostError(ErrorCode.BUNDLE_INVALID)
