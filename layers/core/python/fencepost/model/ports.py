"""The port of the language model."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Protocol

from fencepost.kernel.money import Usage
from fencepost.model.domain import Prompt


@dataclass(frozen=True, slots=True)
class Completion:
    """A complete answer of the model.

    Attributes:
        text: never empty.
        usage: as the provider counted it; None if it is missing or impossible, and the reservation is kept.
        first_token_seconds: time from the call to the first text.
    """

    text: str
    usage: Usage | None
    first_token_seconds: float


class Model(Protocol):
    """The language model. One call of `complete` makes exactly one request to the provider."""

    def complete(self, prompt: Prompt, *, within: float = inf) -> Completion:
        """Return the model's answer to a prompt.

        Args:
            prompt: the prompt.
            within: seconds for the call. The adapter's own timeout applies as well.

        Raises:
            ModelError: with the error code, and the usage if the provider's charge is known.
        """
        ...
