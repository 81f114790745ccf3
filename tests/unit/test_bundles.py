"""Bundles: what goes in comes out, and nothing else does."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import zip_longest
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.domain import bundles
from fencepost.domain.bundle_check import Inventory, inventory, messages
from fencepost.domain.bundle_reader import Bundle
from fencepost.domain.bundles import (
    CONTEXTS,
    CONVERSATIONS,
    MANIFEST,
    MESSAGES,
    PARTS,
    PARTS_OF,
    SIGNATURE,
    BundledContext,
    BundledConversation,
    BundledMessage,
    BundledSummary,
    BundleWriter,
    message_lines,
)
from fencepost.domain.conversation import Role, Source
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.json_lines import to_line
from fencepost.domain.memory import Fact, FactState, Summary, SummaryLine
from fencepost.domain.messages import AnswerContext, LayerUse, Message, MessageStatus
from fencepost.domain.money import Usage
from fencepost.domain.turns import fingerprint

KEY = b"k" * 32
NOON = datetime(2026, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC)

times = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))
texts = st.text(st.characters(codec="utf-8"), max_size=60)
sources = st.builds(Source, texts, texts, texts)
usages = st.none() | st.builds(Usage, *[st.integers(0, 10**6)] * 4)


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


@st.composite
def _runs(draw: st.DrawFn, name: str) -> list[Message]:
    run: list[Message] = []
    for number in range(draw(st.integers(0, 4))):
        asked, told = exchange(len(run) + 1, f"{name}-q{number}", draw(texts), draw(texts))
        run += [asked, told]
    given_sources = st.lists(sources, max_size=2).map(tuple)
    return [
        replace(message, created_at=draw(times), sources=draw(given_sources), usage=draw(usages)) for message in run
    ]


@st.composite
def _contents(draw: st.DrawFn) -> tuple[dict[str, list[Message]], tuple[Fact, ...]]:
    names = sorted(draw(st.sets(st.sampled_from(["a", "b-1", "c_2", "0197"]), max_size=3)))
    count = draw(st.integers(0, 3))
    facts = tuple(
        Fact(
            id=f"f{number}",
            text=draw(texts),
            state=draw(st.sampled_from(FactState)),
            pinned_by="owner",
            created_at=draw(times),
            provenance=("msg:q1",) if number else (),
        )
        for number in range(count)
    )
    return {name: draw(_runs(name)) for name in names}, facts


@given(_contents())
@settings(deadline=None)
def test_what_is_packed_comes_out_and_packs_to_the_same_bytes(
    contents: tuple[dict[str, list[Message]], tuple[Fact, ...]],
) -> None:
    said, facts = contents
    content = packed([conversation(name) for name in said], said, {}, facts)
    found, unpacked = read(content)
    assert unpacked == {name: run for name, run in said.items() if run}
    assert found.facts == facts
    again = packed([one.conversation for one in found.candidates], unpacked, {}, found.facts)
    assert again == content


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
@settings(deadline=None, max_examples=300)
def test_one_changed_byte_is_found_or_changes_nothing(place: int, change: int) -> None:
    damaged = bytearray(GOOD)
    damaged[place] ^= change
    found: object = None
    try:
        found = read(bytes(damaged))
    except FencepostError as error:
        found = error.code
    # Some bytes of a ZIP file say nothing that is read, such as the dates of its members.
    assert found in (ErrorCode.BUNDLE_INVALID, ErrorCode.BUNDLE_TOO_LARGE, read(GOOD))


@given(st.integers(0, len(GOOD) - 1))
def test_a_file_that_was_cut_is_none(length: int) -> None:
    assert refusal(GOOD[:length]) == ErrorCode.BUNDLE_INVALID


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip at all" * 10, b"\0" * 100, b"PK\5\6" + b"\0" * 18])
def test_what_is_no_bundle_is_refused(content: bytes) -> None:
    assert refusal(content) == ErrorCode.BUNDLE_INVALID


def test_another_owners_bundle_is_foreign() -> None:
    assert refusal(packed([], {}, owner="visitor:v2")) == ErrorCode.BUNDLE_FOREIGN


def test_another_organisations_bundle_is_foreign() -> None:
    with pytest.raises(FencepostError) as caught:
        Bundle(GOOD, "globex", "visitor:v1", (KEY,))
    assert caught.value.code == ErrorCode.BUNDLE_FOREIGN


def test_a_bundle_that_another_key_signed_is_none() -> None:
    assert refusal(packed([], {}, key=b"x" * 32)) == ErrorCode.BUNDLE_INVALID


def test_a_rotated_key_still_holds() -> None:
    assert inventory(Bundle(GOOD, "acme", "visitor:v1", (b"new" * 11, KEY))).candidates


def test_another_version_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "VERSION", 3)
    monkeypatch.setitem(bundles.PARTS_OF, 3, PARTS)
    content = packed([], {})
    monkeypatch.undo()
    assert refusal(content) == ErrorCode.BUNDLE_VERSION_UNSUPPORTED


def test_a_bundle_of_the_version_before_is_read_without_contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "VERSION", 1)
    older = written(map(to_line, [conversation("c1")]), message_lines("c1", SMALL["c1"]), (), ())
    monkeypatch.undo()
    with zipfile.ZipFile(BytesIO(older)) as file:
        assert file.namelist() == [*PARTS[:4], MANIFEST, SIGNATURE]
    found, said = read(older)
    assert said == {"c1": SMALL["c1"]}
    assert [question.contexts for question in found.candidates[0].questions] == [{}]


def test_the_parts_are_those_of_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(bundles.PARTS_OF, bundles.VERSION, PARTS[:4])
    shorter = packed([], {})
    monkeypatch.undo()
    assert refusal(shorter) == ErrorCode.BUNDLE_INVALID


def test_what_went_into_an_answer_comes_back_with_it() -> None:
    contexts = [context("c2", "q2.1"), context("c2", "q3.1", degraded=True, usage=Usage(1, 2, 3, 4))]
    found, _ = read(packed([conversation("c1"), conversation("c2")], SMALL, contexts=contexts))
    by_question = [question.contexts for one in found.candidates for question in one.questions]
    assert by_question == [{}, {1: contexts[0].context}, {1: contexts[1].context}]


@pytest.mark.parametrize(
    "contexts",
    [
        [context("c1", "q2.1")],
        [context("c2", "q2.2")],
        [context("c2", "q2")],
        [context("c3", "q2.1")],
        [context("c2", "q2.1")] * 2,
    ],
    ids=["other conversation", "no such answer", "a question's", "no such conversation", "twice"],
)
def test_a_context_belongs_to_one_answer(contexts: list[BundledContext]) -> None:
    content = packed([conversation("c1"), conversation("c2")], SMALL, contexts=contexts)
    assert refusal(content) == ErrorCode.BUNDLE_INVALID


def rewritten(replaced: dict[str, bytes], *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return the good bundle with other members: what somebody without the key can make."""
    buffer = BytesIO()
    with zipfile.ZipFile(BytesIO(GOOD)) as old, zipfile.ZipFile(buffer, "w", compression) as new:
        for name in old.namelist():
            new.writestr(name, replaced.get(name, old.read(name)))
    return buffer.getvalue()


