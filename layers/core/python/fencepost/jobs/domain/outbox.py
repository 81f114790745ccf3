"""The outbox rule: which jobs a change of a row asks for. Pure, so a repeated record makes the same jobs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from fencepost.conversations.domain.archives import reaches_block
from fencepost.conversations.domain.messages import Conversation, OpenTurn
from fencepost.memory.domain.chunk_rows import BACK
from fencepost.queue.domain import OPERATOR, Job, Purpose

LEAST_UNSUMMARISED = 4
"""Messages: a prompt holds at least one exchange, so of two exchanges one may be outside it."""


def jobs_after(org: str, owner: str, before: Conversation | None, after: Conversation) -> Iterator[Job]:
    """Yield the jobs that a change of a conversation's row asks for. Workers decide whether there is work to do.

    Args:
        org: of the row's partition.
        owner: of the row's partition.
        before: the row before the change; None for a new row.
        after: the row after the change.
    """
    known = before or after
    began = before.next_seq if before else 1
    retained = after.kept_from > known.kept_from
    if after.next_seq > began:
        yield from _after_turn(org, owner, before, after)
    elif retained and known.summarised_through >= known.kept_from:
        yield _job(org, owner, after, Purpose.SUMMARISE, revises=True)
    if after.next_seq > began or retained:
        # The jobs of other turns no longer look at a question that far back.
        answered = _answered_turn(before, after)
        answers_far_back = answered is not None and answered.seq < began - BACK
        yield _job(org, owner, after, Purpose.REMEMBER, revises=retained or answers_far_back)


def _after_turn(org: str, owner: str, before: Conversation | None, after: Conversation) -> Iterator[Job]:
    began = before.next_seq if before else 1
    if not after.title:
        yield _job(org, owner, after, Purpose.TITLE)
    answered = _answered_turn(before, after)
    revises = answered is not None and answered.seq <= after.summarised_through
    if revises or after.next_seq - 1 - after.summarised_through >= LEAST_UNSUMMARISED:
        yield _job(org, owner, after, Purpose.SUMMARISE, revises=revises)
    yield _job(org, owner, after, Purpose.PROPOSE_FACTS)
    # Retention counts days, so the first turn of a day archives, too.
    is_new_day = before is not None and before.updated_at.date() != after.updated_at.date()
    imported = before is None and after.next_seq > 1
    if reaches_block(began, after.next_seq) or is_new_day or imported:
        yield _job(org, owner, after, Purpose.ARCHIVE)


def job_after_expiry(org: str, owner: str, conversation_id: str, at: datetime) -> Job:
    """Return the job that removes a question's messages after the table's TTL has removed its pointer row.

    Every question has a pointer row, which expires with its newest answer, whether its messages are in the table or in
    S3. The job names no incarnation: it removes messages by their own expiry.
    """
    return Job(
        org=org,
        owner=owner,
        actor=OPERATOR,
        purpose=Purpose.ARCHIVE,
        permission_version=0,
        created_at=at,
        conversation=conversation_id,
    )


def _answered_turn(before: Conversation | None, after: Conversation) -> OpenTurn | None:
    """Return the turn that the change ended, by a first or another answer to its question; None where there is none."""
    return before.open_turn if before and after.open_turn is None else None


def _job(org: str, owner: str, conversation: Conversation, purpose: Purpose, *, revises: bool = False) -> Job:
    return Job(
        org=org,
        owner=owner,
        actor=owner,
        purpose=purpose,
        # Unknown here, and not needed: a job is authorised by the permission of the moment when it runs.
        permission_version=0,
        # Of the turn's clock, since it is compared with the time of an owner's erasure.
        created_at=conversation.updated_at,
        site=conversation.site,
        conversation=conversation.id,
        incarnation=conversation.incarnation,
        revises=revises,
    )
