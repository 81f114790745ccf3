"""Organisations, their sites and settings, and web origins."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import Field

from fencepost.kernel.money import Caps

SITE_KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
"""Format of a site's public key. It has room for an organisation's id, a hyphen and a site's id."""

CONTEXT_TOKENS: Final = 200_000
"""Context window of the smallest supported model. Prompt inputs are shortened to fit."""

FactsTokens = Annotated[int, Field(ge=0, le=16_000)]
SummaryTokens = Annotated[int, Field(ge=0, le=16_000)]
HistoryTokens = Annotated[int, Field(ge=0, le=32_000)]
DocumentsTokens = Annotated[int, Field(ge=1_000, le=110_000)]
MemoryTokens = Annotated[int, Field(ge=0, le=16_000)]
OutputTokens = Annotated[int, Field(ge=64, le=32_000)]
MessageCount = Annotated[int, Field(ge=0, le=200)]

type FactPolicy = Literal["off", "propose", "trust"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerBudgets:
    """Limits of each prompt input and of the answer, in counted tokens (docs/adr/0004).

    The types above bound the values that a deployment or an admin may set. Stored rows are read without these bounds,
    so that sites stay readable when a bound becomes narrower.

    Attributes:
        facts_tokens: pinned facts of site and owner together; writes of more are refused.
        memory_tokens: messages found in the owner's other conversations.
        messages: number of earlier messages in a prompt, independent of their size.
    """

    facts_tokens: int = 8_000
    summary_tokens: int = 8_000
    history_tokens: int = 16_000
    documents_tokens: int = 60_000
    max_output_tokens: int = 1_024
    messages: int = 40
    memory_tokens: int = 4_000

    @property
    def context_tokens(self) -> int:
        """Limit of all prompt inputs and the answer together."""
        return CONTEXT_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Retention of conversations.

    Attributes:
        days: days after which a message is removed; 0 keeps messages until they are erased.
        rows: number of newest messages of a conversation in the table; older ones move to S3.
    """

    days: int = 0
    rows: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A website of an organisation.

    Attributes:
        id: unique in the organisation, e.g. `docs`.
        key: public key, globally unique; the widget sends it.
        origins: origins that may use the key, besides the deployment's list.
        product_prompt: text about the product, which follows the standing rules in prompts.
        model: a name of the price table; empty for the deployment's model.
        budgets: limits of prompts; the default value stands for the deployment's.
        caps: daily caps of the site, within the deployment's; None for no further caps.
        documents_url: URL of the site whose `llms-full.txt` answers draw on; empty for the deployment's.
        facts: whether facts are proposed in the background, and whether proposals are used before approval.
        own_facts: facts that the site pins for all its callers, preceded by the newest of those that it pinned before,
            so that the sources of old answers can still be shown.
        active: False for a closed site.
        version: raised with every change.
    """

    org: str
    id: str
    key: str
    origins: tuple[Origin, ...] = ()
    product_prompt: str = ""
    model: str = ""
    budgets: LayerBudgets = LayerBudgets()
    caps: Caps | None = None
    retention: Retention = Retention()
    documents_url: str = ""
    facts: FactPolicy = "off"
    own_facts: tuple[Fact, ...] = ()
    active: bool = True
    version: int = 0

    @property
    def pinned_facts(self) -> tuple[Fact, ...]:
        """Facts in each prompt of the site, in the order in which its admin wrote them."""
        return tuple(fact for fact in self.own_facts if fact.state is FactState.PINNED)

    def budgets_over(self, deployment: LayerBudgets) -> LayerBudgets:
        """Return the site's budgets, or the deployment's if the site sets none."""
        return deployment if self.budgets == LayerBudgets() else self.budgets


@dataclass(frozen=True, slots=True, kw_only=True)
class Organisation:
    """A tenant.

    Attributes:
        default_site: id of the site that members chat on unless they name another; empty if there is none.
        allows_carry: whether approved summaries may be carried to and from other organisations.
    """

    id: str
    name: str = ""
    default_site: str = ""
    allows_carry: bool = False
    version: int = 0


class FactState(StrEnum):
    """State of a fact. Only `PINNED` facts go into prompts; `SUPERSEDED` ones are kept, but never shown as current."""

    PINNED = "pinned"
    PROPOSED = "proposed"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A sentence to remember.

    Attributes:
        pinned_by: who approved it; `job` for a proposal on a site that trusts proposals.
        provenance: ids of the messages that it was extracted from; empty for a fact that a person wrote.
        superseded_by: id of the fact that replaced it; None if none did.
    """

    id: str
    text: str
    state: FactState
    pinned_by: Literal["owner", "site", "job"]
    created_at: datetime
    provenance: tuple[str, ...] = ()
    superseded_by: str | None = None


_DEFAULT_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?\.?|\[[0-9a-f:.]+\]")


@dataclass(frozen=True, slots=True)
class Origin:
    """A web origin: scheme, host and port (RFC 6454)."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        """Return the origin as browsers serialise it, without the scheme's default port."""
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"


def parse_origin(text: str) -> Origin:
    """Parse a serialised origin such as `https://shop.example:8443`.

    Hosts are lower-cased, and an absent port is the scheme's default port. A trailing dot is kept, since browsers treat
    `a.example.` and `a.example` as different hosts.

    Raises:
        ValueError: `text` is not scheme, host and optional port, for example `null` or `*`.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError("not an origin") from None
    host = parts.netloc.rsplit(":", 1)[0] if port is not None else parts.netloc
    if (
        parts.scheme not in _DEFAULT_PORTS
        or not _HOST.fullmatch(host.lower())
        or text.lower() != f"{parts.scheme}://{parts.netloc}".lower()
    ):
        raise ValueError("not an origin")
    return Origin(parts.scheme, host.lower(), port if port is not None else _DEFAULT_PORTS[parts.scheme])
