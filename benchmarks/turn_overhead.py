"""What a warm turn costs beside the provider and the stores, by the conversation's length.

Run `python -m benchmarks.turn_overhead`. The chat function runs in this process. The emulated DynamoDB looks at every
row of a partition when it is queried, which DynamoDB does not: the time spent waiting for it is told apart, and does
not count as the turn's own. Neither does length what a question brings along: one that leans on the last ones is looked
for with their words, and embedding these takes the machine's own model longer. A line of its own says how much.
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
    """Return turns by what they are, taken in turn, so that whatever else is slow is slow for all."""
    conversations = {length: local.conversation(length) for length in LENGTHS}
    asked = {f"{length:,} messages": (conversation, QUESTION) for length, conversation in conversations.items()}
    asked[f"{TALKED} messages, a question that leans on the last ones"] = (conversations[TALKED], FOLLOW_UP)
    for conversation, question in asked.values():
        local.turn(conversation, question)
    turns: dict[str, list[MeasuredTurn]] = {title: [] for title in asked}
    for _ in range(REPEATS):
        for title, (conversation, question) in asked.items():
            turns[title].append(local.turn(conversation, question))
    return turns


def rows(turns: dict[str, list[MeasuredTurn]]) -> Iterator[Row]:
    """Yield each kind of turn against the first one."""
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
