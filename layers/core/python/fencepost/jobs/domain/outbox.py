"""Which work follows from what a table's stream tells: pure, so that the same record always makes the same jobs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from fencepost.conversations.domain.archives import reaches_block
from fencepost.conversations.domain.messages import Conversation
from fencepost.memory.domain.chunk_rows import BACK
from fencepost.queue.domain import OPERATOR, Job, Purpose

LEAST_UNSUMMARISED = 4
"""Messages: a window holds an exchange at least, so with two of them one may have fallen out."""


def jobs_after(org: str, owner: str, before: Conversation | None, after: Conversation) -> Iterator[Job]:
    """Yield the jobs that a change of a conversation's row asks for. Whether they are due, the worker decides.

    Args:
        org: of the row's partition.
        owner: of the row's partition.
        before: the row before the change; None where it was made.
        after: the row after it.
    """
    known = before or after
    began = before.next_seq if before else 1
    retained = after.kept_from > known.kept_from
    if after.next_seq > began:
        yield from _after_turn(org, owner, before, after)
    elif retained and known.summarised_through >= known.kept_from:
        yield _job(org, owner, after, Purpose.SUMMARISE, revises=True)
    if after.next_seq > began or retained:
        yield _job(org, owner, after, Purpose.REMEMBER, revises=retained or _answers_far_back(before, after))


def _after_turn(org: str, owner: str, before: Conversation | None, after: Conversation) -> Iterator[Job]:
    began = before.next_seq if before else 1
    if not after.title:
        yield _job(org, owner, after, Purpose.TITLE)
    revises = _revises(before, after)
    if revises or after.next_seq - 1 - after.summarised_through >= LEAST_UNSUMMARISED:
        yield _job(org, owner, after, Purpose.SUMMARISE, revises=revises)
    yield _job(org, owner, after, Purpose.PROPOSE_FACTS)
    # Retention counts in days, so the first turn of a day looks as well.
    a_new_day = before is not None and before.updated_at.date() != after.updated_at.date()
    imported = before is None and after.next_seq > 1
    if reaches_block(began, after.next_seq) or a_new_day or imported:
        yield _job(org, owner, after, Purpose.ARCHIVE)


def job_after_expiry(org: str, owner: str, conversation_id: str, at: datetime) -> Job:
    """Return the job that follows when the table's TTL took what points to a question: the rest is to follow it.

    Every question has such a row, which goes with its newest answer, wherever the messages stand. The job is bound to
    no incarnation: what it does follows from what is stored.
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


def _revises(before: Conversation | None, after: Conversation) -> bool:
    """Tell whether the turn answered a question of the summary's range, for the first time or anew."""
    turn = before.open_turn if before else None
    return turn is not None and after.open_turn is None and turn.seq <= after.summarised_through


def _answers_far_back(before: Conversation | None, after: Conversation) -> bool:
    """Tell whether the turn answered a question that no other turn's job looks at any more."""
    turn = before.open_turn if before else None
    return before is not None and turn is not None and turn.seq < before.next_seq - BACK and after.open_turn is None


def _job(org: str, owner: str, conversation: Conversation, purpose: Purpose, *, revises: bool = False) -> Job:
    return Job(
        org=org,
        owner=owner,
        actor=owner,
        purpose=purpose,
        # Not known here. It decides nothing: a job is authorised from what the permission is when it runs.
        permission_version=0,
        # By the turn's own clock, to be compared with when an owner was erased.
        created_at=conversation.updated_at,
        site=conversation.site,
        conversation=conversation.id,
        incarnation=conversation.incarnation,
        revises=revises,
    )
