"""The error of the local tools: a sentence for the terminal."""

from __future__ import annotations


class Trouble(Exception):
    """A problem that the user has to solve. The text is a sentence that says how.

    Attributes:
        exit_code: 2 where an argument or a setting is invalid, else 1.
    """

    def __init__(self, sentence: str, exit_code: int = 1) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code
