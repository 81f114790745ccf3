"""Chunking of documents: speed, tokens counted by the embedder, chunk lengths, cost of an edit and of a token.

Lengths are in tokens of multilingual-e5-small, the model of the local embedder.

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
from fencepost.documents.domain.chunking.noise import without_noise
from fencepost.documents.domain.documents import Chunk
from fencepost.retrieval.local_embedder import LocalEmbedder

LENGTHS = (64, 128, 192, 256, 352, 448)
SAMPLES = 5


class CountedCalls:
    """An embedder's `count`, which records the texts that it counts."""

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
    print("\nEmbedding, by tokens of the chunk; the baseline is the shortest\n")
    print_table(cost_rows(files[0].read_text(encoding="utf-8"), embedder))


def file_rows(file: Path, count: Count) -> Iterator[Row]:
    """Yield the time and the results of chunking one file."""
    name, text, counted = file.name.removesuffix(".llms-full.txt"), file.read_bytes().decode(), CountedCalls(count)
    chunks, seconds = timed(partial(chunk, text, counted))
    _, counting = timed(partial(by_paragraph, text, count))
    yield Row(
        f"{name}: characters per second",
        f"{len(text) / seconds:,.0f}",
        f"{len(text) / counting:,.0f}",
        f"{counting / seconds:.2f}",
    )
    rate = median_seconds(partial(chunk, text, len), 3)
    yield Row(f"{name}: the same, with characters for tokens", f"{len(text) / rate:,.0f}")
    yield Row(f"{name}: calls of `count` per chunk", f"{counted.calls / len(chunks):.1f}")
    yield Row(f"{name}: characters counted", f"{counted.characters:,}", f"{len(text):,}", ratio(counted, text))
    yield from length_rows(name, chunks, Ruler(count))
    yield edit_row(name, text, chunks, count)


def length_rows(name: str, chunks: tuple[Chunk, ...], ruler: Ruler) -> Iterator[Row]:
    """Yield the lengths of chunks."""
    lengths = sorted(ruler.tokens(each.text) for each in chunks)
    shares = [lengths[int(len(lengths) * share)] for share in (0.05, 0.25, 0.5, 0.75, 0.95)]
    said = sum(ruler.tokens(without_noise(each.text)) for each in chunks)
    leads = sum(ruler.tokens(each.lead) for each in chunks)
    yield Row(f"{name}: chunks", f"{len(chunks):,}")
    yield Row(f"{name}: tokens, p5 / p25 / p50 / p75 / p95 / longest", " / ".join(map(str, [*shares, lengths[-1]])))
    yield Row(
        f"{name}: chunks beyond {Bounds().most} tokens (code, tables)", f"{sum(n > Bounds().most for n in lengths)}"
    )
    yield Row(f"{name}: tokens said", f"{said:,}", f"{sum(lengths):,}", f"{said / sum(lengths):.2f}")
    yield Row(f"{name}: tokens repeated in leads", f"{leads:,}", f"{sum(lengths):,}", f"{leads / sum(lengths):.3f}")


def edit_row(name: str, text: str, chunks: tuple[Chunk, ...], count: Count) -> Row:
    """Return the number of chunks that change after inserting a paragraph in the middle."""
    place = text.index("\n\n", len(text) // 2) + 2
    edited = chunk(f"{text[:place]}A paragraph that is new.\n\n{text[place:]}", count)
    new = {each.id for each in edited} - {each.id for each in chunks}
    return Row(f"{name}: new chunks after an edit", f"{len(new)}", f"{len(chunks):,}", f"{len(new) / len(chunks):.4f}")


def cost_rows(text: str, embedder: LocalEmbedder) -> Iterator[Row]:
    """Yield the CPU time per token for texts of several lengths."""
    first = 0.0
    for length in LENGTHS:
        cost = statistics.median(token_seconds(text, place, length, embedder) for place in range(SAMPLES))
        first = first or cost
        yield Row(f"{length} tokens", f"{cost * 1e3:.2f} ms per token", f"{first * 1e3:.2f}", f"{cost / first:.2f}")


def token_seconds(text: str, place: int, length: int, embedder: LocalEmbedder) -> float:
    """Return the CPU time per token of one text of about the given number of tokens."""
    start = len(text) * (place + 1) // (SAMPLES + 2)
    sample = text[start : start + 3 * length]
    began = time.process_time()
    embedder.passages([sample])
    return (time.process_time() - began) / embedder.count(sample)


def by_paragraph(text: str, count: Count) -> int:
    """Count a text's tokens with one call per paragraph."""
    return sum(count(paragraph) for paragraph in text.split("\n\n"))


def ratio(counted: CountedCalls, text: str) -> str:
    """Render how many times each character was counted on average."""
    return f"{counted.characters / len(text):.2f}"


def timed[T](run: partial[T]) -> tuple[T, float]:
    """Return a call's result and its duration in seconds."""
    start = time.perf_counter()
    given = run()
    return given, time.perf_counter() - start


if __name__ == "__main__":
    main()
