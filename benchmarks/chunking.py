"""Cutting documents: speed, asking of the embedder, lengths of pieces, what an edit costs, and what a token costs.

Lengths are in tokens of multilingual-e5-small, which the local embedder runs.

Usage: python -m benchmarks.chunking
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.report import Row, data_folder, median_seconds, print_table
from fencepost.documents.domain.chunking.bounds import Bounds, Count, Ruler
from fencepost.documents.domain.chunking.chunks import chunk
from fencepost.documents.domain.chunking.noise import spoken
from fencepost.documents.domain.documents import Chunk
from fencepost.retrieval.local_embedder import LocalEmbedder

LENGTHS = (64, 128, 192, 256, 352, 448)
SAMPLES = 5


class Asked:
    """An embedder's `count` that remembers how much it was asked."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self.calls = self.characters = 0

    def __call__(self, text: str) -> int:
        """Count the tokens of a text."""
        self.calls += 1
        self.characters += len(text)
        return self._count(text)


def main() -> None:
    """Print the tables."""
    files = sorted(data_folder("docs").glob("*.llms-full.txt"))
    embedder = LocalEmbedder(threads=1)
    print("\nCutting, by file; the baseline of speed is counting the file's tokens once, by the paragraph\n")
    print_table(row for file in files for row in file_rows(file, embedder.count))
    print("\nEmbedding, by tokens of the piece; the baseline is the shortest\n")
    print_table(cost_rows(files[0].read_text(encoding="utf-8"), embedder))


def file_rows(file: Path, count: Count) -> Iterator[Row]:
    """Yield what cutting one file takes and gives."""
    name, text, asked = file.name.removesuffix(".llms-full.txt"), file.read_bytes().decode(), Asked(count)
    pieces, seconds = timed(partial(chunk, text, asked))
    _, counting = timed(partial(by_paragraph, text, count))
    yield Row(
        f"{name}: characters per second",
        f"{len(text) / seconds:,.0f}",
        f"{len(text) / counting:,.0f}",
        f"{counting / seconds:.2f}",
    )
    rate = median_seconds(partial(chunk, text, len), 3)
    yield Row(f"{name}: the same, with characters for tokens", f"{len(text) / rate:,.0f}")
    yield Row(f"{name}: calls of `count` per piece", f"{asked.calls / len(pieces):.1f}")
    yield Row(f"{name}: characters counted", f"{asked.characters:,}", f"{len(text):,}", ratio(asked, text))
    yield from length_rows(name, pieces, Ruler(count))
    yield edit_row(name, text, pieces, count)


def length_rows(name: str, pieces: tuple[Chunk, ...], ruler: Ruler) -> Iterator[Row]:
    """Yield how long pieces are."""
    lengths = sorted(ruler.tokens(piece.text) for piece in pieces)
    shares = [lengths[int(len(lengths) * share)] for share in (0.05, 0.25, 0.5, 0.75, 0.95)]
    said = sum(ruler.tokens(spoken(piece.text)) for piece in pieces)
    leads = sum(ruler.tokens(piece.lead) for piece in pieces)
    yield Row(f"{name}: pieces", f"{len(pieces):,}")
    yield Row(f"{name}: tokens, p5 / p25 / p50 / p75 / p95 / longest", " / ".join(map(str, [*shares, lengths[-1]])))
    yield Row(
        f"{name}: pieces beyond {Bounds().most} tokens (code, tables)", f"{sum(n > Bounds().most for n in lengths)}"
    )
    yield Row(f"{name}: tokens said", f"{said:,}", f"{sum(lengths):,}", f"{said / sum(lengths):.2f}")
    yield Row(f"{name}: tokens repeated in leads", f"{leads:,}", f"{sum(lengths):,}", f"{leads / sum(lengths):.3f}")


def edit_row(name: str, text: str, pieces: tuple[Chunk, ...], count: Count) -> Row:
    """Return what one paragraph more in the middle changes."""
    place = text.index("\n\n", len(text) // 2) + 2
    edited = chunk(f"{text[:place]}A paragraph that is new.\n\n{text[place:]}", count)
    new = {piece.id for piece in edited} - {piece.id for piece in pieces}
    return Row(f"{name}: new pieces after an edit", f"{len(new)}", f"{len(pieces):,}", f"{len(new) / len(pieces):.4f}")


def cost_rows(text: str, embedder: LocalEmbedder) -> Iterator[Row]:
    """Yield the processor's time for each token of texts of several lengths."""
    first = 0.0
    for length in LENGTHS:
        cost = statistics.median(token_seconds(text, place, length, embedder) for place in range(SAMPLES))
        first = first or cost
        yield Row(f"{length} tokens", f"{cost * 1e3:.2f} ms per token", f"{first * 1e3:.2f}", f"{cost / first:.2f}")


def token_seconds(text: str, place: int, length: int, embedder: LocalEmbedder) -> float:
    """Return the processor's time per token of one text, about so many tokens long."""
    start = len(text) * (place + 1) // (SAMPLES + 2)
    sample = text[start : start + 3 * length]
    began = time.process_time()
    embedder.passages([sample])
    return (time.process_time() - began) / embedder.count(sample)


def by_paragraph(text: str, count: Count) -> int:
    """Count a text's tokens with one call a paragraph."""
    return sum(count(paragraph) for paragraph in text.split("\n\n"))


def ratio(asked: Asked, text: str) -> str:
    """Render how often each character was counted."""
    return f"{asked.characters / len(text):.2f}"


def timed[T](run: partial[T]) -> tuple[T, float]:
    """Return what a call gives and how long it takes."""
    start = time.perf_counter()
    given = run()
    return given, time.perf_counter() - start


if __name__ == "__main__":
    main()
