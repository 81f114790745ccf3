"""A process of its own that makes turns on given tables: `python -m tests.integration.turn_process <job as JSON>`.

It may be told to kill itself at a call of a port, by the signal that nothing catches.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from fencepost.turns.domain.turns import TurnAnswer
from tests.fakes.answers import FixedClock
from tests.integration.conversation_tables import ConversationTables
from tests.integration.tables import Books, connect
from tests.integration.turn_stores import StoredTurns, reach
from tests.worlds.turn import Process


class RealClock(FixedClock):
    """The true time, which goes by while one waits."""

    def __call__(self) -> datetime:
        return datetime.now(UTC)

    def advance(self, seconds: float) -> None:
        time.sleep(seconds)


@dataclass(frozen=True)
class ProcessJob:
    """What a process is to do: so many turns, one after another.

    Attributes:
        name: begins the ids of its messages.
        dies: the call, and whether the process dies before or after it.
        thinks: seconds between its turns, in which another process may have its own.
        waits: say `ready` first, and begin with the next line that comes.
    """

    endpoint: str
    directory: str
    conversations: str
    ledger: str
    name: str
    turns: int = 1
    conversation: str | None = None
    dies: tuple[str, Literal["before", "after"]] | None = None
    thinks: float = 0
    waits: bool = False


def job_of(stored: StoredTurns, endpoint: str, name: str, **more: Any) -> ProcessJob:
    """Return a job on the tables of a world."""
    tables = stored.tables
    return ProcessJob(endpoint, tables.directory, tables.conversations, stored.books.table, name, **more)


def start(job: ProcessJob) -> subprocess.Popen[str]:
    """Start the process."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.integration.turn_process", json.dumps(asdict(job))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=Path(__file__).parents[2],
    )


def begin_together(processes: Collection[subprocess.Popen[str]]) -> None:
    """Let processes that wait begin once all of them are ready."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()


class Suicidal(Process):
    """Dies for good."""

    def call(self, name: str, method: Any) -> Any:
        """Make one call, unless this is where the process ends."""
        if self.kill_at == (name, "before"):
            os.kill(os.getpid(), signal.SIGKILL)
        result = method()
        if self.kill_at == (name, "after"):
            os.kill(os.getpid(), signal.SIGKILL)
        return result


def main(job: ProcessJob) -> None:
    """Make the turns, and write the answers' ids."""
    client = connect(job.endpoint)
    tables = ConversationTables(client, job.directory, job.conversations)
    world = reach(tables, Books(client, job.ledger)).world
    world.clock = RealClock()
    if job.waits:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
    for number in range(job.turns):
        answer: TurnAnswer = world.say_until_answered(
            f"Question {number} of {job.name}",
            f"{job.name}-{number}",
            job.conversation,
            process=Suicidal(kill_at=job.dies and (job.dies[0], job.dies[1])),
        )
        sys.stdout.write(f"{answer.answer.id}\n")
        time.sleep(job.thinks)


if __name__ == "__main__":
    main(ProcessJob(**json.loads(sys.argv[1])))
