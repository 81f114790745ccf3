"""Bundles as tests pack, read and forge them."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import zip_longest
from typing import Any

import pytest

from fencepost.conversations.domain.messages import AnswerContext, Message, MessageStatus
from fencepost.identity.domain.sites import Fact
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.json_lines import to_line
from fencepost.lifecycle.domain import bundles
from fencepost.lifecycle.domain.bundle_check import Inventory, inventory, messages
from fencepost.lifecycle.domain.bundle_reader import Bundle
from fencepost.lifecycle.domain.bundles import (
    PARTS_OF,
    BundledContext,
    BundledConversation,
    BundledSummary,
    BundleWriter,
    message_lines,
)
from fencepost.memory.domain.summaries import Summary
from fencepost.model.domain import LayerUse, Role

KEY = b"k" * 32
NOON = datetime(2026, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC)


def exchange(seq: int, name: str, question: str = "Why?", answer: str = "So.") -> tuple[Message, Message]:
    asked = Message(id=name, seq=seq, role=Role.USER, content=question, created_at=NOON, status=MessageStatus.ANSWERED)
    told = Message(
        id=f"{name}.1",
        seq=seq + 1,
        role=Role.ASSISTANT,
        content=answer,
        created_at=NOON + timedelta(seconds=1),
        status=MessageStatus.COMPLETE,
        reply_to=seq,
    )
    return asked, told


def conversation(name: str, kept_from: int = 1) -> BundledConversation:
    return BundledConversation(
        id=name, site="docs", title="Fences", created_at=NOON, updated_at=NOON, kept_from=kept_from
    )


def packed(
    conversations: list[BundledConversation],
    said: dict[str, list[Message]],
    summaries: dict[str, Summary] | None = None,
    facts: tuple[Fact, ...] = (),
    contexts: Iterable[BundledContext] = (),
    *,
    owner: str = "visitor:v1",
    key: bytes = KEY,
) -> bytes:
    lines = (line for name, run in said.items() for line in message_lines(name, run))
    covering = [BundledSummary(conversation=name, summary=one) for name, one in (summaries or {}).items()]
    parts = (map(to_line, conversations), lines, map(to_line, covering), map(to_line, facts), map(to_line, contexts))
    return written(*parts, owner=owner, key=key)


def written(*parts: Iterable[bytes], owner: str = "visitor:v1", key: bytes = KEY) -> bytes:
    with BundleWriter() as writer:
        for name, part in zip_longest(PARTS_OF[bundles.VERSION], parts, fillvalue=()):
            writer.write(str(name), part)
        return writer.finish("acme", owner, key)


def context(conversation: str, answer_id: str, **changes: Any) -> BundledContext:
    found = AnswerContext(
        answer_id=answer_id,
        created_at=NOON,
        model="m",
        prompt_version="1",
        permission_version=0,
        layers=(LayerUse("rules", 7, ("doc:a#1",)),),
        usage=None,
        cost_microdollars=150,
    )
    return BundledContext(conversation=conversation, context=replace(found, **changes))


def opened(content: bytes) -> Bundle:
    return Bundle(content, "acme", "visitor:v1", (KEY,))


def read(content: bytes) -> tuple[Inventory, dict[str, list[Message]]]:
    bundle = opened(content)
    return inventory(bundle), {name: list(run) for name, run in messages(bundle)}


def refusal(content: bytes) -> ErrorCode:
    with pytest.raises(FencepostError) as caught:
        read(content)
    return caught.value.code


SMALL = {"c1": [*exchange(1, "q1")], "c2": [*exchange(1, "q2"), *exchange(3, "q3")]}
GOOD = packed([conversation("c1"), conversation("c2")], SMALL)
Q1, A1 = exchange(1, "q1")


def told(seq: int, **changes: Any) -> Message:
    return replace(exchange(1, "q1")[1], seq=seq, **changes)


def exchanged(replaced: dict[str, bytes], *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return the good bundle with other members: what somebody without the key can make."""
    buffer = BytesIO()
    with zipfile.ZipFile(BytesIO(GOOD)) as old, zipfile.ZipFile(buffer, "w", compression) as new:
        for name in old.namelist():
            new.writestr(name, replaced.get(name, old.read(name)))
    return buffer.getvalue()