@pytest.mark.parametrize("name", [*PARTS, MANIFEST, SIGNATURE])
def test_no_member_can_be_exchanged(name: str) -> None:
    assert refusal(rewritten({name: b"{}\n"})) == ErrorCode.BUNDLE_INVALID


def test_a_manifest_that_names_another_owner_is_not_signed() -> None:
    with zipfile.ZipFile(BytesIO(packed([], {}, owner="visitor:v2"))) as theirs:
        manifest = theirs.read(MANIFEST).replace(b"visitor:v2", b"visitor:v1")
    assert refusal(rewritten({MANIFEST: manifest})) == ErrorCode.BUNDLE_INVALID


def test_a_zip_bomb_is_not_unfolded() -> None:
    # 64 MiB of zeros, a thousandth of it packed: the manifest's own size is believed only once it is signed.
    assert refusal(rewritten({MESSAGES: bytes(64 * 1024 * 1024)})) == ErrorCode.BUNDLE_INVALID
    assert refusal(rewritten({MANIFEST: bytes(64 * 1024 * 1024)})) == ErrorCode.BUNDLE_INVALID


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(compression: int) -> None:
    assert refusal(rewritten({}, compression=compression)) == ErrorCode.BUNDLE_INVALID


def test_members_that_are_no_part_are_refused() -> None:
    buffer = BytesIO(GOOD)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as more:
        more.writestr("../../etc/passwd", b"root")
    assert refusal(buffer.getvalue()) == ErrorCode.BUNDLE_INVALID


