"""Processes that read what strangers wrote: with bounds on time and memory, and without our credentials.

A few kilobytes can unfold to gigabytes, keep a parser busy for hours, or find a flaw in one that is written in C.
"""

from __future__ import annotations

import os
import subprocess
import sys
from types import ModuleType
from typing import Final

TOO_LARGE: Final = 3
"""The status of a child that would say more than may be."""

_MEMORY_BYTES: Final = 512 * 1024 * 1024
_CPU_SECONDS: Final = 25


class ChildTooLarge(Exception):
    """More is written in the content than may be."""


class ChildFailed(Exception):
    """The content cannot be read, or not within the bounds."""


def read_in_child(worker: ModuleType, content: bytes, seconds: float, *limits: int) -> str:
    """Return what a worker module writes about some content.

    Args:
        worker: is run as a program, with the content on its standard input; begins with `bound_resources`.
        seconds: after which it is ended.
        limits: the program's arguments.

    Raises:
        ChildTooLarge, ChildFailed: as they say.
    """
    try:
        child = subprocess.run(  # noqa: S603 - our own module, and nothing of the content is an argument
            [sys.executable, "-m", worker.__name__, *map(str, limits)],
            input=content,
            capture_output=True,
            timeout=seconds,
            env={"PYTHONPATH": os.pathsep.join(sys.path)},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ChildFailed from None
    if child.returncode == TOO_LARGE:
        raise ChildTooLarge
    if child.returncode:
        raise ChildFailed
    return child.stdout.decode(errors="replace")


def bound_resources() -> None:
    """Bound what this process may take. The kernel ends what takes more: no code in it has to notice."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
