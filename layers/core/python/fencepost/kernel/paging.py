"""Lists that are read to their end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass


def pages[Item](read: Callable[[str | None], Page[Item]]) -> Iterator[tuple[Item, ...]]:
    """Yield what each page of a list holds. It may be removed meanwhile.

    Args:
        read: returns the page that begins there; None is the first.
    """
    after: str | None = None
    while True:
        page = read(after)
        yield page.items
        if page.next_key is None:
            return
        after = page.next_key


@dataclass(frozen=True, slots=True)
class Page[Item]:
    """A part of a list. `next_key` is where the next one begins; None at the end."""

    items: tuple[Item, ...]
    next_key: str | None = None
