"""Secrets from AWS Secrets Manager, cached by Powertools, and keys derived from them."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, override

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Keys

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.parameters import SecretsProvider
    from mypy_boto3_secretsmanager import SecretsManagerClient


MAX_AGE_SECONDS = 300
"""Seconds for which a secret is cached: rotations take effect within this time."""

PLACEHOLDER = "not-set"
"""Value of the template's secret until the operator stores a key."""

_SALT = b"fencepost"
_VISIBLE_ASCII = re.compile(r"[!-~]+")
_CONNECT_TIMEOUT_SECONDS = 1
_READ_TIMEOUT_SECONDS = 2
_ATTEMPTS = 2
_HASH_BYTES = 32
_MOST_BLOCKS = 255

type ReadSecret = Callable[[str, bool], str]
"""Reads a secret by its name or ARN; True bypasses the cache. Raises `SecretUnavailable`."""


class SecretUnavailable(Exception):
    """A secret cannot be read. The message does not name it."""


class SecretKeys(Keys):
    """Implements `fencepost.kernel.ports.Keys`.

    A rotation of the signing secret resets the counts per address and invalidates signatures of earlier answers.
    Signatures that are verified with a `ring` survive one rotation.

    Args:
        signing_secret: name or ARN of the secret that keys are derived from.
        provider_secret: name or ARN of the provider's key; empty to use `api_key`.
        edge_secret: name or ARN of the secret that CloudFront sends; empty without CloudFront.
        api_key: the provider's key itself, for local use.
        read: reads a secret; by default from Secrets Manager.
        read_previous: reads the value of a secret before its last rotation; empty if it was never rotated.
    """

    def __init__(
        self,
        signing_secret: str,
        provider_secret: str = "",
        edge_secret: str = "",
        api_key: str = "",
        read: ReadSecret | None = None,
        *,
        read_previous: ReadSecret | None = None,
    ) -> None:
        self._signing_secret = signing_secret
        self._provider_secret = provider_secret
        self._edge_secret = edge_secret
        self._api_key = api_key
        self._read = read or read_secret
        self._read_previous = read_previous or read_previous_secret

    @override
    def derive(self, purpose: str) -> bytes:
        return _derived(self._value(self._signing_secret), purpose)

    @override
    def ring(self, purpose: str, *, refresh: bool = False) -> tuple[bytes, ...]:
        current = self._value(self._signing_secret, refresh=refresh)
        try:
            previous = self._read_previous(self._signing_secret, refresh)
        except SecretUnavailable:
            raise FencepostError(ErrorCode.MISCONFIGURED) from None
        return tuple(_derived(secret, purpose) for secret in (current, previous) if secret)

    @override
    def provider_key(self) -> str:
        """The placeholder, and keys that are not valid in an HTTP header, count as missing."""
        return _header(self._value(self._provider_secret) if self._provider_secret else _present(self._api_key))

    @override
    def edge_secret(self) -> str | None:
        """Return the secret, or raise `misconfigured` if it cannot be read or is not valid in an HTTP header."""
        return _header(self._value(self._edge_secret)) if self._edge_secret else None

    @override
    def refresh_provider_key(self) -> None:
        if self._provider_secret:
            self._value(self._provider_secret, refresh=True)

    def _value(self, name: str, *, refresh: bool = False) -> str:
        if not name:
            raise FencepostError(ErrorCode.MISCONFIGURED)
        try:
            return _present(self._read(name, refresh))
        except SecretUnavailable:
            raise FencepostError(ErrorCode.MISCONFIGURED) from None


def read_secret(name: str, refresh: bool) -> str:
    """Return a secret from Secrets Manager or its cache.

    Raises:
        SecretUnavailable: it cannot be read. The SDK's error is dropped, since its text may name the secret.
    """
    return _text(_provider(), name, refresh)


def read_previous_secret(name: str, refresh: bool) -> str:
    """Return the value of a secret before its last rotation; empty if it was never rotated.

    Raises:
        SecretUnavailable: it cannot be read.
    """
    return _text(_previous(), name, refresh)


def _text(provider: SecretsProvider, name: str, refresh: bool) -> str:
    from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError

    try:
        value = provider.get(name, max_age=MAX_AGE_SECONDS, force_fetch=refresh)
    except GetParameterError:
        raise SecretUnavailable from None
    if not isinstance(value, str):
        raise SecretUnavailable
    return value


@cache
def _provider() -> SecretsProvider:
    """Return the provider of current versions. It imports the SDK, so it is called at the first use."""
    from aws_lambda_powertools.utilities.parameters import SecretsProvider

    return SecretsProvider(boto3_client=_client())


@cache
def _previous() -> SecretsProvider:
    """Return the provider of previous versions. It needs a separate cache, since Powertools caches by name only."""
    from aws_lambda_powertools.utilities.parameters import SecretsProvider

    class Previous(SecretsProvider):
        def _get(self, name: str, **sdk_options: Any) -> str | bytes:
            try:
                return super()._get(name, **{**sdk_options, "VersionStage": "AWSPREVIOUS"})
            except self.client.exceptions.ResourceNotFoundException:
                # Cached like any value, so that secrets without a previous version are not read each time.
                return ""

    return Previous(boto3_client=_client())


@cache
def _client() -> SecretsManagerClient:
    from boto3.session import Session
    from botocore.config import Config

    config = Config(
        connect_timeout=_CONNECT_TIMEOUT_SECONDS,
        read_timeout=_READ_TIMEOUT_SECONDS,
        retries={"total_max_attempts": _ATTEMPTS, "mode": "legacy"},
    )
    return Session().client("secretsmanager", config=config)


def _derived(secret: str, purpose: str) -> bytes:
    return hkdf_sha256(secret.encode(), salt=_SALT, info=purpose.encode())


def _present(value: str) -> str:
    if value.strip() in ("", PLACEHOLDER):
        raise FencepostError(ErrorCode.MISCONFIGURED)
    return value


def _header(value: str) -> str:
    """Return a secret as the value of an HTTP header, without surrounding whitespace such as a pasted line end.

    Checked here, since an invalid value would fail each call only after its reservation in the ledger.
    """
    stripped = value.strip()
    if not _VISIBLE_ASCII.fullmatch(stripped):
        raise FencepostError(ErrorCode.MISCONFIGURED)
    return stripped


def hkdf_sha256(secret: bytes, *, salt: bytes, info: bytes, length: int = _HASH_BYTES) -> bytes:
    """Derive a key with HKDF-SHA256 (RFC 5869).

    Args:
        secret: the input keying material.
        salt: public; empty stands for 32 zero bytes, as in the RFC.
        info: purpose of the key. Keys of different purposes are independent.
        length: length of the key in bytes, at most 8,160.

    Raises:
        ValueError: `length` is too large.
    """
    if length > _MOST_BLOCKS * _HASH_BYTES:
        raise ValueError("HKDF-SHA256 gives at most 8,160 bytes")
    extracted = hmac.digest(salt or bytes(_HASH_BYTES), secret, "sha256")
    key, block = b"", b""
    for counter in range(1, -(-length // _HASH_BYTES) + 1):
        block = hmac.digest(extracted, block + info + bytes([counter]), "sha256")
        key += block
    return key[:length]
