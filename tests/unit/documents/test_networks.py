"""Which addresses may be fetched: a table of hostile ones, and properties over whole networks."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.documents.domain.networks import may_fetch

REFUSED_V4 = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "168.63.129.16/32",
]
REFUSED_V6 = [
    "::/96",
    "::ffff:0:0/96",
    "64:ff9b:1::/48",
    "100::/64",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
]
METADATA = ["169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254"]
PUBLIC = ["8.8.8.8", "1.1.1.1", "93.184.215.14", "172.15.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450:4001::8"]


def inside(networks: list[str]) -> st.SearchStrategy[str]:
    """Draw addresses from within the networks."""
    drawn = [st.ip_addresses(network=ip_network(network)).map(str) for network in networks]
    return st.one_of(drawn)


@given(inside(REFUSED_V4 + REFUSED_V6))
def test_no_special_network_may_be_fetched(address: str) -> None:
    assert not may_fetch(address)


@given(inside([network for network in REFUSED_V4 + REFUSED_V6 if network not in ("127.0.0.0/8", "::/96")]))
def test_the_loopback_allowance_opens_nothing_but_loopback(address: str) -> None:
    assert not may_fetch(address, allow_loopback=True)


@given(inside(["127.0.0.0/8", "::1/128"]))
def test_loopback_needs_the_allowance(address: str) -> None:
    assert not may_fetch(address)
    assert may_fetch(address, allow_loopback=True)


@given(inside(REFUSED_V4))
def test_an_address_is_refused_in_every_ipv6_disguise(address: str) -> None:
    number = int(IPv4Address(address))
    disguises = [
        IPv6Address((0xFFFF << 32) | number),  # mapped
        IPv6Address(number),  # compatible
        IPv6Address((0x0064_FF9B << 96) | number),  # NAT64
        IPv6Address((0x2002 << 112) | (number << 80)),  # 6to4
        IPv6Address((0x2001_0000 << 96) | (number ^ 0xFFFF_FFFF)),  # Teredo
    ]
    assert not any(may_fetch(str(disguise), allow_loopback=True) for disguise in disguises if int(disguise) != 1)


@given(st.ip_addresses(v=4).map(str))
def test_nat64_allows_exactly_what_the_embedded_address_allows(address: str) -> None:
    assert may_fetch(f"64:ff9b::{address}") == may_fetch(address)


@given(st.ip_addresses(v=6))
def test_whatever_passes_is_global_unicast(address: IPv6Address) -> None:
    if may_fetch(str(address)):
        assert address in ip_network("2000::/3") or address in ip_network("64:ff9b::/96")
        assert address.ipv4_mapped is None
        assert address.sixtofour is None
        assert address.teredo is None


@given(st.text())
def test_what_is_no_address_is_refused(text: str) -> None:
    try:
        ip_address(text)
    except ValueError:
        assert not may_fetch(text, allow_loopback=True)


@pytest.mark.parametrize("address", METADATA)
def test_cloud_metadata_is_refused(address: str) -> None:
    assert not may_fetch(address, allow_loopback=True)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_pass(address: str) -> None:
    assert may_fetch(address)


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "0x7f000001", "010.0.0.1", "8.8.8.8:80", "2606:4700::1%1"])
def test_odd_spellings_and_scoped_addresses_are_refused(text: str) -> None:
    assert not may_fetch(text)
