"""Rows of diagnoses and of the looks taken in them, and rows as an erasure reads them, in the conversations' table."""

from __future__ import annotations

from pynamodb.attributes import NumberAttribute, TTLAttribute, UnicodeAttribute

from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import organisation
from fencepost.kernel.aws.rows import Key, Row, TimestampAttribute, inside
from fencepost.kernel.ids import quoted

DIAGNOSES = "diag#"
"""Prefix of the sort keys of diagnoses."""


class DiagnosisRow(Row):
    """A diagnosis that an admin opened: all fields of `Diagnosis`. Written by `DynamoDbDiagnoses` alone."""

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#
    sk = UnicodeAttribute(range_key=True)  # diag#<id>; ids sort by time
    opened_by = UnicodeAttribute()
    until = TimestampAttribute()
    closed_at = TimestampAttribute()  # absent until the diagnosis is closed
    looks = NumberAttribute()
    expires_at = TTLAttribute()  # `RETENTION` after it was opened


class LookRow(Row):
    """A look taken in a diagnosis: all fields of `Look`. Written by `DynamoDbDiagnoses` alone, never changed."""

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#
    sk = UnicodeAttribute(range_key=True)  # look#<diagnosis id>#<time>#<random suffix>
    expires_at = TTLAttribute()  # `RETENTION` after it was taken


class ScannedRow(Row):
    """A row of any kind, as an erasure reads it. The first segment of the sort key tells the kind."""

    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)
    job_purpose = inside("job", UnicodeAttribute(attr_name="purpose"))  # of job records alone


def diagnosis_row(scope: Scope, diagnosis_id: str) -> Key:
    """Return the key of a diagnosis."""
    return DiagnosisRow.key(organisation(scope.org), f"{DIAGNOSES}{quoted(diagnosis_id)}")


def look_row(scope: Scope, diagnosis_id: str, time: str, suffix: str) -> Key:
    """Return the key of a look.

    Args:
        scope: the organisation's.
        diagnosis_id: id of the diagnosis.
        time: as text that sorts as times do.
        suffix: distinguishes looks of the same moment.
    """
    return LookRow.key(organisation(scope.org), f"{look_prefix(diagnosis_id)}{time}#{suffix}")


def look_prefix(diagnosis_id: str) -> str:
    """Return the prefix of the sort keys of a diagnosis' looks."""
    return f"look#{quoted(diagnosis_id)}#"
