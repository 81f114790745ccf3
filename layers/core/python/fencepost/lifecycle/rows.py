"""Keys of diagnoses."""

from __future__ import annotations

from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import organisation
from fencepost.kernel.aws.keys import Key, key
from fencepost.kernel.ids import quoted

DIAGNOSES = "diag#"


def diagnosis_row(scope: Scope, diagnosis_id: str) -> Key:
    """Return the key of a diagnosis."""
    return key(organisation(scope.org), f"{DIAGNOSES}{quoted(diagnosis_id)}")


def look_row(scope: Scope, diagnosis_id: str, time: str, suffix: str) -> Key:
    """Return the key of a look: `time` sorts as text, and `suffix` keeps apart looks of one moment."""
    return key(organisation(scope.org), f"{look_prefix(diagnosis_id)}{time}#{suffix}")


def look_prefix(diagnosis_id: str) -> str:
    """Return what the sort keys of a diagnosis' looks begin with."""
    return f"look#{quoted(diagnosis_id)}#"
