"""Use cases of import: an owner's exported bundle is stored again, all of it or nothing."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import batched

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore, UploadForm
from fencepost.conversations.ports import ConversationStore
from fencepost.conversations.service.conversations import transcript
from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import FactState
from fencepost.identity.service import SiteService
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ids import RANDOM_BITS, uuid7
from fencepost.kernel.ports import Clock, Keys
from fencepost.lifecycle.domain.bundle_check import Candidate, Inventory, inventory, messages
from fencepost.lifecycle.domain.bundle_reader import Bundle
from fencepost.lifecycle.domain.bundles import KEY_PURPOSE, MAX_BUNDLE_BYTES, content_hash, message_lines, restored
from fencepost.lifecycle.ports import MOST_WRITTEN, ImportStore
from fencepost.memory.domain.facts import MAX_WRITTEN
from fencepost.memory.ports import MemoryStore
from fencepost.queue.domain import Job, JobRecord, JobState, Purpose
from fencepost.queue.ports import JobStore
from fencepost.queue.service import new_record

_PAGE = 500
_ZIP = "application/zip"
_INCARNATION_BYTES = 9


@dataclass(frozen=True, slots=True)
class Upload:
    """Upload form for a bundle that is too big for a request.

    Attributes:
        id: starts the import once the bundle is uploaded.
    """

    id: str
    form: UploadForm


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportService:
    """Accepts bundles and imports their content.

    Everything is checked before anything is written: the bundle itself, and that content which exists already is
    identical. A conversation becomes visible only when it is complete. The next run continues an interrupted one.

    A conversation is imported into the site that it was exported from, even if that site is closed. If the organisation
    has no such site, it is imported into the importer's: the visitor's site, or the default site for members. Otherwise
    the conversation could not be continued.
    """

    conversations: ConversationStore
    imports: ImportStore
    memory: MemoryStore
    blobs: BlobStore
    jobs: JobStore
    sites: SiteService
    keys: Keys
    clock: Clock

    def take(self, scope: Scope, site: str, content: bytes) -> JobRecord:
        """Check a small bundle and queue its import.

        Raises:
            FencepostError: a code of `fencepost.lifecycle.domain.bundle_reader`, or `import_conflict`.
        """
        self._checked(scope, content)
        record = new_record(scope, Purpose.IMPORT, self.clock(), site=site)
        name = objects.import_bundle(record.id)
        try:
            self.blobs.put(scope, name, content, _ZIP)
            self.jobs.queue(scope, record)
        except FencepostError:
            # The client is not told the record's id and sends the bundle again. If the job is queued all the same, it
            # finds no bundle and imports nothing.
            with suppress(FencepostError):
                self.blobs.delete(scope, name)
            raise
        return record

    def offer(self, scope: Scope) -> Upload:
        """Return the upload form for a bundle of any size."""
        upload_id = uuid7(self.clock(), secrets.randbits(RANDOM_BITS))
        name = objects.import_bundle(upload_id)
        return Upload(upload_id, self.blobs.upload_form(scope, name, _ZIP, MAX_BUNDLE_BYTES, objects.UPLOAD_SECONDS))

    def start(self, scope: Scope, site: str, upload_id: str) -> JobRecord:
        """Queue the import of an uploaded bundle. Repeated calls queue it once.

        Raises:
            FencepostError: `import_invalid`, nothing was uploaded; `not_found`, the id is another job's.
        """
        if record := self.jobs.job(scope, upload_id):
            return _import(record)
        name = objects.import_bundle(upload_id)
        if name not in self.blobs.names(scope, name):
            raise FencepostError(ErrorCode.IMPORT_INVALID)
        record = new_record(scope, Purpose.IMPORT, self.clock(), site=site)
        record = replace(record, id=upload_id, job=replace(record.job, record=upload_id))
        self.jobs.queue(scope, record)
        return record

    def state(self, scope: Scope, job_id: str) -> JobRecord:
        """Return the record of an import's job.

        Raises:
            FencepostError: `not_found`.
        """
        return _import(self.jobs.job(scope, job_id))

    def run(self, scope: Scope, job: Job) -> None:
        """Run the job.

        Raises:
            FencepostError: a code of the bundle's reader, or `import_conflict`: nothing was imported. `not_found`: the
                owner was erased in the meantime. `conversations_unavailable`: the next run continues.
        """
        self._advance(scope, job, JobState.RUNNING, {})
        name = objects.import_bundle(job.record or "")
        content = self.blobs.get(scope, name)
        if content is None:
            raise FencepostError(ErrorCode.IMPORT_INVALID)
        bundle, found, missing = self._checked(scope, content)
        self._write_conversations(scope, job, bundle, [self._on_known_site(scope, job, one) for one in missing])
        self._write_summaries(scope, found.candidates)
        stored = {fact.id for fact in self.memory.facts(scope, *FactState)}
        for some in batched((fact for fact in found.facts if fact.id not in stored), MAX_WRITTEN, strict=False):
            if not self.memory.write_facts(scope, some, made_at=job.created_at):
                raise FencepostError(ErrorCode.NOT_FOUND)
        self._advance(scope, job, JobState.DONE, {"conversations": len(missing), "facts": len(found.facts)})
        self.blobs.delete(scope, name)

    def _checked(self, scope: Scope, content: bytes) -> tuple[Bundle, Inventory, list[Candidate]]:
        """Check a bundle against the store.

        Returns:
            The bundle, its inventory, and those of its conversations that do not exist.

        Raises:
            FencepostError: a code of the bundle's reader. `import_conflict`: a conversation or fact exists with other
                content, or a message's id belongs to another conversation of the owner.
        """
        bundle = Bundle(content, scope.org, scope.owner, self.keys.ring(KEY_PURPOSE))
        found = inventory(bundle)
        missing = [one for one in found.candidates if not self._exists(scope, one)]
        wanted = {one.pointer.message_id: one.pointer.conversation_id for each in missing for one in each.questions}
        for message_id, conversation_id in self.imports.taken(scope, list(wanted)).items():
            _require(wanted[message_id] == conversation_id)
        stored = {fact.id: fact for fact in self.memory.facts(scope, *FactState)}
        for fact in found.facts:
            _require(stored.get(fact.id, fact) == fact)
        return bundle, found, missing

    def _exists(self, scope: Scope, candidate: Candidate) -> bool:
        """Tell whether a conversation exists; raise `import_conflict` if it does with other content."""
        conversation_id = candidate.conversation.id
        if self.conversations.get(scope, conversation_id) is None:
            return False
        stored = transcript(self.conversations, scope, conversation_id, at_once=_PAGE)
        _require(content_hash(message_lines(conversation_id, stored)) == candidate.content_hash)
        return True

    def _on_known_site(self, scope: Scope, job: Job, candidate: Candidate) -> Candidate:
        """Return a conversation with a site that the organisation has."""
        if self.sites.has_site(scope.org, candidate.conversation.site):
            return candidate
        site = job.site or self.sites.organisation(scope.org).default_site
        return replace(candidate, conversation=replace(candidate.conversation, site=site))

    def _write_conversations(self, scope: Scope, job: Job, bundle: Bundle, candidates: Sequence[Candidate]) -> None:
        """Write all messages first; then make one conversation after the other visible."""
        missing = {one.conversation.id: one for one in candidates}
        incarnations = {conversation_id: self._begin(scope, job, conversation_id) for conversation_id in missing}
        for conversation_id, run in messages(bundle):
            if conversation_id in missing:
                incarnation, days = incarnations[conversation_id], self._keep_days(scope, missing[conversation_id])
                for some in batched(run, MOST_WRITTEN, strict=False):
                    written = self.imports.write_messages(scope, conversation_id, incarnation, some, keep_days=days)
                    _require_written(written)
        for conversation_id, candidate in missing.items():
            self._finish(scope, candidate, incarnations[conversation_id])

    def _begin(self, scope: Scope, job: Job, conversation_id: str) -> str:
        """Mark that the import writes a conversation, and return the conversation's incarnation."""
        drawn = secrets.token_urlsafe(_INCARNATION_BYTES)
        incarnation = self.imports.begin(scope, conversation_id, job, drawn)
        if incarnation is None:
            # The conversation was erased after the import was requested, or has been made since: the next run sees it.
            erased = self.conversations.get(scope, conversation_id) is None
            raise FencepostError(ErrorCode.NOT_FOUND if erased else ErrorCode.CONVERSATIONS_UNAVAILABLE)
        return incarnation

    def _finish(self, scope: Scope, candidate: Candidate, incarnation: str) -> None:
        """Write a conversation's pointers, and make the conversation visible."""
        days = self._keep_days(scope, candidate)
        conversation = restored(candidate.conversation, incarnation, candidate.next_seq, days)
        for some in batched(candidate.questions, MOST_WRITTEN, strict=False):
            written = self.imports.write_questions(scope, conversation.id, incarnation, some, keep_days=days)
            _require_written(written)
        _require_written(self.imports.finish(scope, conversation))

    def _keep_days(self, scope: Scope, candidate: Candidate) -> int:
        return self.sites.of_conversation(scope.org, candidate.conversation.site).retention.days

    def _write_summaries(self, scope: Scope, candidates: Iterable[Candidate]) -> None:
        for candidate in candidates:
            conversation = self.conversations.get(scope, candidate.conversation.id)
            if not conversation or not candidate.summary or self.memory.summary(scope, conversation.id):
                continue
            self.memory.write_summary(scope, conversation.id, conversation.incarnation, candidate.summary)

    def _advance(self, scope: Scope, job: Job, state: JobState, counts: dict[str, int]) -> None:
        if not self.jobs.advance(scope, job.record or "", state, progress=counts):
            raise FencepostError(ErrorCode.NOT_FOUND)


def _import(record: JobRecord | None) -> JobRecord:
    if record is None or record.job.purpose is not Purpose.IMPORT:
        raise FencepostError(ErrorCode.NOT_FOUND)
    return record


def _require(same: bool) -> None:
    if not same:
        raise FencepostError(ErrorCode.IMPORT_CONFLICT)


def _require_written(written: bool) -> None:
    """Stop if an erasure or another import has removed the mark: the next run sees which."""
    if not written:
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
