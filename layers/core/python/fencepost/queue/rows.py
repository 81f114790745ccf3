"""Keys of job records and work leases."""

from __future__ import annotations

from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import conversation, owner
from fencepost.kernel.aws.keys import Key, key
from fencepost.kernel.ids import quoted
from fencepost.queue.domain import Purpose


def job_row(scope: Scope, job_id: str) -> Key:
    """Return the key of a job's record."""
    return key(owner(scope), f"job#{quoted(job_id)}")


def work_row(scope: Scope, conversation_id: str, purpose: Purpose) -> Key:
    """Return the key of the lease of one purpose's jobs on a conversation."""
    return key(conversation(scope, conversation_id), f"work#{purpose}")
