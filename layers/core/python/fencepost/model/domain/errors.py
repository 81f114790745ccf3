"""Failures of a model call, with what is known of their cost."""

from __future__ import annotations

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Usage


class ModelError(FencepostError):
    """The provider was called and gave no usable answer.

    Args:
        code: what the client is told.
        usage: what the provider charges, where that is known (`Usage()` for a request it turned away);
            None keeps the whole reservation as spent.
        retry_after: whole seconds, where the provider named them.
    """

    def __init__(self, code: ErrorCode, *, usage: Usage | None, retry_after: int | None = None) -> None:
        super().__init__(code, retry_after=retry_after)
        self.usage = usage
