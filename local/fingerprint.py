"""Digests that show whether a build or a deployment is up to date."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from local.paths import ROOT, TEMPLATE

_BUILT = (TEMPLATE, ROOT / "functions", ROOT / "layers" / "deps")
# A source layer: it is packed as it is.
_SOURCE = (ROOT / "layers" / "core",)


def of_build(architecture: str) -> str:
    """Return a digest of everything that `sam build` reads."""
    return _of_files(architecture, _BUILT)


def of_code(architecture: str) -> str:
    """Return a digest of everything that is deployed, parameters excepted."""
    return _of_files(architecture, (*_BUILT, *_SOURCE))


def _of_files(architecture: str, roots: Iterable[Path]) -> str:
    digest = hashlib.sha256(architecture.encode())
    for path in sorted(_files(roots)):
        digest.update(f"\0{path.relative_to(ROOT)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def of_values(*values: str | Mapping[str, str]) -> str:
    """Return a digest of strings and mappings."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _files(roots: Iterable[Path]) -> Iterator[Path]:
    for root in roots:
        if root.is_file():
            yield root
        for path in root.rglob("*") if root.is_dir() else ():
            hidden = any(part.startswith((".", "__pycache__")) for part in path.relative_to(ROOT).parts)
            if path.is_file() and not hidden:
                yield path
