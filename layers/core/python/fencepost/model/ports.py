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
        text: what it wrote; never empty.
        usage: what the provider counted; None where it did not say, or said what cannot be: the reservation is kept.
        first_token_seconds: from the call to the first text.
    """

    text: str
    usage: Usage | None
    first_token_seconds: float


class Model(Protocol):
    """The language model. One call of `complete` is one request to the provider, never more."""

    def complete(self, prompt: Prompt, *, within: float = inf) -> Completion:
        """Ask the model.

        Args:
            prompt: the whole of it.
            within: seconds that are left for the call. The adapter's own timeout holds as well.

        Raises:
            ModelError: with the code to answer, and the usage where the provider's charge is known
                (`fencepost.model.domain`).
        """
        ...
