"""Rewriting of follow-up questions by one small, paid call of the model.

Rewriting is optional and only helps the search: after any failure, the follow-up is searched for as without it.
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
"""Deadline of the provider's call."""


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Rewrites follow-up questions so that they can be understood alone.

    Attributes:
        paid: returns a site's model, on a ledger that leaves room for the answer (`fencepost.limits.service.headroom`).
        nonce: returns a fresh nonce for each call.
    """

    paid: Callable[[Site], PaidModel]
    nonce: Callable[[], str] = lambda: secrets.token_hex(NONCE_CHARACTERS // 2)

    def text(self, site: Site, question: str, said: Sequence[Exchange], trace: Trace) -> str:
        """Return the rewritten question; empty after a failure.

        The cost of the call is added to the trace. The model is not called in a turn that has already waited for
        `LATEST_START_SECONDS`.

        Args:
            question: a follow-up question.
            said: the conversation's last exchanges, oldest first.
            trace: the request's trace.
        """
        if trace.seconds() > LATEST_START_SECONDS:
            return ""
        call, nonce = Trace(), self.nonce()
        with trace.stage("rewrite"):
            try:
                model = self.paid(site)
                reply = model.ask(followup_prompt(question, said, nonce), call, within=DEADLINE_SECONDS)
                model.settle(reply, call)
                return rewritten(reply.text, nonce)
            except FencepostError:
                return ""
            finally:
                trace.bill(call.usage, call.cost)
