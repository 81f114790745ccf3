"""Use cases of export: a conversation, or everything of an owner, as one signed bundle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
"""How long a finished bundle is kept."""
LINK_SECONDS = 900
"""How long the link to a bundle is valid. Each request for the job's state makes a new one."""

_PAGE = 500
_ZIP = "application/zip"

type _Roles = dict[str, dict[str, Role]]
"""The roles of a bundle's messages, by conversation id and message id, in the messages' order."""


@dataclass(frozen=True, slots=True)
class Export:
    """Record of an export's job, and a link to the bundle once the job is done."""

    record: JobRecord
    link: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportService:
    """Queues exports, shows their state and makes their bundles."""

    conversations: ConversationStore
    memory: MemoryStore
    blobs: BlobStore
    jobs: JobStore
    keys: Keys
    clock: Clock

    def ask(self, scope: Scope, site: str, conversation_id: str | None = None) -> JobRecord:
        """Queue an export of one conversation, or of everything.

        Args:
            scope: the owner's.
            site: id of the visitor's site; empty for members.
            conversation_id: None exports everything.

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
        """Return the state of an export.

        Raises:
            FencepostError: `not_found`, also once the bundle has expired.
        """
        record = self.jobs.job(scope, job_id)
        if record is None or record.job.purpose is not Purpose.EXPORT:
            raise FencepostError(ErrorCode.NOT_FOUND)
        if record.state is not JobState.DONE:
            return Export(record)
        # S3 may have removed the bundle already, and will have by tomorrow.
        if record.updated_at + BUNDLE_KEPT <= self.clock():
            raise FencepostError(ErrorCode.NOT_FOUND)
        return Export(record, self.blobs.link(scope, objects.export_bundle(job_id), LINK_SECONDS))

    def run(self, scope: Scope, job: Job) -> None:
        """Make the bundle. An interrupted run is repeated: the same content makes the same bundle.

        Raises:
            FencepostError: `not_found`, `bundle_too_large`, or `conversations_unavailable`.
        """
        job_id = job.record or ""
        self.jobs.advance(scope, job_id, JobState.RUNNING, progress={})
        if job.conversation is not None:
            conversations = [self._found(scope, job.conversation)]
        else:
            conversations = sorted(self._all(scope, self.clock()), key=lambda one: one.id)
        content = self._bundle(scope, conversations, with_facts=job.conversation is None)
        self.blobs.put(scope, objects.export_bundle(job_id), content, _ZIP)
        self._publish(scope, job_id, conversations, len(content))

    def _bundle(self, scope: Scope, conversations: Sequence[Conversation], *, with_facts: bool) -> bytes:
        roles: _Roles = {}
        summaries = ((one.id, self.memory.summary(scope, one.id)) for one in conversations)
        with BundleWriter() as writer:
            writer.write(CONVERSATIONS, (to_line(bundled(one)) for one in conversations))
            writer.write(MESSAGES, self._message_lines(scope, conversations, roles))
            writer.write(
                SUMMARIES,
                (
                    to_line(BundledSummary(conversation=conversation_id, summary=summary))
                    for conversation_id, summary in summaries
                    if summary
                ),
            )
            facts = self.memory.facts(scope, *FactState) if with_facts else ()
            writer.write(FACTS, map(to_line, sorted(facts, key=lambda fact: fact.id)))
            writer.write(CONTEXTS, self._context_lines(scope, roles))
            return writer.finish(scope.org, scope.owner, self.keys.derive(KEY_PURPOSE))

    def _publish(self, scope: Scope, job_id: str, conversations: Sequence[Conversation], size: int) -> None:
        """Mark the export as done, unless something in it was erased or has expired while the bundle was made.

        An erasure removes the conversation, or the job's record, before it looks for bundles. So either the erasure
        finds this bundle, or this method finds that something was removed.
        """
        counts = {"conversations": len(conversations), "bytes": size}
        stale = any(self._is_gone(scope, conversation) for conversation in conversations)
        if stale or not self.jobs.advance(scope, job_id, JobState.DONE, progress=counts):
            self.blobs.delete(scope, objects.export_bundle(job_id))
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE if stale else ErrorCode.NOT_FOUND)

    def _is_gone(self, scope: Scope, exported: Conversation) -> bool:
        stored = self.conversations.get(scope, exported.id)
        held = (exported.incarnation, exported.kept_from)
        return stored is None or (stored.incarnation, stored.kept_from) != held

    def _all(self, scope: Scope, began: datetime) -> Iterable[Conversation]:
        """Return all conversations.

        A conversation that changes while the list is read moves to its front, so the front is read a second time.
        """
        found = {one.id: one for one in self._listed(scope)}
        for one in self._listed(scope):
            if one.updated_at < began:
                break
            found[one.id] = one
        return found.values()

    def _listed(self, scope: Scope) -> Iterator[Conversation]:
        for some in pages(lambda after: self.conversations.newest(scope, after=after, limit=_PAGE)):
            yield from some

    def _message_lines(self, scope: Scope, conversations: Iterable[Conversation], roles: _Roles) -> Iterator[bytes]:
        """Yield the messages' lines, and add the messages' roles: conversations are neither read twice nor held."""
        for conversation in conversations:
            messages = transcript(self.conversations, scope, conversation.id, at_once=_PAGE)
            noted = _noting_roles(messages, roles.setdefault(conversation.id, {}))
            yield from message_lines(conversation.id, noted)

    def _context_lines(self, scope: Scope, roles: _Roles) -> Iterator[bytes]:
        """Yield the contexts of the answers in the bundle. A question may have a newer answer by now."""
        for conversation_id, messages in roles.items():
            questions = [message_id for message_id, role in messages.items() if role is Role.USER]
            for context in self.conversations.contexts(scope, questions):
                if context.answer_id in messages:
                    yield to_line(BundledContext(conversation=conversation_id, context=context))

    def _found(self, scope: Scope, conversation_id: str) -> Conversation:
        conversation = self.conversations.get(scope, conversation_id)
        if conversation is None:
            raise FencepostError(ErrorCode.NOT_FOUND)
        return conversation


def _noting_roles(messages: Iterable[Message], roles: dict[str, Role]) -> Iterator[Message]:
    for message in messages:
        roles[message.id] = message.role
        yield message
