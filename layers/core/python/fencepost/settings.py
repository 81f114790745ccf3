"""The settings model, read once from environment variables.

An invalid value stops the start: a mistyped limit must not become another limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from fencepost.identity.domain.sites import (
    DocumentsTokens,
    FactsTokens,
    HistoryTokens,
    LayerBudgets,
    MemoryTokens,
    MessageCount,
    OutputTokens,
    SummaryTokens,
)
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.requests import Counter, RateLimits
from fencepost.setting_types import DIGITS, Dollars, Flag, Origins, PricedModel, Url, Whole

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_MICRODOLLARS_PER_DOLLAR = 1_000_000
_BUDGETS: Final = LayerBudgets()


class InvalidSettings(Exception):
    """One or more variables are invalid. The text gives name, kind and allowed values of each, never its value."""


class Settings(BaseModel):
    """Settings of a deployment, with the names of their environment variables."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    api_key: SecretStr = Field(
        SecretStr(""), alias="ANTHROPIC_API_KEY", description="The provider's key, where no secret is named."
    )
    base_url: Url = Field("", alias="ANTHROPIC_BASE_URL", description="Another endpoint that speaks the Messages API.")
    model: PricedModel = Field(
        "claude-haiku-5-5",
        alias="FENCEPOST_MODEL",
        description="The model; it needs a row in the price table.",
    )
    max_output_tokens: Annotated[OutputTokens, DIGITS] = Field(
        _BUDGETS.max_output_tokens, alias="FENCEPOST_MAX_OUTPUT_TOKENS", description="Limit of an answer, in tokens."
    )
    documents_tokens: Annotated[DocumentsTokens, DIGITS] = Field(
        _BUDGETS.documents_tokens,
        alias="FENCEPOST_DOCUMENTS_TOKENS",
        description="Budget of the documents in a prompt, in counted tokens (docs/adr/0004).",
    )
    history_tokens: Annotated[HistoryTokens, DIGITS] = Field(
        _BUDGETS.history_tokens,
        alias="FENCEPOST_HISTORY_TOKENS",
        description="Budget of earlier turns in a prompt, in counted tokens.",
    )
    unsigned_history: Literal["accept", "mark", "refuse"] = Field(
        "accept",
        alias="FENCEPOST_UNSIGNED_HISTORY",
        description="Treatment of assistant turns without a valid signature.",
    )
    demo_mode: Flag = Field(
        False,
        alias="FENCEPOST_DEMO_MODE",
        description="Answer every POST with the fixed reply and touch nothing.",
    )
    demo_reply: str = Field(
        "This is a demo. Ask us about a real one!",
        alias="FENCEPOST_DEMO_REPLY",
        min_length=1,
        max_length=2_000,
        description="The reply of the demo mode, in Markdown.",
    )
    allowed_origins: Origins = Field(
        (),
        alias="FENCEPOST_ALLOWED_ORIGINS",
        description="Origins of pages that may call the API, comma-separated.",
    )
    daily_call_limit: Whole = Field(
        1_000,
        alias="FENCEPOST_DAILY_CALL_LIMIT",
        ge=0,
        le=100_000_000,
        description="Provider calls in one UTC day, for the whole deployment.",
    )
    daily_spend_limit_usd: Dollars = Field(
        Decimal(5),
        alias="FENCEPOST_DAILY_SPEND_LIMIT_USD",
        ge=0,
        le=1_000_000,
        description="US dollars in one UTC day, for the whole deployment; up to six decimals.",
    )
    ledger_block: Whole = Field(
        1,
        alias="FENCEPOST_LEDGER_BLOCK",
        ge=1,
        le=100,
        description="Permits that an instance leases at once; 1 reserves each by itself (docs/adr/0005).",
    )
    rate_limit_per_minute: Whole = Field(
        10,
        alias="RATE_LIMIT_PER_MINUTE",
        ge=1,
        le=100_000,
        description="Requests of one address in one UTC minute that may call the model.",
    )
    rate_limit_per_day: Whole = Field(
        100,
        alias="RATE_LIMIT_PER_DAY",
        ge=1,
        le=10_000_000,
        description="Requests of one address in one UTC day that may call the model.",
    )
    rate_limit_other_per_minute: Whole = Field(
        120,
        alias="RATE_LIMIT_OTHER_PER_MINUTE",
        ge=1,
        le=100_000,
        description="Other requests of one address in one UTC minute.",
    )
    rate_limit_other_per_day: Whole = Field(
        5_000,
        alias="RATE_LIMIT_OTHER_PER_DAY",
        ge=1,
        le=10_000_000,
        description="Other requests of one address in one UTC day.",
    )
    docs_site_url: Url = Field("", alias="DOCS_SITE_URL", description="The site whose `llms-full.txt` answers draw on.")
    docs_allow_loopback: Flag = Field(
        False,
        alias="FENCEPOST_DOCS_ALLOW_LOOPBACK",
        description="Accept a documentation site and OpenID keys on loopback. For a laptop only.",
    )
    connect_timeout_seconds: Whole = Field(
        3,
        alias="FENCEPOST_CONNECT_TIMEOUT_SECONDS",
        ge=1,
        le=10,
        description="Time limit for connecting to the provider.",
    )
    provider_timeout_seconds: Whole = Field(
        22,
        alias="FENCEPOST_PROVIDER_TIMEOUT_SECONDS",
        ge=1,
        le=25,
        description="Time limit of a provider call; must end before the gateway's 29 seconds.",
    )
    facts_tokens: Annotated[FactsTokens, DIGITS] = Field(
        _BUDGETS.facts_tokens,
        alias="FENCEPOST_FACTS_TOKENS",
        description="Budget of pinned facts in a prompt, in counted tokens.",
    )
    summary_tokens: Annotated[SummaryTokens, DIGITS] = Field(
        _BUDGETS.summary_tokens,
        alias="FENCEPOST_SUMMARY_TOKENS",
        description="Budget of the rolling summary in a prompt, in counted tokens.",
    )
    memory_tokens: Annotated[MemoryTokens, DIGITS] = Field(
        _BUDGETS.memory_tokens,
        alias="FENCEPOST_MEMORY_TOKENS",
        description="Budget of passages from the owner's other conversations, in counted tokens; 0 turns them off.",
    )
    conversation_messages: Annotated[MessageCount, DIGITS] = Field(
        _BUDGETS.messages,
        alias="FENCEPOST_CONVERSATION_MESSAGES",
        description="Maximum number of earlier messages of a conversation in a prompt.",
    )
    visitor_token_minutes: Whole = Field(
        60,
        alias="FENCEPOST_VISITOR_TOKEN_MINUTES",
        ge=5,
        le=1_440,
        description="Lifetime of a visitor's token, in minutes.",
    )
    oidc_issuer: Url = Field("", alias="FENCEPOST_OIDC_ISSUER", description="The OpenID provider of members.")
    oidc_audience: str = Field(
        "", alias="FENCEPOST_OIDC_AUDIENCE", max_length=255, description="Audience of members' tokens."
    )
    oidc_jwks_url: Url = Field(
        "", alias="FENCEPOST_OIDC_JWKS_URL", description="Address of the OpenID provider's key set."
    )
    oidc_org_claim: str = Field(
        "org_id",
        alias="FENCEPOST_OIDC_ORG_CLAIM",
        min_length=1,
        max_length=64,
        description="The claim that names a member's default organisation.",
    )
    index: Literal["none", "embedded", "classic", "next"] = Field(
        "none",
        alias="FENCEPOST_INDEX",
        description="The vector index: a local file, or OpenSearch Serverless of one generation.",
    )
    index_path: str = Field(
        "", alias="FENCEPOST_INDEX_PATH", max_length=4_096, description="The file of the embedded index."
    )
    opensearch_endpoint: Url = Field(
        "", alias="FENCEPOST_OPENSEARCH_ENDPOINT", description="Address of the OpenSearch collection."
    )
    embedder: Literal["local", "titan-v2", "cohere-v4"] = Field(
        "titan-v2",
        alias="FENCEPOST_EMBEDDER",
        description="The embedding model: a local one, or one of Amazon Bedrock.",
    )
    retrieval_deadline_ms: Whole = Field(
        400,
        alias="FENCEPOST_RETRIEVAL_DEADLINE_MS",
        ge=50,
        le=5_000,
        description="Deadline of retrieval, in milliseconds; late passages are left out.",
    )
    followups: Literal["words", "model"] = Field(
        "words",
        alias="FENCEPOST_FOLLOWUPS",
        description="How a follow-up question is searched: with earlier words, or rewritten by a paid call.",
    )
    # Names of what the template made. Empty outside a deployment.
    provider_secret: str = Field(
        "", alias="FENCEPOST_PROVIDER_SECRET", description="Secrets Manager: the provider's key."
    )
    signing_secret: str = Field(
        "",
        alias="FENCEPOST_SIGNING_SECRET",
        description="Secrets Manager: the key from which all others are derived.",
    )
    edge_secret: str = Field(
        "",
        alias="FENCEPOST_EDGE_SECRET",
        description="Secrets Manager: what CloudFront sends to prove itself.",
    )
    limits_table: str = Field("", alias="FENCEPOST_LIMITS_TABLE", description="DynamoDB: counts per address.")
    ledger_table: str = Field("", alias="FENCEPOST_LEDGER_TABLE", description="DynamoDB: the days' bills.")
    audit_table: str = Field("", alias="FENCEPOST_AUDIT_TABLE", description="DynamoDB: audit items.")
    directory_table: str = Field(
        "", alias="FENCEPOST_DIRECTORY_TABLE", description="DynamoDB: organisations, sites and memberships."
    )
    conversations_table: str = Field(
        "", alias="FENCEPOST_CONVERSATIONS_TABLE", description="DynamoDB: conversations and all that belongs to them."
    )
    content_bucket: str = Field(
        "", alias="FENCEPOST_CONTENT_BUCKET", description="S3: big answers, old turns, exports and attachments."
    )
    corpus_table: str = Field("", alias="FENCEPOST_CORPUS_TABLE", description="DynamoDB: documents and their chunks.")
    tenant_role: str = Field(
        "",
        alias="FENCEPOST_TENANT_ROLE",
        description="IAM: the role that reaches one organisation's rows and objects; empty uses the function's own.",
    )
    jobs_queue: str = Field("", alias="FENCEPOST_JOBS_QUEUE", description="SQS: work that is done after an answer.")
    llms_full_bucket: str = Field("", alias="FENCEPOST_LLMS_FULL_BUCKET", description="S3: copies of llms-full.txt.")

    @property
    def rate_limits(self) -> RateLimits:
        """Rate limits of an address for requests that may call the model."""
        return RateLimits(self.rate_limit_per_minute, self.rate_limit_per_day, Counter.CHAT)

    @property
    def other_rate_limits(self) -> RateLimits:
        """Rate limits of an address for all other requests."""
        return RateLimits(self.rate_limit_other_per_minute, self.rate_limit_other_per_day, Counter.OTHER)

    @property
    def caps(self) -> Caps:
        """Caps of the deployment for one UTC day."""
        return Caps(self.daily_call_limit, MicroDollars(int(self.daily_spend_limit_usd * _MICRODOLLARS_PER_DOLLAR)))


def load_settings(environment: Mapping[str, str]) -> Settings:
    """Return the settings.

    Raises:
        InvalidSettings: names every invalid variable, its kind and the allowed values.
    """
    try:
        return Settings.model_validate(dict(environment))
    except ValidationError as error:
        rows = error.errors(include_input=False, include_url=False)
        raise InvalidSettings("\n".join(map(_line, rows))) from None


def _line(row: ErrorDetails) -> str:
    return f"{row['loc'][0]}: {row['msg'].removeprefix('Value error, ')}"
