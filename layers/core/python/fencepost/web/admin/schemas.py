"""Request and response models of the admin API, `/v1/admin/…`, converted from and to the directory's values."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from fencepost.http.body import AdminBody
from fencepost.http.schemas import WHOLE, Sent, Whole
from fencepost.identity.domain.scope import Membership, OrgRole
from fencepost.identity.domain.sites import (
    SITE_KEY,
    DocumentsTokens,
    FactPolicy,
    FactsTokens,
    HistoryTokens,
    LayerBudgets,
    MemoryTokens,
    MessageCount,
    Organisation,
    OutputTokens,
    Retention,
    Site,
    SummaryTokens,
    parse_origin,
)
from fencepost.kernel.links import MAX_ADDRESS_CHARACTERS, is_plain_address
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.kernel.text import normalise
from fencepost.limits.domain.prices import PRICES
from fencepost.memory.domain.facts import MAX_PINNED
from fencepost.memory.schemas import FactText, shown_fact

MAX_ORIGINS: Final = 50
MAX_PRODUCT_PROMPT_CHARACTERS: Final = 8_000
MAX_RETENTION_DAYS: Final = 3_650
MAX_RETENTION_ROWS: Final = 100_000
MIN_RETENTION_ROWS: Final = 100
"""More than the history of any prompt plus the messages that one summary covers."""
_MICRODOLLARS_PER_DOLLAR: Final = 1_000_000


def _origin(value: str) -> str:
    try:
        return str(parse_origin(value))
    except ValueError:
        raise PydanticCustomError("origin", "no origin such as https://shop.example") from None


def _model(value: str) -> str:
    if value and value not in PRICES:
        raise PydanticCustomError("model", "no model of the price table")
    return value


def _address(value: str) -> str:
    if value and not is_plain_address(value):
        raise PydanticCustomError("address", "no http(s) address")
    return value


def _prompt(value: str) -> str:
    shown = normalise(value).strip()
    if len(shown) > MAX_PRODUCT_PROMPT_CHARACTERS:
        raise PydanticCustomError("prompt", "too long once normalised")
    return shown


Dollars = Annotated[Decimal, Field(strict=False, ge=0, le=1_000_000, decimal_places=6)]
Version = Annotated[
    Annotated[Whole, Field(ge=0)] | None,
    Field(description="The version to replace, 0 to create; 409 if another is stored. If left out, any is replaced."),
]


class OrganisationSettings(AdminBody):
    """Settings of an organisation. A setting that is left out gets its default."""

    name: str = Field("", max_length=200)
    default_site: str = Field(
        "", max_length=63, description="Id of the site that members chat on by default, or empty."
    )
    allows_carry: bool = Field(False, description="Whether approved summaries may be carried into other organisations.")
    version: Version = None

    def organisation(self, org: str) -> Organisation:
        """Return the organisation with these settings."""
        return Organisation(id=org, name=self.name, default_site=self.default_site, allows_carry=self.allows_carry)


class BudgetSettings(AdminBody):
    """Token budgets of the prompt's layers. A layer that is left out has the deployment's budget."""

    facts_tokens: Annotated[FactsTokens, WHOLE] | None = None
    summary_tokens: Annotated[SummaryTokens, WHOLE] | None = None
    history_tokens: Annotated[HistoryTokens, WHOLE] | None = None
    documents_tokens: Annotated[DocumentsTokens, WHOLE] | None = None
    memory_tokens: Annotated[MemoryTokens, WHOLE] | None = Field(
        None, description="Budget of messages from other conversations of the same owner; 0 disables them."
    )
    max_output_tokens: Annotated[OutputTokens, WHOLE] | None = None
    messages: Annotated[MessageCount, WHOLE] | None = Field(None, description="Maximum number of earlier messages.")

    def over(self, deployment: LayerBudgets) -> LayerBudgets:
        """Return the budgets; the deployment's for each layer that is not set."""
        return replace(deployment, **self.model_dump(exclude_none=True))


class CapsSettings(AdminBody):
    """Caps of a site for each UTC day. The deployment's caps apply as well."""

    calls: Whole = Field(ge=0, le=100_000_000)
    spend_usd: Dollars

    def caps(self) -> Caps:
        """Return the caps in micro-dollars."""
        return Caps(self.calls, MicroDollars(int(self.spend_usd * _MICRODOLLARS_PER_DOLLAR)))


class RetentionSettings(AdminBody):
    """Retention of conversations."""

    days: Whole = Field(
        Retention().days, ge=0, le=MAX_RETENTION_DAYS, description="0 keeps conversations until they are erased."
    )
    rows: Whole = Field(
        Retention().rows,
        ge=MIN_RETENTION_ROWS,
        le=MAX_RETENTION_ROWS,
        description="Number of a conversation's newest messages that stay in the table.",
    )