def test_a_directory_of_a_million_members_is_not_read() -> None:
    directory = bytes(46) * 1_000_000
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65_535, 65_535, len(directory), 0, 0)
    assert refusal(directory + end) == ErrorCode.BUNDLE_INVALID


def test_a_hidden_zip64_directory_is_not_followed() -> None:
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, 0, 1)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 46, 0, 0)
    assert refusal(GOOD + locator + end) == ErrorCode.BUNDLE_INVALID


def test_a_comment_is_no_place_to_hide_things() -> None:
    buffer = BytesIO(GOOD)
    with zipfile.ZipFile(buffer, "a") as more:
        more.comment = b"hello"
    assert refusal(buffer.getvalue()) == ErrorCode.BUNDLE_INVALID


def test_more_content_than_may_be_is_neither_written_nor_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.domain.bundle_reader.MAX_CONTENT_BYTES", 100)
    assert refusal(GOOD) == ErrorCode.BUNDLE_TOO_LARGE
    monkeypatch.setattr("fencepost.domain.bundles.MAX_CONTENT_BYTES", 100)
    with pytest.raises(FencepostError) as caught:
        packed([conversation("c1")], SMALL)
    assert caught.value.code == ErrorCode.BUNDLE_TOO_LARGE


def _told(seq: int, **changes: Any) -> Message:
    return replace(exchange(1, "q1")[1], seq=seq, **changes)


Q1, A1 = exchange(1, "q1")


@pytest.mark.parametrize(
    "run",
    [
        [Q1, _told(3)],
        [A1],
        [Q1, A1, A1],
        [Q1, _told(2, reply_to=2)],
        [Q1, _told(2, id="q2.1")],
        [Q1, _told(2, id="q1.x")],
        [Q1, _told(2, reply_to=None)],
        [replace(Q1, id="")],
        [replace(Q1, id="a b")],
    ],
    ids=["gap", "begins late", "repeat", "own answer", "other id", "no revision", "no question", "no id", "odd id"],
)
def test_messages_must_follow_each_other(run: list[Message]) -> None:
    assert refusal(packed([conversation("c1")], {"c1": run})) == ErrorCode.BUNDLE_INVALID


def test_conversations_must_be_named_once_and_in_order() -> None:
    for names in (["c2", "c1"], ["c1", "c1"], ["a/b"]):
        assert refusal(packed([conversation(name) for name in names], {})) == ErrorCode.BUNDLE_INVALID


def test_messages_must_belong_to_a_conversation_and_stand_together() -> None:
    assert refusal(packed([conversation("c1")], {"c2": [Q1, A1]})) == ErrorCode.BUNDLE_INVALID
    three = (("c1", Q1), ("c2", exchange(1, "q2")[0]), ("c1", A1))
    mixed = [BundledMessage(conversation=name, message=message) for name, message in three]
    two = [conversation("c1"), conversation("c2")]
    assert refusal(written(map(to_line, two), map(to_line, mixed), (), ())) == ErrorCode.BUNDLE_INVALID


def test_a_retry_after_an_import_must_bring_the_same_files() -> None:
    asked, told = exchange(1, "q1")
    said = {"c1": [replace(asked, attachments=("f1",)), told]}
    found, _ = read(packed([conversation("c1")], said))
    assert found.candidates[0].questions[0].pointer.fingerprint == fingerprint("Why?", ["f1"])


