"""What a warm turn costs beside the provider and the stores, by the conversation's length.

Run `python -m benchmarks.turn_overhead`. The chat function runs in this process. The emulated DynamoDB looks at every
row of a partition when it is queried, which DynamoDB does not: the time spent waiting for it is told apart, and does
not count as the turn's own. Neither does what a question brings along: one that leans on the last ones is looked for
with their words, and embedding these takes the machine's own model longer; a line of its own says how much.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from benchmarks.report import Row, print_table
from benchmarks.turning import LENGTHS, MeasuredTurn, Turning, turning

REPEATS = 15
FOLLOW_UP = "And where is it?"
TALKED = 100
"""Messages before the follow-up."""


def main() -> None:
    """Print the table."""
    with turning() as local:
        turns = measured(local)
        print_table([*rows(turns), follow_up_row(local, turns[TALKED])])


def measured(local: Turning) -> dict[int, list[MeasuredTurn]]:
    """Return turns by their conversation's length, taken in turn, so that whatever else is slow is slow for all."""
    conversations = {length: local.conversation(length) for length in LENGTHS}
    for conversation in conversations.values():
        local.turn(conversation)
    turns: dict[int, list[MeasuredTurn]] = {length: [] for length in LENGTHS}
    for _ in range(REPEATS):
        for length, conversation in conversations.items():
            turns[length].append(local.turn(conversation))
    return turns


def rows(turns: dict[int, list[MeasuredTurn]]) -> Iterator[Row]:
    """Yield each length against the shortest one."""
    own = {length: statistics.median(turn.own for turn in some) for length, some in turns.items()}
    shortest = own[LENGTHS[0]]
    for length, milliseconds in own.items():
        title = f"warm turn without provider and stores, {length:,} messages"
        yield Row(title, f"{milliseconds:.1f} ms", f"{shortest:.1f} ms", f"{milliseconds / shortest:.2f}×")
    for length, some in turns.items():
        waited = statistics.median(turn.stores for turn in some)
        yield Row(f"beside it: waiting for the emulated stores, {length:,} messages", f"{waited:.1f} ms")


def follow_up_row(local: Turning, alone: list[MeasuredTurn]) -> Row:
    """Return a question that leans on the last ones against one that stands by itself."""
    conversation = local.conversation(TALKED)
    own = statistics.median(local.turn(conversation, FOLLOW_UP).own for _ in range(REPEATS))
    other = statistics.median(turn.own for turn in alone)
    return Row(
        f"a question that leans on the last ones, {TALKED} messages",
        f"{own:.1f} ms",
        f"{other:.1f} ms",
        f"{own / other:.2f}×",
    )


if __name__ == "__main__":
    main()
