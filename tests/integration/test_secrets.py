"""Secrets from the emulated Secrets Manager."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from fencepost.kernel.aws import secrets
from fencepost.kernel.aws.secrets import SecretKeys
from fencepost.kernel.errors import FencepostError
from local.emulator import Emulator


@pytest.fixture
def emulated(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[Emulator]:
    monkeypatch.setenv("AWS_ENDPOINT_URL", emulator.endpoint_url)
    _forget()
    yield emulator
    _forget()


def _forget() -> None:
    for made in (secrets._client, secrets._provider, secrets._previous):
        made.cache_clear()


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


def test_the_ring_holds_the_secret_before_the_last_rotation(emulated: Emulator) -> None:
    name, manager = f"signing-{uuid4()}", emulated.client("secretsmanager")
    manager.create_secret(Name=name, SecretString="first")
    keys = SecretKeys(name)
    first = keys.derive("tokens")
    assert keys.ring("tokens") == (first,)
    manager.put_secret_value(SecretId=name, SecretString="second")
    assert keys.ring("tokens") == (first,), "copies are kept"
    second, previous = keys.ring("tokens", refresh=True)
    assert previous == first != second == keys.derive("tokens")
    manager.put_secret_value(SecretId=name, SecretString="third")
    assert keys.ring("tokens", refresh=True) == (keys.derive("tokens"), second)


def test_an_absent_secret_has_no_ring(emulated: Emulator) -> None:
    with pytest.raises(FencepostError, match=r"^misconfigured$"):
        SecretKeys("no-such-secret").ring("tokens")


def test_that_a_secret_was_never_rotated_is_remembered(emulated: Emulator) -> None:
    name = f"signing-{uuid4()}"
    emulated.client("secretsmanager").create_secret(Name=name, SecretString="first")
    keys, sent = SecretKeys(name), list[str]()
    secrets._client().meta.events.register(
        "before-call.secretsmanager", lambda params, **_: sent.append(params["headers"]["X-Amz-Target"])
    )
    for _ in range(3):
        keys.ring("tokens")
    assert sent == ["secretsmanager.GetSecretValue"] * 2
