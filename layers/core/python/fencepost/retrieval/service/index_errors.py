"""Error codes for failures of the index and the embedder, as jobs report them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.retrieval.domain.search import EmbedderUnavailable, IndexUnavailable


class PermanentError(FencepostError):
    """The index or the embedder refuses, and would refuse a retry."""


@contextmanager
def index_errors() -> Iterator[None]:
    """Turn errors of the index and the embedder into a `FencepostError`.

    Raises:
        FencepostError: `index_unavailable` or `embedder_unavailable`; a `PermanentError` where a retry is useless.
    """
    try:
        yield
    except IndexUnavailable as error:
        raise _failed(ErrorCode.INDEX_UNAVAILABLE, retriable=error.retriable) from None
    except EmbedderUnavailable as error:
        raise _failed(ErrorCode.EMBEDDER_UNAVAILABLE, retriable=error.retriable) from None


def _failed(code: ErrorCode, *, retriable: bool) -> FencepostError:
    return FencepostError(code) if retriable else PermanentError(code)
