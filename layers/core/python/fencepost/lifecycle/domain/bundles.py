"""Format of export bundles. The signed manifest proves that a bundle is complete, and whose it is.

A bundle is a ZIP file of exactly these members:

    conversations.jsonl    a `BundledConversation` a line, by their ids
    messages.jsonl         a `BundledMessage` a line: conversations in the same order, their messages by number
    summaries.jsonl        a `BundledSummary` a line, in the same order
    facts.jsonl            a `fencepost.identity.domain.sites.Fact` a line, by their ids
    contexts.jsonl         a `BundledContext` a line: the answers' contexts, in the order of their questions
    manifest.json          the `Manifest`: version, organisation and owner, SHA-256 of each part
    manifest.sig           HMAC-SHA256 (RFC 2104) over the manifest's bytes, in hexadecimal digits

The bytes depend on the content only, not on time or place of the export. Bundles of version 1 have no contexts; they
can be imported as well.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from typing import Final, Self
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.json_lines import to_line
from fencepost.memory.domain.summaries import Summary

SCHEMA: Final = "fencepost-bundle"
VERSION: Final = 2
KEY_PURPOSE: Final = "bundle"
"""Purpose that the signing key is derived for."""

CONVERSATIONS, MESSAGES, SUMMARIES, FACTS, CONTEXTS = PARTS = (
    "conversations.jsonl",
    "messages.jsonl",
    "summaries.jsonl",
    "facts.jsonl",
    "contexts.jsonl",
)
PARTS_OF: Final = {1: PARTS[:4], VERSION: PARTS}
"""The parts of a bundle, by its version."""
MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"

MAX_BUNDLE_BYTES: Final = 64 * 1024 * 1024
MAX_CONTENT_BYTES: Final = 256 * 1024 * 1024
"""Size of all parts together, decompressed."""
MAX_LINE_BYTES: Final = 2 * 1024 * 1024

_EPOCH = (1980, 1, 1, 0, 0, 0)
_LEVEL = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledConversation:
    """A conversation without the attributes that its store assigns."""

    id: str
    site: str
    title: str
    created_at: datetime
    updated_at: datetime
    kept_from: int = 1
    carried_from: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledMessage:
    """A message and the id of its conversation."""

    conversation: str
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledSummary:
    """A summary and the id of its conversation."""

    conversation: str
    summary: Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledContext:
    """An answer's context and the id of its conversation."""

    conversation: str
    context: AnswerContext


@dataclass(frozen=True, slots=True, kw_only=True)
class BundlePart:
    """Size, hash and number of lines of one member."""

    name: str
    sha256: str
    bytes: int
    lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Version, owner and members of a bundle."""

    schema: str
    version: int
    org: str
    owner: str
    parts: tuple[BundlePart, ...]


@dataclass(slots=True)
class _PartTotals:
    """Hash and counts of a part, updated while it is written."""

    hash: hashlib._Hash = field(default_factory=hashlib.sha256)
    size: int = 0
    lines: int = 0

    def add(self, line: bytes) -> None:
        self.hash.update(line)
        self.size += len(line)
        self.lines += 1


class BundleWriter:
    """Writes one bundle, part by part, in the order of `PARTS`. Use it as a context manager."""

    def __init__(self) -> None:
        self._buffer = BytesIO()
        self._zip = ZipFile(self._buffer, "w")
        self._parts: list[BundlePart] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def write(self, name: str, lines: Iterable[bytes]) -> None:
        """Write a part.

        Raises:
            FencepostError: `bundle_too_large`.
        """
        total, before = _PartTotals(), sum(part.bytes for part in self._parts)
        with self._zip.open(_member(name), "w") as member:
            for line in lines:
                total.add(line)
                _require_room(before + total.size, self._buffer.tell())
                member.write(line)
        self._parts.append(BundlePart(name=name, sha256=total.hash.hexdigest(), bytes=total.size, lines=total.lines))

    def finish(self, org: str, owner: str, key: bytes) -> bytes:
        """Write the manifest and its signature, and return the bundle."""
        manifest = Manifest(schema=SCHEMA, version=VERSION, org=org, owner=owner, parts=tuple(self._parts))
        content = to_line(manifest)
        self._zip.writestr(_member(MANIFEST), content)
        self._zip.writestr(_member(SIGNATURE), signature(content, key))
        self._zip.close()
        return self._buffer.getvalue()


def signature(manifest: bytes, key: bytes) -> str:
    """Return the signature of a manifest, as hexadecimal digits."""
    return hmac.new(key, manifest, hashlib.sha256).hexdigest()


def bundled(conversation: Conversation) -> BundledConversation:
    """Return a conversation in the form that bundles contain."""
    return BundledConversation(
        id=conversation.id,
        site=conversation.site,
        title=conversation.title,
        created_at=conversation.created_at,
        updated_at=conversation.updated_at,
        kept_from=conversation.kept_from,
        carried_from=conversation.carried_from,
    )


def restored(bundled: BundledConversation, incarnation: str, next_seq: int, keep_days: int) -> Conversation:
    """Return a bundled conversation in the form that stores contain.

    Args:
        bundled: the conversation.
        incarnation: the new incarnation.
        next_seq: number of the next message.
        keep_days: days for which the site keeps messages.
    """
    return Conversation(
        id=bundled.id,
        site=bundled.site,
        incarnation=incarnation,
        title=bundled.title,
        created_at=bundled.created_at,
        updated_at=bundled.updated_at,
        next_seq=next_seq,
        archived_through=bundled.kept_from - 1,
        kept_from=bundled.kept_from,
        carried_from=bundled.carried_from,
        keep_days=keep_days,
    )


def message_lines(conversation_id: str, messages: Iterable[Message]) -> Iterator[bytes]:
    """Yield the lines of a conversation's messages."""
    return (to_line(BundledMessage(conversation=conversation_id, message=message)) for message in messages)


def content_hash(lines: Iterable[bytes]) -> str:
    """Return the SHA-256 of a conversation's message lines, by which two conversations are compared."""
    total = hashlib.sha256()
    for line in lines:
        total.update(line)
    return total.hexdigest()


def _member(name: str) -> ZipInfo:
    info = ZipInfo(name, _EPOCH)
    info.compress_type, info.compress_level = ZIP_DEFLATED, _LEVEL
    # Constant values, so that the bytes are the same on every platform.
    info.create_system, info.external_attr = 3, 0o600 << 16
    return info


def _require_room(content_bytes: int, bundle_bytes: int) -> None:
    if content_bytes > MAX_CONTENT_BYTES or bundle_bytes > MAX_BUNDLE_BYTES:
        raise FencepostError(ErrorCode.BUNDLE_TOO_LARGE)
