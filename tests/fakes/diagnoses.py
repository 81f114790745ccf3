"""Records of diagnoses in plain memory, with the same rules as the adapter."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from fencepost.identity.domain.scope import Scope
from fencepost.lifecycle.domain.diagnosis import Diagnosis, Look
from tests.fakes.memory import Faults


@dataclass
class FakeDiagnoses:
    """Implements `DiagnosisStore`."""

    records: dict[tuple[str, str], Diagnosis] = field(default_factory=dict)
    taken: dict[tuple[str, str], list[Look]] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)

    def open(self, scope: Scope, diagnosis: Diagnosis) -> None:
        with self.faults.call():
            self.records[scope.org, diagnosis.id] = diagnosis

    def get(self, scope: Scope, diagnosis_id: str) -> Diagnosis | None:
        with self.faults.call():
            return self.records.get((scope.org, diagnosis_id))

    def newest(self, scope: Scope, limit: int) -> tuple[Diagnosis, ...]:
        with self.faults.call():
            own = [record for (org, _), record in self.records.items() if org == scope.org]
            return tuple(sorted(own, key=lambda record: record.id, reverse=True)[:limit])

    def look(self, scope: Scope, look: Look) -> bool:
        with self.faults.call():
            place = scope.org, look.diagnosis_id
            record = self.records.get(place)
            if record is None or record.closed_at or record.opened_by != scope.actor or look.at >= record.until:
                return False
            self.records[place] = replace(record, looks=record.looks + 1)
            self.taken.setdefault(place, []).append(look)
            return True

    def looks(self, scope: Scope, diagnosis_id: str, limit: int) -> tuple[Look, ...]:
        with self.faults.call():
            # The later of two looks of one moment comes first.
            newest_first = reversed(self.taken.get((scope.org, diagnosis_id), []))
            return tuple(sorted(newest_first, key=lambda look: look.at, reverse=True)[:limit])

    def close(self, scope: Scope, diagnosis: Diagnosis) -> None:
        with self.faults.call():
            record = self.records.get((scope.org, diagnosis.id))
            if record is not None and record.closed_at is None:
                self.records[scope.org, diagnosis.id] = replace(record, closed_at=diagnosis.closed_at)
