"""Secrets from AWS Secrets Manager, through the cache of Powertools parameters."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.hkdf import hkdf_sha256

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.parameters import SecretsProvider

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


class SecretKeys:
    """Implements `fencepost.ports.Keys`.

    A rotated signing secret begins new counts per address, and ends the signatures of earlier answers.

    Args:
        signing_secret: the name or ARN of the secret from which keys are derived.
        provider_secret: the same of the provider's key; empty uses `api_key`.
        edge_secret: the same of what CloudFront sends; empty where no CloudFront stands in front.
        api_key: the provider's key itself, for a laptop.
        read: reads a secret; by default from Secrets Manager.
    """

    def __init__(
        self,
        signing_secret: str,
        provider_secret: str = "",
        edge_secret: str = "",
        api_key: str = "",
        read: ReadSecret | None = None,
    ) -> None:
        self._signing_secret = signing_secret
        self._provider_secret = provider_secret
        self._edge_secret = edge_secret
        self._api_key = api_key
        self._read = read or read_secret

    def derive(self, purpose: str) -> bytes:
        """See `fencepost.ports.Keys`."""
        return hkdf_sha256(self._value(self._signing_secret).encode(), salt=_SALT, info=purpose.encode())

    def provider_key(self) -> str:
        """See `fencepost.ports.Keys`. The placeholder counts as none, and so does what no header can carry."""
        return _header(self._value(self._provider_secret) if self._provider_secret else _present(self._api_key))

    def edge_secret(self) -> str | None:
        """See `fencepost.ports.Keys`.

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
    from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError

    try:
        value = _provider().get(name, max_age=MAX_AGE_SECONDS, force_fetch=anew)
    except GetParameterError:
        raise SecretUnavailable from None
    if not isinstance(value, str):
        raise SecretUnavailable
    return value


@cache
def _provider() -> SecretsProvider:
    """Make the provider at the first use: it imports the SDK."""
    from aws_lambda_powertools.utilities.parameters import SecretsProvider
    from boto3.session import Session
    from botocore.config import Config

    config = Config(
        connect_timeout=_CONNECT_TIMEOUT_SECONDS,
        read_timeout=_READ_TIMEOUT_SECONDS,
        retries={"total_max_attempts": _ATTEMPTS, "mode": "legacy"},
    )
    return SecretsProvider(boto_config=config, boto3_session=Session())


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
