"""A summary that its owner approved, as the beginning of a conversation in another organisation."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from fencepost.conversations.domain.messages import Conversation
from fencepost.memory.domain.summaries import Summary, SummaryLine, content_hash


def carried(summary: Summary, summary_id: str, now: datetime) -> Summary:
    """Return the summary as the new conversation begins with it.

    It covers no message there, so its range is empty: from 1 to 0. Each line rests on the summary that it was carried
    from; the messages behind that stay where they are.
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
    """Return the row of a conversation that begins with a carried summary."""
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
    """Return the id under which a summary is a source."""
    return f"summary:{summary.id}"
