"""A site's own caps, under those of the whole deployment: a call needs a permit of both."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import override

from fencepost.kernel.concurrency import run_concurrently
from fencepost.kernel.errors import FencepostError
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.ledger import Reservation, require_payable
from fencepost.limits.ports import Ledger


@dataclass(frozen=True, slots=True)
class SharedReservation(Reservation):
    """The deployment's permit, and the site's beside it."""

    site: Reservation | None = None


@dataclass(frozen=True, slots=True)
class SiteLedger(Ledger):
    """Implements `fencepost.limits.ports.Ledger` over the deployment's bill and one site's.

    Both are asked at once. Where one refuses, what the other gave goes back. In between it counts in one and not in the
    other, so near a cap a call may be refused that would have fitted; none is ever admitted that does not fit.

    Attributes:
        deployment: bears the caps that `reserve` is given.
        site: bears `caps`.
    """

    deployment: Ledger
    site: Ledger
    caps: Caps

    @override
    def reserve(self, amount: MicroDollars, caps: Caps, now: datetime) -> Reservation:
        """Where both refuse, the deployment's reason is given."""
        require_payable(amount, self.caps)
        ours, sites = run_concurrently(
            lambda: _outcome(lambda: self.deployment.reserve(amount, caps, now)),
            lambda: _outcome(lambda: self.site.reserve(amount, self.caps, now)),
        )
        if isinstance(ours, Reservation) and isinstance(sites, Reservation):
            return SharedReservation(ours.id, ours.day, ours.amount, ours.call_number, ours.committed, sites)
        _give_back(self.deployment, ours)
        _give_back(self.site, sites)
        raise next(refusal for refusal in (ours, sites) if isinstance(refusal, FencepostError))

    @override
    def settle(self, reservation: Reservation, actual: MicroDollars) -> None:
        self._both(reservation, lambda ledger, permit: ledger.settle(permit, actual))

    @override
    def cancel(self, reservation: Reservation) -> None:
        self._both(reservation, lambda ledger, permit: ledger.cancel(permit))

    def _both(self, reservation: Reservation, end: Callable[[Ledger, Reservation], None]) -> None:
        sites = reservation.site if isinstance(reservation, SharedReservation) else None
        if sites is None:
            end(self.deployment, reservation)
        else:
            run_concurrently(lambda: end(self.deployment, reservation), lambda: end(self.site, sites))


def _outcome(reserve: Callable[[], Reservation]) -> Reservation | FencepostError:
    try:
        return reserve()
    except FencepostError as error:
        return error


def _give_back(ledger: Ledger, outcome: Reservation | FencepostError) -> None:
    if isinstance(outcome, Reservation):
        # A ledger that does not answer keeps it as committed: too much is counted, and never too little.
        with suppress(FencepostError):
            ledger.cancel(outcome)
