"""Model calls of background jobs, paid from the same daily bill."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.identity.domain.sites import Site
from fencepost.kernel.ports import Keys
from fencepost.model.domain.prompt import Prompt
from fencepost.model.service.completion import PaidModel, require_provider_key
from fencepost.observability.service.trace import Trace

type Ask = Callable[[Site, Prompt], str]
"""Calls a site's model once and returns what it wrote; raises what stands in the way. `paid` makes one."""


def paid(model_of: Callable[[Site], PaidModel], keys: Keys) -> Ask:
    """Return what asks a site's model on the bill that answers are on, with the same caps."""

    def ask(site: Site, prompt: Prompt) -> str:
        require_provider_key(keys)
        model, trace = model_of(site), Trace()
        reply = model.ask(prompt, trace)
        model.settle(reply, trace)
        return reply.text

    return ask
