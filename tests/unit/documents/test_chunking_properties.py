"""Properties of chunks of any text: nothing lost, bounds, ids under edits, and time that grows with length."""

from __future__ import annotations

from itertools import product

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fencepost.documents.domain.chunking.blocks import MAX_SECTIONS, ROOMY_CHARACTERS
from fencepost.documents.domain.chunking.chunks import chunk
from fencepost.documents.domain.chunking.noise import without_noise
from fencepost.documents.domain.chunking.units import LONGEST_GRAPHEME, lines, sentences, slices
from tests.unit.documents.chunking_texts import SMALL, count, joined, markdown, paragraphs, tokens
from tests.worlds.thoroughness import examples, some

MOST_CHANGED = 8
"""Chunks that one edit may change. Mostly three; more if the edit changes the best place to split a run."""


@given(markdown)
@example("\ud800# \udfff\n")
@example("#" * 2_000)
@example("\n" * 50 + "x")
def test_spans_tile_the_text_and_ids_are_unique(text: str) -> None:
    chunks = chunk(text, count, SMALL)
    assert joined(chunks) == ("" if text.isspace() else text)
    assert len({one.id for one in chunks}) == len(chunks)
    assert chunks == chunk(text, count, SMALL)
    assert all(without_noise(one.text) or one.text.isspace() for one in chunks)


@given(markdown)
def test_no_chunk_is_longer_than_may_be(text: str) -> None:
    solid = any(mark in text for mark in ("```", "~~~", "|", "<table"))
    for one in chunk(text, count, SMALL):
        assert tokens(one.text) <= (SMALL.whole if solid else SMALL.most)
        assert tokens(one.lead) <= SMALL.overlap


@given(markdown)
def test_no_grapheme_is_cut(text: str) -> None:
    ends = {0, *(match.end() for match in regex.finditer(r"\X", text))}
    longest = max((len(match[0]) for match in regex.finditer(r"\X", text)), default=0)
    if longest <= LONGEST_GRAPHEME:
        assert {one.end for one in chunk(text, count, SMALL)} <= ends


@given(st.text(), st.integers(LONGEST_GRAPHEME, 80))
def test_sentences_lines_and_slices_tile_the_text(text: str, size: int) -> None:
    assert "".join(sentences(text)) == "".join(lines(text)) == "".join(slices(text, size)) == text
    assert all(0 < len(part) <= size for part in slices(text, size) if text)


@st.composite
def edits(draw: st.DrawFn) -> tuple[list[list[str]], list[list[str]], int]:
    """Draw sections of paragraphs, the same with one inserted, deleted or changed, and the number of its section."""
    sizes = draw(st.lists(st.integers(2, 40), min_size=2, max_size=5))
    before = [paragraphs(size, 100 * place) for place, size in enumerate(sizes)]
    place = draw(st.integers(0, len(sizes) - 1))
    after = [list(section) for section in before]
    index = draw(st.integers(0, sizes[place] - 1))
    new = draw(st.sampled_from([paragraphs(7, 900)[draw(st.integers(0, 6))], "One more.", before[0][0]]))
    match draw(st.sampled_from(["insert", "delete", "change"])):
        case "insert":
            after[place].insert(index, new)
        case "delete":
            del after[place][index]
        case _:
            after[place][index] = new
    return before, after, place


def written(sections: list[list[str]]) -> str:
    return "".join(f"## Section {place}\n\n" + "".join(f"{p}\n\n" for p in s) for place, s in enumerate(sections))


@given(edits())
@settings(max_examples=examples(200))
def test_an_edit_changes_the_chunks_near_it_and_none_of_other_sections(
    edit: tuple[list[list[str]], list[list[str]], int],
) -> None:
    before, after, place = edit
    old, new = chunk(written(before), count, SMALL), chunk(written(after), count, SMALL)
    name = (f"Section {place}",)
    assert [p.id for p in old if p.breadcrumb != name] == [p.id for p in new if p.breadcrumb != name]
    kept = {one.id for one in old} & {one.id for one in new}
    assert sum(one.id not in kept for one in old) <= MOST_CHANGED
    assert sum(one.id not in kept for one in new) <= MOST_CHANGED


HOSTILE = [
    "# a\n",
    "# a\nb\n",
    "a",
    "word ",
    "- a\n",
    "a\n\n",
    "```a\n",
    "```\n~~~\n",
    "| a |\n",
    "a|b\n---|---\n\n",
    "<table>\n",
    "import {\n",
    "export const a\n",
    "---\na: b\n",
    "<Card\n",
    "<!--",
    "これは文です。",
    "これは文",
    "🇩🇪",
    "👨‍👩‍👧‍👦",
    "\u0301",
    '"a. ',
    "(",
    "[",
    " \n",
    "\r",
    '<a title="',
]


@pytest.mark.parametrize(("pattern", "opening"), some([*product(HOSTILE, ["", "# ", "> "])], 2, "openings"))
def test_no_pattern_makes_it_slow(pattern: str, opening: str) -> None:
    # What takes quadratic time would run into the suite's time limit.
    text = opening + pattern * (40_000 // len(pattern)) + "x"
    chunks = chunk(text, count)
    assert joined(chunks) == text
    assert sum(len(without_noise(one.text)) for one in chunks) <= len(text)


@pytest.mark.parametrize("depth", [400])
def test_deeply_nested_lists_are_cut(depth: int) -> None:
    text = "".join(f"{'  ' * level}- item {level}\n" for level in range(depth))
    assert joined(chunk(text, count)) == text


def test_the_embedder_is_asked_little() -> None:
    asked: list[str] = []

    def counted(text: str) -> int:
        asked.append(text)
        return count(text)

    text = written([paragraphs(40, 100 * place) for place in range(20)])
    chunks = chunk(text, counted)
    assert sum(map(len, asked)) <= 1.5 * len(text)
    assert len(asked) <= 15 * len(chunks)


def test_a_text_of_nothing_but_headings_has_few_chunks() -> None:
    text = "# a\nb\n" * (MAX_SECTIONS + 20_000)
    chunks = chunk(text, count)
    assert joined(chunks) == text
    assert len(chunks) <= MAX_SECTIONS + 2 + 20_000 * len("# a\nb\n") // ROOMY_CHARACTERS * 20
