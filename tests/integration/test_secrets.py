"""Secrets from the emulated Secrets Manager."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from fencepost.adapters import secrets
from fencepost.adapters.secrets import SecretKeys
from fencepost.domain.errors import FencepostError
from local.emulator import Emulator


@pytest.fixture
def emulated(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Emulator]:
    monkeypatch.setenv("AWS_ENDPOINT_URL", emulator.endpoint_url)
    secrets._provider.cache_clear()
    yield emulator
    secrets._provider.cache_clear()


def test_a_rotated_key_is_followed_at_once_when_asked_for(emulated: Emulator) -> None:
    name, manager = f"provider-{uuid4()}", emulated.client("secretsmanager")
    manager.create_secret(Name=name, SecretString="old")
    keys = SecretKeys("signing", name)
    assert keys.provider_key() == "old"
    manager.put_secret_value(SecretId=name, SecretString="new")
    assert keys.provider_key() == "old"
    keys.refresh_provider_key()
    assert keys.provider_key() == "new"


def test_an_absent_secret_is_a_misconfiguration_that_does_not_name_it(emulated: Emulator) -> None:
    with pytest.raises(FencepostError) as failed:
        SecretKeys("no-such-secret").derive("history")
    assert failed.value.args == ("misconfigured",)
    assert failed.value.__suppress_context__
