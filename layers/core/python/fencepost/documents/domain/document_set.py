"""A site's documentation as sections that can be cited."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from fencepost.prompting.domain.section import Section


@dataclass(frozen=True, slots=True)
class DocumentSet:
    """All sections of a site at one moment. `content_hash` is the SHA-256 hex digest of the raw file."""

    sections: tuple[Section, ...]
    content_hash: str


NO_DOCUMENTS: Final = DocumentSet((), hashlib.sha256().hexdigest())
"""What answers draw on where there is no documentation: the set of an empty file."""
