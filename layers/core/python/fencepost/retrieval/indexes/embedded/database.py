"""The file of the embedded index, shared by the threads of several processes."""

from __future__ import annotations

import sqlite3
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, Literal

from fencepost.retrieval.domain.search import IndexUnavailable
from fencepost.retrieval.indexes.embedded import schema

_PAUSE_SECONDS: Final = 0.02
_PASSING: Final = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_IOERR", "SQLITE_FULL", "SQLITE_CANTOPEN")
"""Beginnings of the names of errors that a retry may survive."""

type Begin = Literal["BEGIN", "BEGIN IMMEDIATE"]


class Database:
    """Transactions on one file. Safe to share between threads; a forked process needs its own instance.

    Args:
        path: the file; it is created if absent.
        wait_seconds: how long a writer waits for another writer. Readers do not wait.
    """

    def __init__(self, path: Path, wait_seconds: float) -> None:
        self._path = path
        self._wait_seconds = wait_seconds
        self._idle: deque[sqlite3.Connection] = deque()

    @contextmanager
    def transaction(self, begin: Begin) -> Iterator[sqlite3.Connection]:
        """Return a context with a connection in a transaction, which is rolled back if the body raises.

        Raises:
            IndexUnavailable: the file cannot be used, or another process locked it for too long.
        """
        try:
            connection = self._idle.pop() if self._idle else self._open()
            with _transaction(connection, begin):
                yield connection
        except (sqlite3.Error, OSError) as error:
            raise _unavailable(error) from None
        self._idle.append(connection)

    def close(self) -> None:
        """Close the connections that are not in use."""
        while self._idle:
            self._idle.pop().close()

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # The check is not needed: a connection is used by one thread at a time.
        connection = sqlite3.connect(
            self._path, timeout=self._wait_seconds, isolation_level=None, check_same_thread=False
        )
        with ExitStack() as undo:
            undo.callback(connection.close)
            self._prepare(connection)
            undo.pop_all()
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA page_size = {schema.PAGE_BYTES}")
        self._write_ahead(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        # Erased content is overwritten on disk.
        connection.execute("PRAGMA secure_delete = ON")
        if _version(connection) != schema.VERSION:
            with _transaction(connection, "BEGIN IMMEDIATE"):
                _create(connection)

    def _write_ahead(self, connection: sqlite3.Connection) -> None:
        """Enable write-ahead logging, so that readers and a writer do not block each other.

        SQLite's busy timeout does not cover this switch, so it is retried here.
        """
        deadline = time.monotonic() + self._wait_seconds
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                    raise
                time.sleep(_PAUSE_SECONDS)
            else:
                return


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: Begin) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _create(connection: sqlite3.Connection) -> None:
    """Create the tables, unless another process has done so."""
    version = _version(connection)
    if version == schema.VERSION:
        return
    if version:
        raise IndexUnavailable("the file is of another version of the index: remove it, and ingest", retriable=False)
    for statement in schema.TABLES:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {schema.VERSION}")


def _unavailable(error: sqlite3.Error | OSError) -> IndexUnavailable:
    # The message may hold the file name; the error's name suffices.
    name: str = getattr(error, "sqlite_errorname", type(error).__name__)
    return IndexUnavailable(name, retriable=name.startswith(_PASSING))
