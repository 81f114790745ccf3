"""Wiring of the model and of the ledgers that each call is charged to."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from fencepost.identity.domain.sites import Site
from fencepost.kernel.aws.session import dynamodb_client
from fencepost.kernel.clock import utc_now
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Keys
from fencepost.limits.domain.prices import PRICES, price_of
from fencepost.limits.dynamodb.ledger import DynamoDbLedger, site_account
from fencepost.limits.ports import Ledger
from fencepost.limits.service.site_caps import SiteLedger
from fencepost.model.anthropic.claude import Claude
from fencepost.model.service import Billing, PaidModel
from fencepost.observability.ports import Events
from fencepost.settings import Settings

type WrapLedger = Callable[[Ledger], Ledger]


@dataclass(frozen=True, slots=True)
class PaidModels:
    """The models of a process, by name, with the ledgers that pay for their calls.

    Attributes:
        models: returns the client of a model; one client per model.
        deployment: the ledger that every call of the deployment is charged to.
    """

    settings: Settings
    models: Callable[[str], Claude]
    deployment: Ledger
    log: Events

    def paid(self, site: Site, wrap: WrapLedger = lambda ledger: ledger) -> PaidModel:
        """Return a site's model, charged to the deployment and, where the site has caps, to the site.

        Args:
            site: supplies the model's name and the caps.
            wrap: applied to each of the two ledgers, for example to keep headroom.

        Raises:
            FencepostError: `misconfigured`; the price table has no row for the model.
        """
        if site.model not in PRICES:
            raise FencepostError(ErrorCode.MISCONFIGURED)
        ledger = wrap(self.deployment)
        if site.caps is not None:
            own = DynamoDbLedger(self.settings.ledger_table, account=site_account(site.org, site.id))
            ledger = SiteLedger(ledger, wrap(own), site.caps)
        billing = Billing(
            ledger=ledger, price=price_of(site.model), caps=self.settings.caps, events=self.log, clock=utc_now
        )
        return PaidModel(site.model, self.models(site.model), billing)


def paid_models(settings: Settings, keys: Keys, log: Events) -> PaidModels:
    """Build the models. Opens no connection and imports no SDK, unless a SnapStart snapshot is being taken."""

    @lru_cache(None)
    def model(name: str) -> Claude:
        return Claude(
            keys,
            model=name,
            base_url=settings.base_url,
            connect_seconds=settings.connect_timeout_seconds,
            total_seconds=settings.provider_timeout_seconds,
        )

    if is_snapshot():
        # A snapshot is restored many times: nothing random is drawn here, and no connection is opened.
        dynamodb_client()
        model(settings.model).preload()
    return PaidModels(settings, model, _deployment_ledger(settings), log)


def _deployment_ledger(settings: Settings) -> Ledger:
    store = DynamoDbLedger(settings.ledger_table)
    if settings.ledger_block == 1:
        return store
    from fencepost.limits.service.block_leasing import BlockLeasingLedger

    return BlockLeasingLedger(store, settings.ledger_block)


def is_snapshot() -> bool:
    """Return whether this process is initialised for a SnapStart snapshot, before any request waits for it."""
    return os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") == "snap-start"
