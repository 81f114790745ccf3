"""Organisations and their sites: what an admin sets."""

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
"""What a site's public key looks like: an organisation's id, a hyphen and a site's id fit in."""

CONTEXT_TOKENS: Final = 200_000
"""The context window of the smallest model in use: layers give way to stay inside it."""

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
    """Counted tokens (docs/adr/0004) that each layer of a prompt may take, and where an answer is cut.

    The types above bound what a deployment or an admin may set. Rows are read without these bounds, so that a site
    stays readable when a bound becomes narrower.

    Attributes:
        facts_tokens: pinned facts of site and owner together; writing more than this is refused.
        memory_tokens: messages of the owner's other conversations, as far as they are found.
        messages: most earlier messages in a prompt, whatever their size.
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
        """The bound of all layers and the answer together."""
        return CONTEXT_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long conversations are kept.

    Attributes:
        days: days after which a message is removed; 0 keeps it until it is erased.
        rows: newest messages of a conversation that stay in the table; older ones move to S3.
    """

    days: int = 0
    rows: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One website of an organisation.

    Attributes:
        id: unique in the organisation, e.g. `docs`.
        key: public, globally unique; the widget names it.
        origins: pages that may use the site's key, besides the deployment's own list.
        budgets: left as they are by default, the deployment's.
        product_prompt: what the model is told about the product, after the standing rules.
        model: of the price table; empty uses the deployment's.
        caps: the site's own, under the deployment's; None leaves only those.
        documents_url: the site whose `llms-full.txt` answers draw on; empty uses the deployment's.
        facts: whether facts are proposed in the background, and whether they are used unapproved.
        own_facts: those that the site pins for everybody who chats on it, and before them the newest of those that it
            pinned once, so that what an old answer rests on can still be told.
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
        """What the site says in each of its prompts, in the order in which its admin wrote it."""
        return tuple(fact for fact in self.own_facts if fact.state is FactState.PINNED)

    def budgets_over(self, deployment: LayerBudgets) -> LayerBudgets:
        """Return the budgets that hold: the deployment's where the site sets none."""
        return deployment if self.budgets == LayerBudgets() else self.budgets


@dataclass(frozen=True, slots=True, kw_only=True)
class Organisation:
    """A tenant.

    Attributes:
        default_site: id of the site that members chat on unless they name another; empty before there is one.
        allows_carry: whether approved summaries may leave for, and come from, another organisation.
    """

    id: str
    name: str = ""
    default_site: str = ""
    allows_carry: bool = False
    version: int = 0


class FactState(StrEnum):
    """Only `PINNED` facts go into a prompt. A `SUPERSEDED` one is kept, and is never presented as current."""

    PINNED = "pinned"
    PROPOSED = "proposed"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One sentence to be kept in mind.

    Attributes:
        pinned_by: who vouches for it; `job` is a proposal that a setting trusts.
        provenance: ids of the messages that it was drawn from; empty where a person wrote it.
        superseded_by: id of the fact that took its place, where one did.
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
    """A (scheme, host, port) triple; equal triples are the same origin."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        """Serialise it as browsers do: without the scheme's default port."""
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"


def parse_origin(text: str) -> Origin:
    """Parse a serialised origin such as `https://shop.example:8443`.

    Hosts fold to lower case, and the scheme's default port equals none; a trailing dot stays, since to a browser
    `a.example.` is another host than `a.example`.

    Raises:
        ValueError: for anything else than scheme, host and optional port, `null` and `*` among it.
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