class SiteSettings(AdminBody):
    """Settings of a site. A setting that is left out gets its default; the key stays as it is."""

    key: str = Field(
        "",
        pattern=f"^({SITE_KEY.pattern})?$",
        description="Public key. If empty, the stored key stays, or a new one is generated.",
    )
    origins: list[Annotated[str, Field(max_length=300), AfterValidator(_origin)]] = Field(
        [], max_length=MAX_ORIGINS, description="Origins that may use the key, e.g. `https://shop.example`."
    )
    product_prompt: Annotated[str, AfterValidator(_prompt)] = Field("", max_length=MAX_PRODUCT_PROMPT_CHARACTERS)
    model: Annotated[str, AfterValidator(_model)] = Field("", description="If empty, the deployment's model.")
    budgets: BudgetSettings | None = Field(None, description="If null, the deployment's apply.")
    caps: CapsSettings | None = Field(None, description="If null, only the deployment's apply.")
    retention: RetentionSettings = RetentionSettings()
    documents_url: Annotated[str, Field(max_length=MAX_ADDRESS_CHARACTERS), AfterValidator(_address)] = Field(
        "", description="Address of `llms-full.txt`; if empty, the deployment's."
    )
    facts: FactPolicy = "off"
    pinned_facts: list[FactText] = Field(
        [], max_length=MAX_PINNED, description="Facts that precede the owner's facts in each prompt of the site."
    )
    active: bool = Field(True, description="false closes the site.")
    version: Version = None

    @property
    def fact_texts(self) -> list[str]:
        """The texts of the facts as they are stored."""
        return list(map(shown_fact, self.pinned_facts))

    def site(self, org: str, site_id: str, deployment: LayerBudgets) -> Site:
        """Return the site, without its facts: their ids and times depend on the stored ones."""
        return Site(
            org=org,
            id=site_id,
            key=self.key,
            origins=tuple(dict.fromkeys(map(parse_origin, self.origins))),
            product_prompt=self.product_prompt,
            model=self.model,
            budgets=self.budgets.over(deployment) if self.budgets else LayerBudgets(),
            caps=self.caps.caps() if self.caps else None,
            retention=Retention(**self.retention.model_dump()),
            documents_url=self.documents_url,
            facts=self.facts,
            active=self.active,
        )


class MemberSettings(AdminBody):
    """A user's role in the organisation."""

    role: Literal["admin", "member", "none"] = Field(description="`none` ends the membership.")

    def org_role(self) -> OrgRole | None:
        """Return the role; None to end the membership."""
        return None if self.role == "none" else OrgRole(self.role)


class OrganisationBody(Sent):
    """An organisation."""

    id: str
    name: str
    default_site: str
    allows_carry: bool
    version: int


class BudgetsBody(Sent):
    """Token budgets of the prompt's layers."""

    facts_tokens: int
    summary_tokens: int
    history_tokens: int
    documents_tokens: int
    memory_tokens: int
    max_output_tokens: int
    messages: int


class CapsBody(Sent):
    """Caps of a site for each UTC day."""

    calls: int
    spend_usd: float


class RetentionBody(Sent):
    """Retention of conversations."""

    days: int
    rows: int


class SiteBody(Sent):
    """A site."""

    id: str
    key: str
    origins: list[str]
    product_prompt: str
    model: str
    budgets: BudgetsBody | None = Field(None, description="Absent if the deployment's apply.")
    caps: CapsBody | None = Field(None, description="Absent if only the deployment's apply.")
    retention: RetentionBody
    documents_url: str
    facts: FactPolicy
    pinned_facts: list[str]
    active: bool
    version: int


class SiteList(Sent):
    """The organisation's sites, ordered by id."""

    items: list[SiteBody]


class MemberBody(Sent):
    """A user's membership of the organisation."""

    user: str
    role: Literal["admin", "member", "none"] = Field(description="`none` for an ended membership.")
    version: int


class MemberList(Sent):
    """The organisation's members ordered by user, including ended memberships."""

    items: list[MemberBody]


def organisation_body(organisation: Organisation) -> OrganisationBody:
    """Return the body of an organisation."""
    return OrganisationBody.model_validate(organisation)


def site_body(site: Site) -> SiteBody:
    """Return the body of a site."""
    caps = site.caps
    return SiteBody(
        id=site.id,
        key=site.key,
        origins=list(map(str, site.origins)),
        product_prompt=site.product_prompt,
        model=site.model,
        budgets=None if site.budgets == LayerBudgets() else BudgetsBody.model_validate(site.budgets),
        caps=CapsBody(calls=caps.calls, spend_usd=caps.spend / _MICRODOLLARS_PER_DOLLAR) if caps else None,
        retention=RetentionBody.model_validate(site.retention),
        documents_url=site.documents_url,
        facts=site.facts,
        pinned_facts=[fact.text for fact in site.pinned_facts],
        active=site.active,
        version=site.version,
    )


def member_body(membership: Membership) -> MemberBody:
    """Return the body of a membership."""
    role: Literal["admin", "member", "none"] = membership.role.value if membership.active else "none"
    return MemberBody(user=membership.user, role=role, version=membership.version)
