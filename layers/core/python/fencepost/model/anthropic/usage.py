"""Validation of the usage that the provider reports.

The daily bill depends on these figures. If one is missing or impossible, the usage is unknown, and the call keeps its
whole reservation as spent.
"""

from __future__ import annotations

from fencepost.kernel.money import Usage

MOST_TOKENS = 1_000_000_000
"""Highest plausible token count: a thousand times the largest context window."""

_FIGURES = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


class ReportedUsage:
    """Collects the usage reports of one stream. They are cumulative: a new figure replaces the previous one."""

    def __init__(self) -> None:
        self._figures: dict[str, int] = {}
        self._sound = True

    def begin(self, report: object) -> None:
        """Add the report of `message_start`. Its count of output tokens is preliminary, and is dropped."""
        self.add(report)
        self._figures.pop("output_tokens", None)

    def add(self, report: object) -> None:
        """Add the report of `message_delta`. Absent figures keep their values."""
        for name in _FIGURES:
            figure = getattr(report, name, None)
            if type(figure) is int and 0 <= figure <= MOST_TOKENS:
                self._figures[name] = figure
            elif figure is not None:
                self._sound = False

    def usage(self) -> Usage | None:
        """Return the usage; None if the input or the final output count is missing, or a figure is impossible."""
        if not self._sound or not {"input_tokens", "output_tokens"} <= self._figures.keys():
            return None
        fresh, written, read, output = (self._figures.get(name, 0) for name in _FIGURES)
        return Usage(fresh, written, read, output) if fresh + written + read else None
