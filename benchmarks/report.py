"""Reports of benchmarks: rows of a Markdown table, each figure against a baseline of the same run."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table. `ratio` is the figure divided by its baseline, if it has one."""

    figure: str
    value: str
    baseline: str = ""
    ratio: str = ""


def print_table(rows: Iterable[Row]) -> None:
    """Print the rows as Markdown."""
    print("| figure | value | baseline | ratio |\n|---|---|---|---|")
    for row in rows:
        print(f"| {row.figure} | {row.value} | {row.baseline} | {row.ratio} |")


def median_seconds(run: Callable[[], object], repeats: int = 30) -> float:
    """Return the median time of `repeats` runs, after one warm-up run."""
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def data_folder(part: str) -> Path:
    """Return `$FENCEPOST_DATA/part` (default `../shared/data`), or end the benchmark with a message."""
    path = Path(os.environ.get("FENCEPOST_DATA", "../shared/data")) / part
    if not path.exists():
        print(f"skipped: {path} is absent; set FENCEPOST_DATA to the folder with the data")
        sys.exit(0)
    return path
