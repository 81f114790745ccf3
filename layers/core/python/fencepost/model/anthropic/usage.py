"""What the provider says that a call used, taken at its word only where it can be true.

The day's bill rests on these figures: one that is missing or cannot be makes the usage unknown, and a call of unknown
usage keeps all that was set aside for it.
"""

from __future__ import annotations

from typing import TypeGuard

from fencepost.kernel.money import Usage

MOST_TOKENS = 1_000_000_000
"""A figure above this is no count of tokens: a thousand times the largest context window."""

_FIGURES = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


class ReportedUsage:
    """Adds up the reports of one stream. They are cumulative: the newest figure replaces the one before it."""

    def __init__(self) -> None:
        self._figures: dict[str, int] = {}
        self._sound = True

    def begin(self, report: object) -> None:
        """Take in the report of `message_start`. Its count of output is that of a beginning, and does not stay."""
        self.add(report)
        self._figures.pop("output_tokens", None)

    def add(self, report: object) -> None:
        """Take in the report of `message_delta`. Figures that it leaves out, or are None, are as they were."""
        for name in _FIGURES:
            figure = getattr(report, name, None)
            if _possible(figure):
                self._figures[name] = figure
            elif figure is not None:
                self._sound = False

    def usage(self) -> Usage | None:
        """Return the usage, or None where it is unknown: no prompt, no final count of output, or a wrong figure."""
        if not self._sound or not {"input_tokens", "output_tokens"} <= self._figures.keys():
            return None
        fresh, written, read, output = (self._figures.get(name, 0) for name in _FIGURES)
        return Usage(fresh, written, read, output) if fresh + written + read else None


def _possible(figure: object) -> TypeGuard[int]:
    return type(figure) is int and 0 <= figure <= MOST_TOKENS
