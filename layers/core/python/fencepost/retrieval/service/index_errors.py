"""What the index and the embedder raise, as jobs report it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.retrieval.domain.search import EmbedderUnavailable, IndexUnavailable


class PermanentError(FencepostError):
    """An index or an embedder refuses for good."""


@contextmanager
def index_errors() -> Iterator[None]:
    """Give what the index and the embedder raise its code: a later try may do, or an operator mends it.

    Raises:
        FencepostError: `index_unavailable` or `embedder_unavailable`; `PermanentError` where no later try will do.
    """
    try:
        yield
    except IndexUnavailable as error:
        raise _failed(ErrorCode.INDEX_UNAVAILABLE, retriable=error.retriable) from None
    except EmbedderUnavailable as error:
        raise _failed(ErrorCode.EMBEDDER_UNAVAILABLE, retriable=error.retriable) from None


def _failed(code: ErrorCode, *, retriable: bool) -> FencepostError:
    kind: Callable[[ErrorCode], FencepostError] = FencepostError if retriable else PermanentError
    return kind(code)
