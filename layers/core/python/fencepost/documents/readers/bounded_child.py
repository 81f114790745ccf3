"""Child processes that parse untrusted content, with limits on time and memory and without credentials.

A few kilobytes can decompress to gigabytes, keep a parser busy for hours, or exploit a flaw in a parser written in C.
"""

from __future__ import annotations

import os
import subprocess
import sys
from types import ModuleType
from typing import Final

TOO_LARGE: Final = 3
"""Exit status of a child whose output would be too long."""

_MEMORY_BYTES: Final = 512 * 1024 * 1024
_CPU_SECONDS: Final = 25


class ChildTooLarge(Exception):
    """The text of the content is too long."""


class ChildFailed(Exception):
    """The content cannot be parsed, or not within the limits."""


def read_in_child(worker: ModuleType, content: bytes, seconds: float, *limits: int) -> str:
    """Run a worker module in a child process and return its output.

    Args:
        worker: module that reads the content from standard input, and calls `bound_resources` first.
        content: the untrusted content.
        seconds: timeout of the child.
        limits: arguments of the worker.

    Raises:
        ChildTooLarge: the text is too long.
        ChildFailed: the content cannot be parsed within the limits.
    """
    try:
        child = subprocess.run(  # noqa: S603 - a module of this package; the content is not an argument
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
    """Limit memory, CPU time and file size of this process. The kernel enforces the limits."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
