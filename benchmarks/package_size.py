"""Size of each deployed layer, unzipped in Lambda and as uploaded."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import Row, print_table

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / ".aws-sam" / "build"
LAYERS = {"dependencies": BUILD / "DepsLayer", "own code": ROOT / "layers" / "core"}
LAMBDA_LIMIT_MB = 250
LARGEST = 5


def files(folder: Path) -> list[Path]:
    """Return the files that go into an archive."""
    hidden = (".", "__pycache__") if folder == LAYERS["own code"] else (".",)
    paths = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in paths if not any(part.startswith(hidden) for part in path.relative_to(folder).parts)]


def megabytes(folder: Path) -> float:
    """Return the unzipped size."""
    return sum(path.stat().st_size for path in files(folder)) / 1_000_000


def zipped_megabytes(folder: Path) -> float:
    """Return the size of the archive that is uploaded."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        for path in files(folder):
            zipped.write(path, path.relative_to(folder))
    return len(archive.getvalue()) / 1_000_000


def rows() -> Iterator[Row]:
    """Measure each layer, and the largest packages in it."""
    for name, folder in LAYERS.items():
        size = megabytes(folder)
        share = f"{size / LAMBDA_LIMIT_MB:.3f}×"
        yield Row(f"layer of {name}, unzipped", f"{size:.1f} MB", f"{LAMBDA_LIMIT_MB} MB (Lambda's limit)", share)
        yield Row(f"layer of {name}, zipped", f"{zipped_megabytes(folder):.1f} MB")
    packages = [path for path in (LAYERS["dependencies"] / "python").iterdir() if path.is_dir()]
    for path in sorted(packages, key=megabytes, reverse=True)[:LARGEST]:
        yield Row(f"of the dependencies: {path.name}", f"{megabytes(path):.1f} MB")


if __name__ == "__main__":
    if not LAYERS["dependencies"].exists():
        print("skipped: nothing is built; run `sam build` first")
        sys.exit(0)
    print_table(rows())
