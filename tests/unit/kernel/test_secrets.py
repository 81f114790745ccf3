"""Keys from secrets, over a fake of the secret store."""

from __future__ import annotations

import pytest

from fencepost.kernel.aws.secrets import SecretKeys, SecretUnavailable
from fencepost.kernel.errors import ErrorCode, FencepostError


class Vault:
    """Holds secrets, and remembers which were read past the cache."""

    def __init__(self, **values: str) -> None:
        self.values = values
        self.read_anew: list[str] = []

    def read(self, name: str, refresh: bool) -> str:
        if refresh:
            self.read_anew.append(name)
        if name not in self.values:
            raise SecretUnavailable
        return self.values[name]


def test_keys_of_different_purposes_differ_and_stay() -> None:
    keys = SecretKeys("signing", read=Vault(signing="s3cret").read)
    assert keys.derive("history") == keys.derive("history") != keys.derive("fence")
    assert len(keys.derive("history")) == 32


def test_a_rotated_signing_secret_gives_other_keys() -> None:
    vault = Vault(signing="old")
    keys = SecretKeys("signing", read=vault.read)
    old = keys.derive("history")
    vault.values["signing"] = "new"
    assert keys.derive("history") != old


@pytest.mark.parametrize("named", ["", "absent", "empty", "placeholder"])
def test_a_signing_secret_that_cannot_be_read_is_a_misconfiguration(named: str) -> None:
    keys = SecretKeys(named, read=Vault(empty="", placeholder="not-set").read)
    with pytest.raises(FencepostError) as failed:
        keys.derive("history")
    assert failed.value.code is ErrorCode.MISCONFIGURED
    assert failed.value.args == ("misconfigured",)


def test_the_providers_key_comes_from_its_secret_where_one_is_named() -> None:
    vault = Vault(provider="from-the-vault")
    assert (
        SecretKeys("signing", "provider", api_key="from-the-laptop", read=vault.read).provider_key() == "from-the-vault"
    )
    assert SecretKeys("signing", api_key="from-the-laptop", read=vault.read).provider_key() == "from-the-laptop"


@pytest.mark.parametrize(
    "keys",
    [
        SecretKeys("signing", "provider", api_key="unused", read=Vault(provider="not-set").read),
        SecretKeys("signing", "provider", api_key="unused", read=Vault(provider="").read),
        SecretKeys("signing", "provider", api_key="unused", read=Vault().read),
        SecretKeys("signing", read=Vault().read),
    ],
    ids=["placeholder", "empty", "unreadable", "not configured"],
)
def test_without_a_provider_key_it_is_a_misconfiguration(keys: SecretKeys) -> None:
    with pytest.raises(FencepostError, match=r"^misconfigured$"):
        keys.provider_key()


@pytest.mark.parametrize("held", ["key\n", " key ", "\tkey\r\n"])
def test_white_space_around_what_becomes_a_header_is_dropped(held: str) -> None:
    vault = Vault(provider=held, edge=held)
    keys = SecretKeys("signing", "provider", "edge", read=vault.read)
    assert (keys.provider_key(), keys.edge_secret()) == ("key", "key")
    assert SecretKeys("signing", api_key=held, read=vault.read).provider_key() == "key"


@pytest.mark.parametrize("held", ["k\ney", "k y", "k\x00ey", "kéy", "key\u200b", "k\x7f", " \n", "not-set\n"])
def test_what_no_header_can_carry_is_a_misconfiguration(held: str) -> None:
    vault = Vault(provider=held, edge=held)
    keys = SecretKeys("signing", "provider", "edge", read=vault.read)
    for read in (keys.provider_key, keys.edge_secret, SecretKeys("signing", api_key=held).provider_key):
        with pytest.raises(FencepostError, match=r"^misconfigured$"):
            read()


def test_a_signing_secret_may_hold_anything() -> None:
    vault = Vault(plain="s3cret", spaced=" s3cret é\n")
    assert SecretKeys("spaced", read=vault.read).derive("x") != SecretKeys("plain", read=vault.read).derive("x")


def test_a_refused_key_is_read_past_the_cache() -> None:
    vault = Vault(provider="key")
    SecretKeys("signing", "provider", read=vault.read).refresh_provider_key()
    SecretKeys("signing", api_key="key", read=vault.read).refresh_provider_key()
    assert vault.read_anew == ["provider"]


def test_without_an_edge_there_is_no_edge_secret() -> None:
    assert SecretKeys("signing", read=Vault().read).edge_secret() is None
    assert SecretKeys("signing", edge_secret="edge", read=Vault(edge="e").read).edge_secret() == "e"


def test_a_ring_holds_the_current_key_and_the_one_before_it() -> None:
    vault, earlier = Vault(signing="new"), Vault(signing="old")
    keys = SecretKeys("signing", read=vault.read, read_previous=earlier.read)
    current, previous = keys.ring("tokens")
    assert current == keys.derive("tokens") == SecretKeys("signing", read=vault.read).derive("tokens")
    assert previous == SecretKeys("signing", read=earlier.read).derive("tokens")
    keys.ring("tokens", refresh=True)
    assert vault.read_anew == earlier.read_anew == ["signing"]


def test_a_secret_that_was_never_rotated_has_a_ring_of_one() -> None:
    keys = SecretKeys("signing", read=Vault(signing="only").read, read_previous=lambda name, refresh: "")
    assert keys.ring("tokens") == (keys.derive("tokens"),)


def test_a_previous_secret_that_cannot_be_read_is_a_misconfiguration() -> None:
    with pytest.raises(FencepostError, match=r"^misconfigured$"):
        SecretKeys("signing", read=Vault(signing="new").read, read_previous=Vault().read).ring("tokens")
