"""Time of a warm turn without the provider and the stores, by the conversation's length.

Run `python -m benchmarks.turn_overhead`. The chat function runs in this process. A query of the emulated DynamoDB reads
every row of a partition, unlike DynamoDB: the time spent waiting for it is reported separately and is not part of the
turn's own time. All lengths use the same complete question. A follow-up is searched together with the words of earlier
questions, which the local embedder takes longer to embed; a separate row shows this.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from benchmarks.report import Row, print_table
from benchmarks.turning import LENGTHS, QUESTION, MeasuredTurn, Turning, turning

REPEATS = 15
FOLLOW_UP = "And where is it?"
TALKED = 100
"""Messages before the follow-up."""


def main() -> None:
    """Print the table."""
    with turning() as local:
        print_table(rows(measured(local)))


def measured(local: Turning) -> dict[str, list[MeasuredTurn]]:
    """Return the turns of each kind, measured alternately, so that other load on the machine affects all kinds."""
    conversations = {length: local.conversation(length) for length in LENGTHS}
    asked = {f"{length:,} messages": (conversation, QUESTION) for length, conversation in conversations.items()}
    asked[f"{TALKED} messages, a follow-up question"] = (conversations[TALKED], FOLLOW_UP)
    for conversation, question in asked.values():
        local.turn(conversation, question)
    turns: dict[str, list[MeasuredTurn]] = {title: [] for title in asked}
    for _ in range(REPEATS):
        for title, (conversation, question) in asked.items():
            turns[title].append(local.turn(conversation, question))
    return turns


def rows(turns: dict[str, list[MeasuredTurn]]) -> Iterator[Row]:
    """Yield each kind of turn against the first kind."""
    own = {title: statistics.median(turn.own for turn in some) for title, some in turns.items()}
    first = next(iter(own.values()))
    for title, milliseconds in own.items():
        figure = f"warm turn without provider and stores, {title}"
        yield Row(figure, f"{milliseconds:.1f} ms", f"{first:.1f} ms", f"{milliseconds / first:.2f}×")
    for title, some in turns.items():
        waited = statistics.median(turn.stores for turn in some)
        yield Row(f"beside it: waiting for the emulated stores, {title}", f"{waited:.1f} ms")


if __name__ == "__main__":
    main()
