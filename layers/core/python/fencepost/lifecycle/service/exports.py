"""Exports: a conversation, or everything of an owner, as one signed bundle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.messages import Conversation, Message
from fencepost.conversations.ports import ConversationStore
from fencepost.conversations.service.conversations import transcript
from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import FactState
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.json_lines import to_line
from fencepost.kernel.paging import pages
from fencepost.kernel.ports import Clock, Keys
from fencepost.lifecycle.domain.bundles import (
    CONTEXTS,
    CONVERSATIONS,
    FACTS,
    KEY_PURPOSE,
    MESSAGES,
    SUMMARIES,
    BundledContext,
    BundledSummary,
    BundleWriter,
    bundled,
    message_lines,
)
from fencepost.memory.ports import MemoryStore
from fencepost.model.domain import Role
from fencepost.queue.domain import Job, JobRecord, JobState, Purpose
from fencepost.queue.ports import JobStore
from fencepost.queue.service import new_record

BUNDLE_KEPT = timedelta(days=objects.PASSING_DAYS)
"""How long a bundle is there once it is made."""
LINK_SECONDS = 900
"""How long the address of a bundle holds. Each look at the job makes a new one."""

_PAGE = 500
_ZIP = "application/zip"

type _Said = dict[str, dict[str, Role]]
"""The messages that a bundle holds: by their conversation, then by their ids, in their order."""


@dataclass(frozen=True, slots=True)
class Export:
    """An export's job, and where its bundle can be read once it is done."""

    record: JobRecord
    link: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportService:
    """Asks for exports, shows them and makes them."""

    conversations: ConversationStore
    memory: MemoryStore
    blobs: BlobStore
    jobs: JobStore
    keys: Keys
    clock: Clock

    def ask(self, scope: Scope, site: str, conversation_id: str | None = None) -> JobRecord:
        """Queue an export of one conversation, or of everything.

        Args:
            scope: whose.
            site: id of the visitor's site; empty for members.
            conversation_id: None means everything.

        Raises:
            FencepostError: `not_found`.
        """
        incarnation = None
        if conversation_id is not None:
            incarnation = self._found(scope, conversation_id).incarnation
        record = new_record(
            scope,
            Purpose.EXPORT,
            self.clock(),
            site=site,
            conversation=conversation_id,
            incarnation=incarnation,
        )
        self.jobs.queue(scope, record)
        return record

    def state(self, scope: Scope, job_id: str) -> Export:
        """Return how far an export is.

        Raises:
            FencepostError: `not_found`.
        """
        record = self.jobs.job(scope, job_id)
        if record is None or record.job.purpose is not Purpose.EXPORT or self._is_past(record):
            raise FencepostError(ErrorCode.NOT_FOUND)
        if record.state is not JobState.DONE:
            return Export(record)
        return Export(record, self.blobs.link(scope, objects.export_bundle(job_id), LINK_SECONDS))

    def _is_past(self, record: JobRecord) -> bool:
        """Tell whether a bundle is gone: S3 may have removed it by now, and will have by tomorrow."""
        return record.state is JobState.DONE and record.updated_at + BUNDLE_KEPT <= self.clock()

    def run(self, scope: Scope, job: Job) -> None:
        """Make the bundle. A run that was cut short is done anew: the same content makes the same bundle.

        Raises:
            FencepostError: `not_found`, `bundle_too_large`, or `conversations_unavailable`.
        """
        job_id = job.record or ""
        self.jobs.advance(scope, job_id, JobState.RUNNING, progress={})
        exported = self._chosen(scope, job)
        content = self._packed(scope, exported, with_facts=job.conversation is None)
        self.blobs.put(scope, objects.export_bundle(job_id), content, _ZIP)
        self._publish(scope, job_id, exported, len(content))

    def _packed(self, scope: Scope, exported: Sequence[Conversation], *, with_facts: bool) -> bytes:
        said: _Said = {}
        with BundleWriter() as writer:
            writer.write(CONVERSATIONS, (to_line(bundled(one)) for one in exported))
            writer.write(MESSAGES, self._message_lines(scope, exported, said))
            writer.write(SUMMARIES, self._summary_lines(scope, exported))
            writer.write(FACTS, self._fact_lines(scope) if with_facts else ())
            writer.write(CONTEXTS, self._context_lines(scope, said))
            return writer.finish(scope.org, scope.owner, self.keys.derive(KEY_PURPOSE))

    def _publish(self, scope: Scope, job_id: str, exported: Sequence[Conversation], size: int) -> None:
        """Let the bundle be read, unless something in it was erased, or not kept, while it was made.

        An erasure removes the conversation, or the job's record, before it looks for bundles: it has seen this one, or
        what it removed is seen here.
        """
        counts = {"conversations": len(exported), "bytes": size}
        stale = any(self._is_gone(scope, conversation) for conversation in exported)
        if stale or not self.jobs.advance(scope, job_id, JobState.DONE, progress=counts):
            self.blobs.delete(scope, objects.export_bundle(job_id))
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE if stale else ErrorCode.NOT_FOUND)

    def _is_gone(self, scope: Scope, exported: Conversation) -> bool:
        stored = self.conversations.get(scope, exported.id)
        held = (exported.incarnation, exported.kept_from)
        return stored is None or (stored.incarnation, stored.kept_from) != held

    def _chosen(self, scope: Scope, job: Job) -> list[Conversation]:
        if job.conversation is not None:
            return [self._found(scope, job.conversation)]
        return sorted(self._all(scope, self.clock()), key=lambda one: one.id)

    def _all(self, scope: Scope, began: datetime) -> Iterable[Conversation]:
        """Return all conversations. One that changes meanwhile jumps to the front of the list: that is read again."""
        found = {one.id: one for one in self._listed(scope)}
        for one in self._listed(scope):
            if one.updated_at < began:
                break
            found[one.id] = one
        return found.values()

    def _listed(self, scope: Scope) -> Iterator[Conversation]:
        for some in pages(lambda after: self.conversations.newest(scope, after=after, limit=_PAGE)):
            yield from some

    def _message_lines(self, scope: Scope, exported: Iterable[Conversation], said: _Said) -> Iterator[bytes]:
        for conversation in exported:
            messages = transcript(self.conversations, scope, conversation.id, at_once=_PAGE)
            yield from message_lines(conversation.id, _noted(messages, said.setdefault(conversation.id, {})))

    def _summary_lines(self, scope: Scope, exported: Iterable[Conversation]) -> Iterator[bytes]:
        for conversation in exported:
            if summary := self.memory.summary(scope, conversation.id):
                yield to_line(BundledSummary(conversation=conversation.id, summary=summary))

    def _context_lines(self, scope: Scope, said: Mapping[str, Mapping[str, Role]]) -> Iterator[bytes]:
        """Yield what went into the answers that are in the bundle; a newer one may be there by now."""
        for conversation_id, messages in said.items():
            questions = [message_id for message_id, role in messages.items() if role is Role.USER]
            for context in self.conversations.contexts(scope, questions):
                if context.answer_id in messages:
                    yield to_line(BundledContext(conversation=conversation_id, context=context))

    def _fact_lines(self, scope: Scope) -> Iterator[bytes]:
        return map(to_line, sorted(self.memory.facts(scope, *FactState), key=lambda fact: fact.id))

    def _found(self, scope: Scope, conversation_id: str) -> Conversation:
        conversation = self.conversations.get(scope, conversation_id)
        if conversation is None:
            raise FencepostError(ErrorCode.NOT_FOUND)
        return conversation


def _noted(messages: Iterable[Message], roles: dict[str, Role]) -> Iterator[Message]:
    """Yield messages, and note their ids as they pass: a long conversation is not read twice, nor held."""
    for message in messages:
        roles[message.id] = message.role
        yield message
