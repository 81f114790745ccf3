"""The one error of the local tools: a sentence for the person at the terminal."""

from __future__ import annotations


class Trouble(Exception):
    """Something that the person has to put right. The text is a sentence that says what to do.

    Attributes:
        exit_code: 2 where an argument or a setting is invalid, else 1.
    """

    def __init__(self, sentence: str, exit_code: int = 1) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code
