"""Carried summaries: an approved summary begins a conversation in another organisation."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from fencepost.conversations.domain.messages import Conversation
from fencepost.memory.domain.summaries import Summary, SummaryLine, content_hash


def carried(summary: Summary, summary_id: str, now: datetime) -> Summary:
    """Return the summary that the new conversation begins with.

    It covers no message of the new conversation, so its range is empty: from 1 to 0. The source of each line is the
    original summary; its messages stay in their organisation.
    """
    source = (source_id(summary),)
    return replace(
        summary,
        id=summary_id,
        lines=tuple(SummaryLine(line.text, source) for line in summary.lines),
        first_seq=1,
        last_seq=0,
        content_hash=content_hash(()),
        created_at=now,
        approved=False,
    )


def beginning(summary: Summary, conversation_id: str, incarnation: str, site: str, now: datetime) -> Conversation:
    """Return a new conversation that begins with a carried summary."""
    return Conversation(
        id=conversation_id,
        site=site,
        incarnation=incarnation,
        title="",
        created_at=now,
        updated_at=now,
        next_seq=1,
        carried_from=summary.id,
    )


def source_id(summary: Summary) -> str:
    """Return the source id of a summary."""
    return f"summary:{summary.id}"
