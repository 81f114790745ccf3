"""Keys of facts, summaries and message chunks."""

from __future__ import annotations

from fencepost.identity.domain.facts import FactState
from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import conversation, owner
from fencepost.kernel.aws.keys import Key, key
from fencepost.kernel.ids import quoted

SUMMARY = "summary"
FACTS = "work#facts"
PARTS = "vec#"


def fact_row(scope: Scope, state: FactState, fact_id: str) -> Key:
    """Return the key of a fact."""
    return key(owner(scope), f"fact#{state}#{quoted(fact_id)}")


def summary_row(scope: Scope, conversation_id: str) -> Key:
    """Return the key of a conversation's rolling summary."""
    return key(conversation(scope, conversation_id), SUMMARY)


def facts_row(scope: Scope) -> Key:
    """Return the key of the count of an owner's changes of facts."""
    return key(owner(scope), FACTS)


def part_row(scope: Scope, conversation_id: str, seq: int, number: int) -> Key:
    """Return the key of a message's part in the index."""
    return key(conversation(scope, conversation_id), f"{part_sort(seq)}{number:06d}")


def part_sort(seq: int) -> str:
    """Return what the sort keys of a message's parts begin with."""
    return f"{PARTS}{seq:012d}#"
