"""Imports: what an owner exported comes back to them, whole or not at all."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import batched

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore, UploadForm
from fencepost.conversations.ports import ConversationStore
from fencepost.conversations.service.conversations import transcript
from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import Fact, FactState
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
    """Where a bundle that is too big for a request is uploaded, and the id under which its import is started."""

    id: str
    form: UploadForm


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportService:
    """Takes bundles, and writes what they hold.

    Everything is checked before anything is written: the bundle itself, and that what is there already is the same.
    A conversation becomes visible as a whole. A run that was cut short is taken up by the next one.

    A conversation comes back on the site that it was on, be it closed. Where the organisation has no such site, it
    comes back on the importer's: a visitor's own, or the default one for members. Else nobody could go on with it.
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
        """Check a small bundle at once, and queue its import.

        Raises:
            FencepostError: what is wrong with the bundle (`fencepost.lifecycle.domain.bundle_reader`), or
            `import_conflict`.
        """
        self._checked(scope, content)
        record = self._record(scope, site)
        name = objects.import_bundle(record.id)
        with self._queued_or_removed(scope, name):
            self.blobs.put(scope, name, content, _ZIP)
            self.jobs.queue(scope, record)
        return record

    def offer(self, scope: Scope) -> Upload:
        """Return the form for a bundle of any size."""
        upload_id = uuid7(self.clock(), secrets.randbits(RANDOM_BITS))
        name = objects.import_bundle(upload_id)
        return Upload(upload_id, self.blobs.upload_form(scope, name, _ZIP, MAX_BUNDLE_BYTES, objects.UPLOAD_SECONDS))

    def start(self, scope: Scope, site: str, upload_id: str) -> JobRecord:
        """Queue the import of a bundle that was uploaded; once, however often it is asked for.

        Raises:
            FencepostError: `import_invalid`; nothing was uploaded.
        """
        if record := self.jobs.job(scope, upload_id):
            return _import(record)
        name = objects.import_bundle(upload_id)
        if name not in self.blobs.names(scope, name):
            raise FencepostError(ErrorCode.IMPORT_INVALID)
        record = self._record(scope, site, upload_id)
        self.jobs.queue(scope, record)
        return record

    def state(self, scope: Scope, job_id: str) -> JobRecord:
        """Return how far an import is.

        Raises:
            FencepostError: `not_found`.
        """
        return _import(self.jobs.job(scope, job_id))

    def run(self, scope: Scope, job: Job) -> None:
        """Do the job.

        Raises:
            FencepostError: what is wrong with the bundle, or `import_conflict`: nothing was imported. `not_found`; the
                owner's data was erased meanwhile. `conversations_unavailable`; the next run goes on.
        """
        self._advance(scope, job, JobState.RUNNING, {})
        name = objects.import_bundle(job.record or "")
        content = self.blobs.get(scope, name)
        if content is None:
            raise FencepostError(ErrorCode.IMPORT_INVALID)
        bundle, found = self._checked(scope, content)
        absent = {one.conversation.id: self._placed(scope, job, one) for one in self._absent(scope, found.candidates)}
        self._write(scope, job, bundle, absent)
        self._write_summaries(scope, found.candidates)
        self._write_facts(scope, job, found.facts)
        self._advance(scope, job, JobState.DONE, {"conversations": len(absent), "facts": len(found.facts)})
        self.blobs.delete(scope, name)

    @contextmanager
    def _queued_or_removed(self, scope: Scope, name: str) -> Iterator[None]:
        """Remove a bundle again whose import is not known to be queued: its owner is not told of it and sends it anew.

        If it is queued all the same, its job finds no bundle and imports nothing.
        """
        try:
            yield
        except FencepostError:
            with suppress(FencepostError):
                self.blobs.delete(scope, name)
            raise

    def _checked(self, scope: Scope, content: bytes) -> tuple[Bundle, Inventory]:
        bundle = Bundle(content, scope.org, scope.owner, self.keys.ring(KEY_PURPOSE))
        found = inventory(bundle)
        self._require_free(scope, self._absent(scope, found.candidates))
        self._require_same_facts(scope, found.facts)
        return bundle, found

    def _absent(self, scope: Scope, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Return the conversations that are not there yet.

        Raises:
            FencepostError: `import_conflict`; one is there and says something else.
        """
        absent = []
        for candidate in candidates:
            conversation_id = candidate.conversation.id
            if self.conversations.get(scope, conversation_id) is None:
                absent.append(candidate)
                continue
            stored = transcript(self.conversations, scope, conversation_id, at_once=_PAGE)
            _require(content_hash(message_lines(conversation_id, stored)) == candidate.content_hash)
        return absent

    def _placed(self, scope: Scope, job: Job, candidate: Candidate) -> Candidate:
        """Return a conversation on a site that the organisation has."""
        if self.sites.knows(scope.org, candidate.conversation.site):
            return candidate
        site = job.site or self.sites.organisation(scope.org).default_site
        return replace(candidate, conversation=replace(candidate.conversation, site=site))

    def _require_free(self, scope: Scope, absent: Iterable[Candidate]) -> None:
        """Refuse ids of messages that belong to another conversation of the owner."""
        wanted = {one.pointer.message_id: one.pointer.conversation_id for each in absent for one in each.questions}
        for message_id, conversation_id in self.imports.taken(scope, list(wanted)).items():
            _require(wanted[message_id] == conversation_id)

    def _require_same_facts(self, scope: Scope, facts: Iterable[Fact]) -> None:
        stored = {fact.id: fact for fact in self.memory.facts(scope, *FactState)}
        for fact in facts:
            _require(stored.get(fact.id, fact) == fact)

    def _write(self, scope: Scope, job: Job, bundle: Bundle, absent: dict[str, Candidate]) -> None:
        incarnations = {one: self._begin(scope, job, one) for one in absent}
        for conversation_id, run in messages(bundle):
            if conversation_id in absent:
                incarnation, days = incarnations[conversation_id], self._days(scope, absent[conversation_id])
                for some in batched(run, MOST_WRITTEN, strict=False):
                    written = self.imports.write_messages(scope, conversation_id, incarnation, some, keep_days=days)
                    _require_written(written)
        for conversation_id, candidate in absent.items():
            self._show(scope, candidate, incarnations[conversation_id])

    def _begin(self, scope: Scope, job: Job, conversation_id: str) -> str:
        drawn = secrets.token_urlsafe(_INCARNATION_BYTES)
        incarnation = self.imports.begin(scope, conversation_id, job, drawn)
        if incarnation is None:
            # It was erased after the import was asked for, or it came into being: the next run sees which.
            gone = self.conversations.get(scope, conversation_id) is None
            raise FencepostError(ErrorCode.NOT_FOUND if gone else ErrorCode.CONVERSATIONS_UNAVAILABLE)
        return incarnation

    def _show(self, scope: Scope, candidate: Candidate, incarnation: str) -> None:
        days = self._days(scope, candidate)
        conversation = restored(candidate.conversation, incarnation, candidate.next_seq, days)
        for some in batched(candidate.questions, MOST_WRITTEN, strict=False):
            written = self.imports.write_questions(scope, conversation.id, incarnation, some, keep_days=days)
            _require_written(written)
        _require_written(self.imports.finish(scope, conversation))

    def _days(self, scope: Scope, candidate: Candidate) -> int:
        return self.sites.of_conversation(scope.org, candidate.conversation.site).retention.days

    def _write_summaries(self, scope: Scope, candidates: Iterable[Candidate]) -> None:
        for candidate in candidates:
            conversation = self.conversations.get(scope, candidate.conversation.id)
            if not conversation or not candidate.summary or self.memory.summary(scope, conversation.id):
                continue
            self.memory.write_summary(scope, conversation.id, conversation.incarnation, candidate.summary)

    def _write_facts(self, scope: Scope, job: Job, facts: Sequence[Fact]) -> None:
        stored = {fact.id for fact in self.memory.facts(scope, *FactState)}
        for some in batched((fact for fact in facts if fact.id not in stored), MAX_WRITTEN, strict=False):
            if not self.memory.write_facts(scope, some, made_at=job.created_at):
                raise FencepostError(ErrorCode.NOT_FOUND)

    def _advance(self, scope: Scope, job: Job, state: JobState, counts: dict[str, int]) -> None:
        if not self.jobs.advance(scope, job.record or "", state, progress=counts):
            raise FencepostError(ErrorCode.NOT_FOUND)

    def _record(self, scope: Scope, site: str, record_id: str | None = None) -> JobRecord:
        record = new_record(scope, Purpose.IMPORT, self.clock(), site=site)
        if record_id is None:
            return record
        return replace(record, id=record_id, job=replace(record.job, record=record_id))


def _import(record: JobRecord | None) -> JobRecord:
    if record is None or record.job.purpose is not Purpose.IMPORT:
        raise FencepostError(ErrorCode.NOT_FOUND)
    return record


def _require(same: bool) -> None:
    if not same:
        raise FencepostError(ErrorCode.IMPORT_CONFLICT)


def _require_written(written: bool) -> None:
    """Stop where an erasure, or another import, took the mark: the next run sees which."""
    if not written:
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
