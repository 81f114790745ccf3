"""`make bench`: run all benchmarks, or the named ones, one after another."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_NOT_A_BENCHMARK = {
    *("__init__", "__main__", "report", "talk", "turning"),
    *("retrieval_recipes", "retrieval_sets", "retrieval_vectors"),
}


def names() -> list[str]:
    """Return the names of the benchmarks in this folder, sorted."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in _NOT_A_BENCHMARK)


def main(chosen: list[str]) -> int:
    """Run each benchmark in a separate process, and return the number of failures."""
    failed = 0
    for name in chosen or names():
        print(f"\n## {name}\n", flush=True)
        failed += subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
