"""Caps of a site, below those of the whole deployment: a call needs a permit of both ledgers."""

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
    """The deployment's reservation, with the site's."""

    site: Reservation | None = None


@dataclass(frozen=True, slots=True)
class SiteLedger(Ledger):
    """A ledger over the deployment's ledger and one site's.

    Permits of both are taken concurrently. If one refuses, the permit of the other is returned. Until then it counts,
    so near a cap a call may be refused that would have fitted; calls that do not fit are never admitted.

    Attributes:
        deployment: the deployment's ledger, with the caps that `reserve` is given.
        site: the site's ledger, with `caps`.
        caps: the site's caps.
    """

    deployment: Ledger
    site: Ledger
    caps: Caps

    @override
    def reserve(self, amount: MicroDollars, caps: Caps, now: datetime) -> Reservation:
        """Take a permit of both ledgers. If both refuse, the deployment's error is raised."""
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
        # If the ledger does not answer, the permit stays committed: too much is counted, never too little.
        with suppress(FencepostError):
            ledger.cancel(outcome)
