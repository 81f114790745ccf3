"""A progress bar on a terminal; elsewhere, a line for each finished item."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TextIO

_WIDTH = 24
_COLUMNS = 100
_NAME_SHARE = 0.4


@dataclass
class ProgressLine:
    """Shows the progress of work on several items.

    Attributes:
        of: how many items there are; it may grow.
        out: stream that the progress is written to.
        name: name of the current item.
    """

    of: int
    out: TextIO
    name: str = field(default="", init=False)
    finished: int = field(default=0, init=False)

    def begin(self, name: str) -> None:
        """Show the next item."""
        self.name = name
        self.part(0, 0)

    def part(self, done: int, of: int) -> None:
        """Show how many parts of the item are done; `of` is 0 without parts."""
        share = (self.finished + (done / of if of else 0)) / max(self.of, 1)
        filled = round(min(share, 1) * _WIDTH)
        parts = f"  {done:,}/{of:,}" if of else ""
        bar = f"{'█' * filled}{'░' * (_WIDTH - filled)}"
        self._rewrite(f"{bar} {self.finished}/{self.of}  {self._short(self.name)}{parts}")

    def finish(self, outcome: str) -> None:
        """Leave a line about what became of the item."""
        self.finished += 1
        self._rewrite("")
        print(f"{self.name}: {outcome}", file=self.out, flush=True)

    def _rewrite(self, line: str) -> None:
        if self.out.isatty():
            # Back to the beginning of the line, and away with what stands there.
            print(f"\r\x1b[2K{line[: self._columns]}", end="", file=self.out, flush=True)

    def _short(self, name: str) -> str:
        room = int(self._columns * _NAME_SHARE)
        return name if len(name) <= room else f"…{name[1 - room :]}"

    @property
    def _columns(self) -> int:
        return shutil.get_terminal_size((_COLUMNS, 24)).columns - 1
