"""Store of facts, summaries and titles in DynamoDB.

Each change of facts also increments the counter in `work#facts`, on condition that it still is what it was before the
facts were read: a change decided from facts is stored only while they are unchanged. The same transaction checks that
nothing was erased after the writing job was made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, override

from fencepost.conversations.rows.messages import erased_row
from fencepost.conversations.rows.models import ConversationRow, ErasedRow
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import Fact, FactState
from fencepost.kernel.aws.rows import from_item, to_item
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Refused, Table
from fencepost.kernel.aws.transactions import Write
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.memory.domain.facts import MAX_WRITTEN
from fencepost.memory.domain.summaries import Summary
from fencepost.memory.ports import MemoryStore
from fencepost.memory.rows import FactRow, SummaryRow, count_change, fact_prefix, fact_row, read_changes, summary_row
from fencepost.queue.domain import Job

_ATTEMPTS: Final = 8
"""How often a change is planned again because another writer changed the facts in between."""
_CURRENT: Final = (FactState.PINNED, FactState.PROPOSED)


class DynamoDbMemoryStore(MemoryStore):
    """Stores facts, summaries and titles.

    Args:
        table: name of the conversations' table.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client) -> None:
        self._table = Table(table, client)

    @override
    def facts(self, scope: Scope, *states: FactState) -> tuple[Fact, ...]:
        partition = FactRow.pk == keys.owner(scope)
        prefixes = (FactRow.sk.startswith(fact_prefix(state)) for state in states)
        items = (item for prefix in prefixes for item in self._table.query(partition & prefix))
        return tuple(sorted((from_item(Fact, item) for item in items), key=lambda fact: (fact.created_at, fact.id)))

    @override
    def write_facts(self, scope: Scope, facts: Sequence[Fact], *, made_at: datetime | None = None) -> bool:
        checks = {} if made_at is None else {"owner": self._not_erased_since(scope, made_at)}
        return self._commit(scope, checks, lambda: self._changes(scope, lambda _: facts, tuple(FactState))) is not None

    @override
    def change_facts(
        self, scope: Scope, change: Callable[[Sequence[Fact]], Sequence[Fact]], *, job: Job | None = None
    ) -> bool:
        checks = {} if job is None else self._nothing_erased_since(scope, job)
        return self._commit(scope, checks, lambda: self._changes(scope, change, _CURRENT)) is not None

    @override
    def delete_fact(self, scope: Scope, fact_id: str) -> bool:
        rows = [fact_row(scope, state, fact_id) for state in FactState]

        def deletions() -> dict[str, Write]:
            return {row["sk"]["S"]: self._table.delete_write(row) for row in rows if self._table.get(row)}

        return bool(self._commit(scope, {}, deletions))

    @override
    def summary(self, scope: Scope, conversation_id: str) -> Summary | None:
        item = self._table.get(summary_row(scope, conversation_id))
        return from_item(Summary, item) if item else None

    @override
    def write_summary(self, scope: Scope, conversation_id: str, incarnation: str, summary: Summary) -> bool:
        """Store the summary unless the stored one covers more: then this one comes from a late worker."""
        reached = self._table.update_write(
            keys.conversation_row(scope, conversation_id),
            ConversationRow.summarised_through.set(summary.last_seq),
            condition=(ConversationRow.incarnation == incarnation)
            & (ConversationRow.summarised_through <= summary.last_seq),
        )
        stored = self._table.put_write(to_item(summary) | summary_row(scope, conversation_id))
        return self._table.transact_with_retry({"conversation": reached, "summary": stored}) is None

    @override
    def drop_summary(self, scope: Scope, conversation_id: str, remaining: Summary | None = None) -> None:
        reached = self._table.update_write(
            keys.conversation_row(scope, conversation_id),
            ConversationRow.summarised_through.set(remaining.last_seq if remaining else 0),
            # Without this condition, the update would bring back the row of an erased conversation.
            condition=ConversationRow.pk.exists(),
        )
        key = summary_row(scope, conversation_id)
        if remaining is None:
            summary = self._table.delete_write(key)
        else:
            summary = self._table.put_write(to_item(remaining) | key, condition=SummaryRow.id == remaining.id)
        self._table.transact_with_retry({"conversation": reached, "summary": summary})

    @override
    def name_conversation(self, scope: Scope, conversation_id: str, incarnation: str, title: str) -> bool:
        answer = self._table.update(
            keys.conversation_row(scope, conversation_id),
            ConversationRow.title.set(title),
            condition=(ConversationRow.incarnation == incarnation) & (ConversationRow.title == ""),
        )
        return not isinstance(answer, Refused)

    def _commit(self, scope: Scope, checks: dict[str, Write], plan: Callable[[], dict[str, Write]]) -> int | None:
        """Plan writes and make them while no other writer changes the owner's facts.

        Returns:
            The number of planned writes; None where a check failed.
        """
        for _ in range(_ATTEMPTS):
            before = read_changes(self._table, scope)
            writes = plan()
            if not writes:
                return 0
            counted = count_change(self._table, scope, before)
            cancelled = self._table.transact_with_retry({**checks, "changes": counted, **writes})
            if cancelled is None:
                return len(writes)
            if cancelled.met.keys() & checks.keys():
                return None
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)

    def _changes(
        self, scope: Scope, change: Callable[[Sequence[Fact]], Sequence[Fact]], states: tuple[FactState, ...]
    ) -> dict[str, Write]:
        """Return the writes that store changed facts, and remove those whose state changes from their former keys."""
        before = self.facts(scope, *states)
        former = {fact.id: fact.state for fact in before}
        writes = dict[str, Write]()
        for fact in change(before):
            writes[f"put {fact.id}"] = self._table.put_write(to_item(fact) | fact_row(scope, fact.state, fact.id))
            if former.get(fact.id, fact.state) is not fact.state:
                writes[f"move {fact.id}"] = self._table.delete_write(fact_row(scope, former[fact.id], fact.id))
        if len(writes) > MAX_WRITTEN:
            raise ValueError("more facts than one transaction takes")
        return writes

    def _nothing_erased_since(self, scope: Scope, job: Job) -> dict[str, Write]:
        """Return the checks that neither the owner nor the job's conversation was erased after the job was made."""
        checks = {"owner": self._not_erased_since(scope, job.created_at)}
        if job.conversation:
            same = ConversationRow.incarnation == job.incarnation
            checks["conversation"] = self._table.check_write(keys.conversation_row(scope, job.conversation), same)
        return checks

    def _not_erased_since(self, scope: Scope, made_at: datetime) -> Write:
        return self._table.check_write(
            erased_row(scope), ErasedRow.pk.does_not_exist() | (ErasedRow.erased_at < made_at)
        )
