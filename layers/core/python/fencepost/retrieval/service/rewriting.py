"""Put a follow-up into words of its own, by one small call of the model that is paid like every other.

It is an option, and a help to the search: whatever fails, the follow-up is looked for by its words as without it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fencepost.identity.domain.sites import Site
from fencepost.kernel.errors import FencepostError
from fencepost.model.domain import LATEST_START_SECONDS
from fencepost.model.service import PaidModel
from fencepost.observability.service import Trace
from fencepost.prompting.domain.fence import NONCE_CHARACTERS
from fencepost.prompting.domain.history import Exchange
from fencepost.retrieval.domain.followups import followup_prompt, rewritten

DEADLINE_SECONDS = 2.0
"""Of the provider's call."""


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Rewrites follow-ups.

    Attributes:
        paid: the model of a site, on a bill that leaves room for the answer (`fencepost.limits.service.headroom`).
        nonce: returns a fresh one for each call.
    """

    paid: Callable[[Site], PaidModel]
    nonce: Callable[[], str] = lambda: secrets.token_hex(NONCE_CHARACTERS // 2)

    def text(self, site: Site, question: str, said: Sequence[Exchange], trace: Trace) -> str:
        """Return the question in words of its own; empty where it cannot be had.

        What the call costs is added to the request's record. A turn that has waited long is not made to wait longer.

        Args:
            question: one that leans on what was said.
            said: the conversation's last exchanges, oldest first.
            trace: of the request.
        """
        if trace.seconds() > LATEST_START_SECONDS:
            return ""
        call = Trace()
        with trace.stage("rewrite"):
            try:
                return self._rewritten(site, question, said, call)
            except FencepostError:
                return ""
            finally:
                trace.bill(call.usage, call.cost)

    def _rewritten(self, site: Site, question: str, said: Sequence[Exchange], call: Trace) -> str:
        model, nonce = self.paid(site), self.nonce()
        reply = model.ask(followup_prompt(question, said, nonce), call, within=DEADLINE_SECONDS)
        model.settle(reply, call)
        return rewritten(reply.text, nonce)
