"""Secrets from AWS Secrets Manager, through the cache of Powertools parameters."""

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
"""How long a secret is kept in memory: a rotated one is followed within this time."""

PLACEHOLDER = "not-set"
"""What the template puts where the operator named no key yet."""

_SALT = b"fencepost"
_VISIBLE_ASCII = re.compile(r"[!-~]+")
_CONNECT_TIMEOUT_SECONDS = 1
_READ_TIMEOUT_SECONDS = 2
_ATTEMPTS = 2

type ReadSecret = Callable[[str, bool], str]
"""Reads a secret by its name or ARN; True passes over the cache. Raises `SecretUnavailable`."""


class SecretUnavailable(Exception):
    """A secret cannot be read. The text says nothing of it."""


class SecretKeys(Keys):
    """Implements `fencepost.kernel.ports.Keys`.

    A rotated signing secret begins new counts per address, and ends the signatures of earlier answers; what is verified
    with a `ring` outlives one rotation.

    Args:
        signing_secret: the name or ARN of the secret from which keys are derived.
        provider_secret: the same of the provider's key; empty uses `api_key`.
        edge_secret: the same of what CloudFront sends; empty where no CloudFront stands in front.
        api_key: the provider's key itself, for a laptop.
        read: reads a secret; by default from Secrets Manager.
        read_previous: reads what a secret was before it was last rotated, empty where it never was.
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
    def ring(self, purpose: str, *, anew: bool = False) -> tuple[bytes, ...]:
        current = self._value(self._signing_secret, anew=anew)
        try:
            previous = self._read_previous(self._signing_secret, anew)
        except SecretUnavailable:
            raise FencepostError(ErrorCode.MISCONFIGURED) from None
        return tuple(_derived(secret, purpose) for secret in (current, previous) if secret)

    @override
    def provider_key(self) -> str:
        """The placeholder counts as none, and so does what no header can carry."""
        return _header(self._value(self._provider_secret) if self._provider_secret else _present(self._api_key))

    @override
    def edge_secret(self) -> str | None:
        """

        Raises:
            FencepostError: `misconfigured` when it is named but cannot be read, or cannot be a header.
        """
        return _header(self._value(self._edge_secret)) if self._edge_secret else None

    def refresh_provider_key(self) -> None:
        """Read the provider's key anew, e.g. after the provider refused the one in memory.

        Raises:
            FencepostError: `misconfigured` when it cannot be read.
        """
        if self._provider_secret:
            self._value(self._provider_secret, anew=True)

    def _value(self, name: str, *, anew: bool = False) -> str:
        if not name:
            raise FencepostError(ErrorCode.MISCONFIGURED)
        try:
            return _present(self._read(name, anew))
        except SecretUnavailable:
            raise FencepostError(ErrorCode.MISCONFIGURED) from None


def read_secret(name: str, anew: bool) -> str:
    """Read a secret from Secrets Manager, or from memory while it is fresh.

    Raises:
        SecretUnavailable: it cannot be had. The SDK's error is dropped: its text may name the secret.
    """
    return _text(_provider(), name, anew)


def read_previous_secret(name: str, anew: bool) -> str:
    """Read what a secret was before it was last rotated; empty where it never was.

    Raises:
        SecretUnavailable: it cannot be had.
    """
    return _text(_previous(), name, anew)


def _text(provider: SecretsProvider, name: str, anew: bool) -> str:
    from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError

    try:
        value = provider.get(name, max_age=MAX_AGE_SECONDS, force_fetch=anew)
    except GetParameterError:
        raise SecretUnavailable from None
    if not isinstance(value, str):
        raise SecretUnavailable
    return value


@cache
def _provider() -> SecretsProvider:
    """Make the provider at the first use: it imports the SDK."""
    from aws_lambda_powertools.utilities.parameters import SecretsProvider

    return SecretsProvider(boto3_client=_client())


@cache
def _previous() -> SecretsProvider:
    """Make the provider of previous versions. It has a cache of its own: Powertools' looks at the name alone."""
    from aws_lambda_powertools.utilities.parameters import SecretsProvider

    class Previous(SecretsProvider):
        def _get(self, name: str, **sdk_options: Any) -> str | bytes:
            try:
                return super()._get(name, **{**sdk_options, "VersionStage": "AWSPREVIOUS"})
            except self.client.exceptions.ResourceNotFoundException:
                # Kept like any value, or each look at a secret that was never rotated would ask anew.
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
    """Return the secret as the value of an HTTP header, without the line end that came with a paste or a file.

    One that no header can carry would fail each call only after the call was reserved for.
    """
    stripped = value.strip()
    if not _VISIBLE_ASCII.fullmatch(stripped):
        raise FencepostError(ErrorCode.MISCONFIGURED)
    return stripped


_HASH_BYTES = 32
_MOST_BLOCKS = 255


def hkdf_sha256(secret: bytes, *, salt: bytes, info: bytes, length: int = _HASH_BYTES) -> bytes:
    """Derive a key.

    Args:
        secret: the input keying material.
        salt: public; empty stands for 32 zero bytes, as the RFC has it.
        info: what the key is for. Keys of different purposes tell nothing of each other.
        length: bytes wanted, at most 8,160.

    Raises:
        ValueError: more bytes were asked for than HKDF can give.
    """
    if length > _MOST_BLOCKS * _HASH_BYTES:
        raise ValueError("HKDF-SHA256 gives at most 8,160 bytes")
    extracted = hmac.digest(salt or bytes(_HASH_BYTES), secret, "sha256")
    key, block = b"", b""
    for counter in range(1, -(-length // _HASH_BYTES) + 1):
        block = hmac.digest(extracted, block + info + bytes([counter]), "sha256")
        key += block
    return key[:length]
