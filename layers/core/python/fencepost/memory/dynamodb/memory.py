"""Facts, summaries and titles.

Each change of facts also counts one up in `work#facts`, on condition that nobody else has since they were read: what
was decided from facts is stored only while they are what they were. The same transaction checks that nothing was
erased after the job was made that writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final, override

from fencepost.conversations.rows import messages as conversations_keys
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import Fact, FactState
from fencepost.kernel.aws import keys as aws_keys
from fencepost.kernel.aws.legacy.client import OneTable, Refused, update
from fencepost.kernel.aws.legacy.reading import get_row, query_pages
from fencepost.kernel.aws.legacy.rows import attribute, from_item, timestamp, to_item
from fencepost.kernel.aws.legacy.transactions import transact_with_retry
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.memory import rows as memory_keys
from fencepost.memory.domain.facts import MAX_WRITTEN
from fencepost.memory.domain.summaries import Summary
from fencepost.memory.ports import MemoryStore
from fencepost.memory.rows import changes, one_more
from fencepost.queue.domain import Job

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import QueryInputTypeDef, TransactWriteItemTypeDef

type Actions = dict[str, TransactWriteItemTypeDef]

_TRIES: Final = 8
"""How often a change is worked out anew because other writers came in between."""
_CURRENT: Final = (FactState.PINNED, FactState.PROPOSED)


class DynamoDbMemoryStore(OneTable, MemoryStore):
    """Implements `fencepost.memory.ports.MemoryStore` in the conversations' table."""

    @override
    def facts(self, scope: Scope, *states: FactState) -> tuple[Fact, ...]:
        found = [fact for state in states for fact in self._in_state(scope, state)]
        return tuple(sorted(found, key=lambda fact: (fact.created_at, fact.id)))

    @override
    def write_facts(self, scope: Scope, facts: Sequence[Fact], *, made_at: datetime | None = None) -> bool:
        checks = {} if made_at is None else {"owner": self._not_erased(scope, made_at)}
        plan = partial(self._changes, scope, lambda _: facts, tuple(FactState))
        return self._commit(scope, checks, plan) is not None

    @override
    def change_facts(
        self, scope: Scope, change: Callable[[Sequence[Fact]], Sequence[Fact]], *, job: Job | None = None
    ) -> bool:
        checks = {} if job is None else self._still_wanted(scope, job)
        return self._commit(scope, checks, partial(self._changes, scope, change, _CURRENT)) is not None

    @override
    def delete_fact(self, scope: Scope, fact_id: str) -> bool:
        return bool(self._commit(scope, {}, lambda: self._deletions(scope, fact_id)))

    @override
    def summary(self, scope: Scope, conversation_id: str) -> Summary | None:
        item = get_row(self._client(), self._table, memory_keys.summary_row(scope, conversation_id))
        return from_item(Summary, item) if item else None

    @override
    def write_summary(self, scope: Scope, conversation_id: str, incarnation: str, summary: Summary) -> bool:
        """One that reaches less far than what is stored comes from a late worker."""
        row: TransactWriteItemTypeDef = {
            "Update": {
                "TableName": self._table,
                "Key": keys.conversation_row(scope, conversation_id),
                "UpdateExpression": "SET summarised_through = :last",
                "ConditionExpression": "incarnation = :incarnation AND summarised_through <= :last",
                "ExpressionAttributeValues": {
                    ":incarnation": attribute(incarnation),
                    ":last": attribute(summary.last_seq),
                },
            }
        }
        item = to_item(summary) | memory_keys.summary_row(scope, conversation_id)
        actions: Actions = {"conversation": row, "summary": {"Put": {"TableName": self._table, "Item": item}}}
        return transact_with_retry(self._client(), actions) is None

    @override
    def drop_summary(self, scope: Scope, conversation_id: str, remaining: Summary | None = None) -> None:
        row: TransactWriteItemTypeDef = {
            "Update": {
                "TableName": self._table,
                "Key": keys.conversation_row(scope, conversation_id),
                "UpdateExpression": "SET summarised_through = :none",
                # An erased conversation's row must not come back by this.
                "ConditionExpression": "attribute_exists(pk)",
                "ExpressionAttributeValues": {":none": attribute(remaining.last_seq if remaining else 0)},
            }
        }
        key = memory_keys.summary_row(scope, conversation_id)
        summary = self._reduce(key, remaining) if remaining else self._delete(key)
        transact_with_retry(self._client(), {"conversation": row, "summary": summary})

    @override
    def name_conversation(self, scope: Scope, conversation_id: str, incarnation: str, title: str) -> bool:
        answer = update(
            self._client(),
            {
                "TableName": self._table,
                "Key": keys.conversation_row(scope, conversation_id),
                "UpdateExpression": "SET title = :title",
                "ConditionExpression": "incarnation = :incarnation AND title = :none",
                "ExpressionAttributeValues": {
                    ":title": attribute(title),
                    ":incarnation": attribute(incarnation),
                    ":none": attribute(""),
                },
            },
            ErrorCode.CONVERSATIONS_UNAVAILABLE,
        )
        return not isinstance(answer, Refused)

    def _commit(self, scope: Scope, checks: Actions, plan: Callable[[], Actions]) -> int | None:
        """Write what is planned while nobody else writes; return how much it was, or None where a check failed."""
        for _ in range(_TRIES):
            before = changes(self._client(), self._table, scope)
            writes = plan()
            if not writes:
                return 0
            cancelled = transact_with_retry(
                self._client(), {**checks, "changes": one_more(self._table, scope, before), **writes}
            )
            if cancelled is None:
                return len(writes)
            if cancelled.met.keys() & checks.keys():
                return None
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)

    def _changes(
        self, scope: Scope, change: Callable[[Sequence[Fact]], Sequence[Fact]], states: tuple[FactState, ...]
    ) -> Actions:
        before = self.facts(scope, *states)
        at = {fact.id: fact.state for fact in before}
        actions: Actions = {}
        for fact in change(before):
            item = to_item(fact) | memory_keys.fact_row(scope, fact.state, fact.id)
            actions[f"put {fact.id}"] = {"Put": {"TableName": self._table, "Item": item}}
            if at.get(fact.id, fact.state) is not fact.state:
                actions[f"move {fact.id}"] = self._delete(memory_keys.fact_row(scope, at[fact.id], fact.id))
        if len(actions) > MAX_WRITTEN:
            raise ValueError("more facts than one transaction takes")
        return actions

    def _deletions(self, scope: Scope, fact_id: str) -> Actions:
        rows = (memory_keys.fact_row(scope, state, fact_id) for state in FactState)
        there = (row for row in rows if get_row(self._client(), self._table, row))
        return {f"delete {number}": self._delete(row) for number, row in enumerate(there)}

    def _in_state(self, scope: Scope, state: FactState) -> list[Fact]:
        request: QueryInputTypeDef = {
            "TableName": self._table,
            "KeyConditionExpression": "pk = :pk AND begins_with(sk, :prefix)",
            "ExpressionAttributeValues": {
                ":pk": attribute(keys.owner(scope)),
                ":prefix": attribute(f"fact#{state}#"),
            },
        }
        pages = query_pages(self._client(), request)
        return [from_item(Fact, item) for page in pages for item in page["Items"]]

    def _still_wanted(self, scope: Scope, job: Job) -> Actions:
        checks = {"owner": self._not_erased(scope, job.created_at)}
        if not job.conversation:
            return checks
        return checks | {
            "conversation": {
                "ConditionCheck": {
                    "TableName": self._table,
                    "Key": keys.conversation_row(scope, job.conversation),
                    "ConditionExpression": "incarnation = :incarnation",
                    "ExpressionAttributeValues": {":incarnation": attribute(job.incarnation)},
                }
            }
        }

    def _not_erased(self, scope: Scope, made_at: datetime) -> TransactWriteItemTypeDef:
        return {
            "ConditionCheck": {
                "TableName": self._table,
                "Key": conversations_keys.erased_row(scope),
                "ConditionExpression": "attribute_not_exists(pk) OR erased_at < :made_at",
                "ExpressionAttributeValues": {":made_at": attribute(timestamp(made_at))},
            }
        }

    def _reduce(self, key: aws_keys.Key, remaining: Summary) -> TransactWriteItemTypeDef:
        return {
            "Put": {
                "TableName": self._table,
                "Item": to_item(remaining) | key,
                "ConditionExpression": "id = :id",
                "ExpressionAttributeValues": {":id": attribute(remaining.id)},
            }
        }

    def _delete(self, key: aws_keys.Key) -> TransactWriteItemTypeDef:
        return {"Delete": {"TableName": self._table, "Key": key}}
