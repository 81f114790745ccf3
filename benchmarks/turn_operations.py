"""Store operations of a turn by the conversation's length, and turns per second of sixteen clients.

Run `python -m benchmarks.turn_operations`. Operations and capacity units follow DynamoDB's published rules. Items are
those read, checked and written: at most as many as the window contains, however long the conversation is. The clients
are threads of one process and share one emulated cloud: their turns per second are meaningful only against one client.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.report import Row, print_table
from benchmarks.turning import LENGTHS, Turning, turning

REPEATS = 3
CLIENTS = 16
TURNS_OF_EACH = 6


def main() -> None:
    """Print the table."""
    with turning() as local:
        print_table([*operation_rows(local), throughput_row(local)])


def operation_rows(local: Turning) -> Iterator[Row]:
    """Yield operations, items and capacity of a turn for each length, against the shortest."""
    shortest = 0.0
    for length in LENGTHS:
        conversation = local.conversation(length)
        local.turn(conversation)
        turns = [local.turn(conversation) for _ in range(REPEATS)]
        # Every few seconds, one more operation renews the cached copy of the site.
        operations = min(turn.operations for turn in turns)
        units = min(turn.units for turn in turns)
        shortest = shortest or units
        yield Row(
            f"store operations of a turn, {length:,} messages",
            f"{operations}, {units:g} units",
            f"{shortest:g} units",
            f"{units / shortest:.2f}×",
        )
        yield Row(f"items of it, {length:,} messages", f"{min(turn.items for turn in turns)}")


def throughput_row(local: Turning) -> Row:
    """Time many clients, each in a separate conversation, against one client."""
    alone, together = local.per_second(1, TURNS_OF_EACH), local.per_second(CLIENTS, TURNS_OF_EACH)
    title = f"turns per second at {CLIENTS} clients, against one"
    return Row(title, f"{together:.1f}", f"{alone:.1f}", f"{together / alone:.2f}×")


if __name__ == "__main__":
    main()
