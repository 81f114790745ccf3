"""Read and verify JSON Web Tokens (RFC 7519).

PyJWT verifies everything but the times, for which it would use the system's clock instead of the injected one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fencepost.kernel.errors import ErrorCode, FencepostError

if TYPE_CHECKING:
    from jwt import PyJWK
    from jwt.types import Options

MAX_PARAMETER_CHARACTERS: Final = 256
CLOCK_SKEW: Final = timedelta(seconds=60)
"""How far an issuer's clock may be ahead of ours. There is no such tolerance for the expiry."""

_NumericDate = Annotated[float, Field(strict=True, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class JwtHeader:
    """Unverified parameters of a token's header (RFC 7515, section 4.1). Absent ones are empty."""

    algorithm: str
    key_id: str
    kind: str


class _Times(BaseModel):
    """Time claims (RFC 7519, section 4.1), in seconds since 1970."""

    model_config = ConfigDict(hide_input_in_errors=True)

    exp: _NumericDate
    nbf: _NumericDate | None = None
    iat: _NumericDate | None = None

    @property
    def begins(self) -> float:
        return max(self.nbf or 0.0, self.iat or 0.0)


def read_header(token: str) -> JwtHeader:
    """Read a token's header, without verification.

    Raises:
        FencepostError: `token_invalid`; the header is not a JSON object, or a parameter is not a short string.
    """
    import jwt

    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, UnicodeEncodeError):
        raise FencepostError(ErrorCode.TOKEN_INVALID) from None
    parts = [header.get(name, "") for name in ("alg", "kid", "typ")]
    if not all(isinstance(part, str) and len(part) <= MAX_PARAMETER_CHARACTERS for part in parts):
        raise FencepostError(ErrorCode.TOKEN_INVALID)
    return JwtHeader(*parts)


def verified_claims(
    token: str, key: bytes | PyJWK, algorithm: str, *, issuer: str, audience: str, required: Collection[str]
) -> dict[str, Any]:
    """Verify signature, issuer and audience, and return the claims. No other algorithm is accepted.

    Raises:
        FencepostError: `token_invalid`.
    """
    import jwt

    options: Options = {
        "require": list(required),
        "verify_exp": False,
        "verify_nbf": False,
        "verify_iat": False,
        "enforce_minimum_key_length": True,
    }
    try:
        return jwt.decode(token, key, algorithms=[algorithm], issuer=issuer, audience=audience, options=options)
    except jwt.PyJWTError:
        raise FencepostError(ErrorCode.TOKEN_INVALID) from None


def check_times(claims: Mapping[str, Any], now: datetime, *, grace: timedelta = timedelta()) -> None:
    """Check a verified token's times.

    Args:
        claims: must contain `exp`; `nbf` and `iat` are checked if present.
        now: current time.
        grace: time after the expiry for which the token is still accepted.

    Raises:
        FencepostError: `token_expired`; `token_invalid` if the token is not valid yet, or a time is not a number.
    """
    try:
        times = _Times.model_validate(claims)
    except ValidationError:
        raise FencepostError(ErrorCode.TOKEN_INVALID) from None
    if times.begins > (now + CLOCK_SKEW).timestamp():
        raise FencepostError(ErrorCode.TOKEN_INVALID)
    if times.exp <= (now - grace).timestamp():
        raise FencepostError(ErrorCode.TOKEN_EXPIRED)
