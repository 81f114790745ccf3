"""Bundles: what goes in comes out, in every version as it was written in that version."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.conversations.domain.messages import Message
from fencepost.identity.domain.sites import Fact, FactState
from fencepost.kernel.errors import ErrorCode
from fencepost.kernel.json_lines import to_line
from fencepost.kernel.money import Usage
from fencepost.lifecycle.domain import bundles
from fencepost.lifecycle.domain.bundles import (
    CONTEXTS,
    CONVERSATIONS,
    MANIFEST,
    MESSAGES,
    PARTS,
    PARTS_OF,
    SIGNATURE,
    BundledContext,
    message_lines,
)
from fencepost.memory.domain.summaries import Summary, SummaryLine
from fencepost.model.domain import Source
from fencepost.turns.domain.turns import fingerprint
from tests.worlds.bundle_files import (
    A1,
    NOON,
    Q1,
    SMALL,
    context,
    conversation,
    exchange,
    packed,
    read,
    refusal,
    told,
    written,
)

times = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))
texts = st.text(st.characters(codec="utf-8"), max_size=60)
sources = st.builds(Source, texts, texts, texts)
usages = st.none() | st.builds(Usage, *[st.integers(0, 10**6)] * 4)


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


def test_a_retry_after_an_import_must_bring_the_same_files() -> None:
    asked, told = exchange(1, "q1")
    said = {"c1": [replace(asked, attachments=("f1",)), told]}
    found, _ = read(packed([conversation("c1")], said))
    assert found.candidates[0].questions[0].pointer.fingerprint == fingerprint("Why?", ["f1"])


def test_what_retention_left_begins_later() -> None:
    found, said = read(packed([conversation("c1", kept_from=4)], {"c1": [told(4, reply_to=3), *exchange(5, "q3")]}))
    assert (found.candidates[0].next_seq, len(said["c1"])) == (7, 3)


def summary(last: int) -> Summary:
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
    found, _ = read(packed(one, {"c1": [Q1, A1]}, {"c1": summary(2)}))
    assert found.candidates[0].summary == summary(2)
    assert refusal(packed(one, {"c1": [Q1, A1]}, {"c1": summary(3)})) == ErrorCode.BUNDLE_INVALID
    assert refusal(packed(one, {"c1": [Q1, A1]}, {"c9": summary(1)})) == ErrorCode.BUNDLE_INVALID


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
