"""How many files and functions one `POST /v1/chat` passes through, and how often it changes from one file to another.

Run `python -m benchmarks.turn_path`; `python -m benchmarks.turn_path trace` prints the calls in their order instead.
The request continues a conversation. It goes through the real edge, services and rules, over the tests' fakes of stores
and model; calls that a fake makes do not count. Python functions of `fencepost` count, once each; lambdas and
comprehensions belong to the function that holds them. Threads are counted one after another, as a reader follows them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from itertools import pairwise
from types import FrameType
from typing import NamedTuple

from benchmarks.report import Row, print_table
from local.paths import ROOT
from tests.worlds.talk import Talk

_CORE = f"{ROOT / 'layers' / 'core' / 'python' / 'fencepost'}/"
_FAKES = f"{ROOT / 'tests' / 'fakes'}/"
_BEFORE = {"files": 51, "functions": 209, "file switches": 194}
"""Counted by this script at a6da0bc, before packages were cut by capability."""
_OK = 200


class Call(NamedTuple):
    """The call of a function."""

    file: str
    function: str


def main(arguments: list[str]) -> None:
    """Print the table, or the calls."""
    calls = calls_of_a_turn()
    if arguments == ["trace"]:
        print("\n".join(f"{call.file}  {call.function}" for call in calls))
    else:
        print_table(rows(calls))


def calls_of_a_turn() -> list[Call]:
    """Return the calls between the second request of a conversation and its answer."""
    talk = Talk()
    visitor = talk.api.visitor()
    begun = talk.chat(who=visitor).json["conversationId"]
    threads: dict[int, list[Call]] = {threading.get_ident(): []}

    def note(frame: FrameType, event: str, _argument: object) -> None:
        code, caller = frame.f_code, frame.f_back
        if caller and caller.f_code.co_filename.startswith(_FAKES):
            return  # Belongs to the fake.
        if event == "call" and code.co_filename.startswith(_CORE) and not code.co_name.startswith("<"):
            call = Call(code.co_filename.removeprefix(_CORE), code.co_qualname)
            threads.setdefault(threading.get_ident(), []).append(call)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        reply = talk.chat(who=visitor, conversationId=begun)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    if reply.status != _OK:
        raise RuntimeError(f"the turn failed: {reply.status}")
    return [call for calls in threads.values() for call in calls]


def rows(calls: list[Call]) -> Iterator[Row]:
    """Yield the counts against those before."""
    counts = {
        "files": len({call.file for call in calls}),
        "functions": len(set(calls)),
        "file switches": sum(one.file != other.file for one, other in pairwise(calls)),
    }
    for name, count in counts.items():
        before = _BEFORE[name]
        yield Row(f"{name} between request and answer", str(count), str(before), f"{count / before:.2f}×")


if __name__ == "__main__":
    main(sys.argv[1:])