def test_two_conversations_cannot_share_a_questions_id() -> None:
    said = {"c1": [*exchange(1, "q1")], "c2": [*exchange(1, "q1")]}
    assert refusal(packed([conversation("c1"), conversation("c2")], said)) == ErrorCode.BUNDLE_INVALID


def test_what_retention_left_begins_later() -> None:
    found, said = read(packed([conversation("c1", kept_from=4)], {"c1": [_told(4, reply_to=3), *exchange(5, "q3")]}))
    assert (found.candidates[0].next_seq, len(said["c1"])) == (7, 3)


def _summary(last: int) -> Summary:
    return Summary(
        id="s1",
        lines=(SummaryLine("Fences were discussed.", ("msg:q1",)),),
        first_seq=1,
        last_seq=last,
        content_hash="0" * 64,
        prompt_version="1",
        model="m",
        created_at=NOON,
    )


def test_a_summary_covers_only_what_is_there() -> None:
    one = [conversation("c1")]
    found, _ = read(packed(one, {"c1": [Q1, A1]}, {"c1": _summary(2)}))
    assert found.candidates[0].summary == _summary(2)
    assert refusal(packed(one, {"c1": [Q1, A1]}, {"c1": _summary(3)})) == ErrorCode.BUNDLE_INVALID
    assert refusal(packed(one, {"c1": [Q1, A1]}, {"c9": _summary(1)})) == ErrorCode.BUNDLE_INVALID


@pytest.mark.parametrize("version", PARTS_OF)
def test_the_schema_of_a_version_stays_as_it_is(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "VERSION", version)
    parts = [map(to_line, [conversation("c1")]), message_lines("c1", [Q1])]
    with zipfile.ZipFile(BytesIO(written(*parts))) as file:
        assert file.namelist() == [*PARTS_OF[version], MANIFEST, SIGNATURE]
        assert file.read(CONVERSATIONS) == (
            b'{"id":"c1","site":"docs","title":"Fences","created_at":"2026-03-01T12:00:00.123456Z",'
            b'"updated_at":"2026-03-01T12:00:00.123456Z","kept_from":1}\n'
        )
        assert file.read(MESSAGES) == (
            b'{"conversation":"c1","message":{"id":"q1","seq":1,"role":"user","content":"Why?",'
            b'"created_at":"2026-03-01T12:00:00.123456Z","status":"answered","sources":[],"degraded":false,'
            b'"attachments":[]}}\n'
        )
        assert file.read(MANIFEST).startswith(
            b'{"schema":"fencepost-bundle","version":%d,"org":"acme","owner":"visitor:v1","parts":[' % version
        )


def test_a_context_is_written_as_it_was_in_the_version_that_brought_them() -> None:
    content = packed([conversation("c1")], {"c1": [Q1, A1]}, contexts=[context("c1", "q1.1")])
    with zipfile.ZipFile(BytesIO(content)) as file:
        assert file.read(CONTEXTS) == (
            b'{"conversation":"c1","context":{"answer_id":"q1.1","created_at":"2026-03-01T12:00:00.123456Z","model":"m",'
            b'"prompt_version":"1","permission_version":0,"layers":[{"layer":"rules","tokens":7,"sources":["doc:a#1"]}],'
            b'"cost_microdollars":150,"cited":[],"degraded":false}}\n'
        )


def test_the_checksum_of_a_part_is_its_sha_256_whatever_the_archive_says() -> None:
    # A member with a right CRC and a right length, but other words.
    lines = b"".join(message_lines("c1", [Q1, A1])) + b"".join(message_lines("c2", SMALL["c2"]))
    other = lines.replace(b"Why?", b"Who?")
    assert zlib.crc32(other) != zlib.crc32(lines)
    assert refusal(rewritten({MESSAGES: other})) == ErrorCode.BUNDLE_INVALID
