"""What an admin's diagnosis needs: a record that cannot be passed by, and a masker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from fencepost.domain.diagnosis import Diagnosis, Look
from fencepost.domain.identity import Scope


class DiagnosisStore(Protocol):
    """Records of diagnoses. Every method asks for a scope of the action `diagnose`.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def open(self, scope: Scope, diagnosis: Diagnosis) -> None:
        """Store a new record."""
        ...

    def get(self, scope: Scope, diagnosis_id: str) -> Diagnosis | None:
        """Return a record of the scope's organisation."""
        ...

    def newest(self, scope: Scope, limit: int) -> tuple[Diagnosis, ...]:
        """Return the organisation's records, the newest first."""
        ...

    def look(self, scope: Scope, look: Look) -> bool:
        """Record a look, on condition that the diagnosis is open to the scope's actor at that moment.

        Returns:
            False where it is not: nothing was recorded, and nothing may be shown.
        """
        ...

    def looks(self, scope: Scope, diagnosis_id: str, limit: int) -> tuple[Look, ...]:
        """Return the recorded looks, the newest first."""
        ...

    def close(self, scope: Scope, diagnosis: Diagnosis) -> None:
        """Store when a diagnosis was ended. One that was ended before keeps its time."""
        ...


class Masker(Protocol):
    """Hides personal data."""

    def mask(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Return the texts with what points to a person made unreadable."""
        ...
