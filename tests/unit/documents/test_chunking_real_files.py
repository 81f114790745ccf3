"""Real documentation, split into chunks; an independent Markdown parser tells where its code and tables are."""

from __future__ import annotations

import os
from bisect import bisect
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from fencepost.documents.domain.chunking.bounds import Bounds
from fencepost.documents.domain.chunking.chunks import chunk
from fencepost.documents.domain.chunking.units import lines
from fencepost.documents.domain.documents import Chunk
from fencepost.retrieval.local_embedder import LocalEmbedder
from tests.unit.documents.chunking_texts import count, joined, tokens

FOLDER = Path(os.environ.get("FENCEPOST_DATA", "../shared/data")) / "docs"
FILES = sorted(FOLDER.glob("*.llms-full.txt"))
BOUNDS = Bounds()

pytestmark = pytest.mark.skipif(not FILES, reason="FENCEPOST_DATA has no docs")


@lru_cache
def text_of(path: Path) -> str:
    return path.read_bytes().decode()


@lru_cache
def chunks_of(path: Path) -> tuple[Chunk, ...]:
    return chunk(text_of(path), count)


def solid_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of fenced code that is closed, and of tables, in code points."""
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable("inline")
    found = lines(text)
    offsets = [0, *accumulate(map(len, found))]
    for token in parser.parse(text):
        if token.type in ("fence", "table_open") and token.map:
            first, end = token.map
            if token.type != "fence" or found[end - 1].lstrip(" \t>").startswith(token.markup):
                yield offsets[first], offsets[end]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nothing_is_lost_and_ids_are_the_same_again(path: Path) -> None:
    chunks = chunks_of(path)
    assert joined(chunks) == text_of(path)
    assert len({one.id for one in chunks}) == len(chunks)
    assert [one.id for one in chunk(text_of(path), count)] == [one.id for one in chunks]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_code_and_tables_are_whole(path: Path) -> None:
    text, starts = text_of(path), [one.start for one in chunks_of(path)]
    blocks = [(start, end) for start, end in solid_blocks(text) if tokens(text[start:end]) <= BOUNDS.whole]
    assert len(blocks) > 50
    # The line feed behind a block may be the next chunk's, and is never parted from it here.
    torn = [text[start:end] for start, end in blocks if bisect(starts, start) != bisect(starts, end - 1)]
    assert torn == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_only_code_and_tables_are_longer_than_the_bound(path: Path) -> None:
    starts = [start for start, _ in solid_blocks(text_of(path))]
    for one in chunks_of(path):
        holds_solid = bisect(starts, one.end - 1) > bisect(starts, one.start - 1)
        assert tokens(one.text) <= (BOUNDS.whole if holds_solid else BOUNDS.most)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_edit_in_the_middle_leaves_nearly_all_ids(path: Path) -> None:
    text = text_of(path)
    place = text.index("\n\n", len(text) // 2) + 2
    before = {one.id for one in chunks_of(path)}
    after = {one.id for one in chunk(f"{text[:place]}A paragraph that is new.\n\n{text[place:]}", count)}
    assert len(before - after) <= 4
    assert len(after - before) <= 4


def test_an_original_and_its_translation_are_cut_alike() -> None:
    """Measured by the embedder itself: in no other unit are two languages the same length."""
    embedder = LocalEmbedder()
    sizes = {}
    for language in ("en", "ja"):
        path = FOLDER / f"feature_sliced_{language}.llms-full.txt"
        chunks = chunk(text_of(path), embedder.count, language=language)
        assert joined(chunks) == text_of(path)
        sizes[language] = len(chunks)
        prose = [one.text for one in chunks if not set("|`~") & set(one.text)]
        around = embedder.count("")
        assert max(embedder.count(text) - around for text in prose) <= BOUNDS.most
    assert 0.7 <= sizes["en"] / sizes["ja"] <= 1.3
