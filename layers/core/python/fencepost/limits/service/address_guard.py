"""The guard that applies address limits before any costly work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fencepost.kernel.clock import Window
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock
from fencepost.limits.domain.requests import RateLimits
from fencepost.limits.ports import AddressLimiter
from fencepost.observability.domain.events import AddressGuardEvent
from fencepost.observability.ports import Events

_WINDOWS: Mapping[ErrorCode, Window] = MappingProxyType(
    {ErrorCode.RATE_LIMITED_MINUTE: Window.MINUTE, ErrorCode.RATE_LIMITED_DAY: Window.DAY}
)


@dataclass(frozen=True, slots=True)
class AddressGuard:
    """Refuses requests of addresses that exceed their limits, and reports refusals as events."""

    limiter: AddressLimiter
    limits: RateLimits
    events: Events
    clock: Clock

    def admit(self, find_address: Callable[[], str]) -> None:
        """Count a request, or refuse it.

        Args:
            find_address: returns the client's canonical address. If it raises, the request is refused.

        Raises:
            FencepostError: from the limiter or `find_address`; an event is emitted.
        """
        try:
            self.limiter.admit(find_address(), self.limits, self.clock())
        except FencepostError as error:
            window = _WINDOWS.get(error.code)
            self.events.emit(AddressGuardEvent(decision="denied" if window else "failed_closed", window=window))
            raise
