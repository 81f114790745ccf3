"""Which client address counts, and in which form."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.limits.domain.requests import canonical, client_address, viewer_address

ipv4 = st.ip_addresses(v=4)
# Addresses that are no IPv4 host in disguise: the documentation prefix.
ipv6 = st.integers(0, 2**96 - 1).map(lambda low: IPv6Address((0x2001_0DB8 << 96) | low))


@given(ipv4)
def test_an_ipv4_host_counts_as_itself_in_every_form(host: IPv4Address) -> None:
    number = int(host)
    forms = [
        IPv6Address((0xFFFF << 32) | number),
        IPv6Address((0xFFFF << 48) | number),
        IPv6Address((0x0064_FF9B << 96) | number),
        IPv6Address((0x2002 << 112) | (number << 80) | 7),
        IPv6Address((0x2001_0000 << 96) | (0xC000_0201 << 64) | (number ^ 0xFFFF_FFFF)),
    ]
    assert {canonical(str(form)) for form in [host, *forms]} == {str(host)}


@given(ipv6, st.integers(0, 2**64 - 1))
def test_ipv6_counts_by_its_64_bit_prefix(address: IPv6Address, host: int) -> None:
    neighbour = IPv6Address((int(address) >> 64 << 64) | host)
    beyond = IPv6Address(int(address) ^ (1 << 64))
    assert canonical(str(address)) == canonical(str(neighbour)) != canonical(str(beyond))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("::203.0.113.7", "203.0.113.7"),
        ("2001:DB8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("::", "::/64"),
    ],
)
def test_forms(text: str, form: str) -> None:
    assert canonical(text) == form


@pytest.mark.parametrize(
    "text", ["", " 203.0.113.7", "203.0.113.07", "203.0.113", "1.2.3.4, 5.6.7.8", "test-invoke-source-ip", "::g", "1"]
)
def test_anything_else_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(ValueError, match=r"^not an IP address$"):
        canonical(text)


@pytest.mark.parametrize(
    ("header", "form"),
    [
        ("203.0.113.7:45629", "203.0.113.7"),
        ("2001:0db8:0001:0002:0000:0000:0000:0001:52325", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1:443", "2001:db8:1:2::/64"),
    ],
)
def test_the_viewers_address_stands_before_the_last_colon(header: str, form: str) -> None:
    assert viewer_address(header) == form


@pytest.mark.parametrize(
    "header",
    ["", "203.0.113.7", "203.0.113.7:", "203.0.113.7:x", "203.0.113.7:65536", "[2001:db8::1]:443", "1.2.3.4:٣"],
)
def test_a_malformed_viewer_header_is_refused(header: str) -> None:
    with pytest.raises(ValueError, match=r"^not an"):
        viewer_address(header)


PEER, VIEWER = "198.51.100.1", "203.0.113.7"
SECRET = "the edge's secret"


def secret() -> str:
    return SECRET


def never_read() -> str:
    raise AssertionError("read without need")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-forwarded-for": VIEWER},
        {"cloudfront-viewer-address": f"{VIEWER}:443"},
        {"x-fencepost-edge": "", "cloudfront-viewer-address": f"{VIEWER}:443"},
    ],
)
def test_without_proof_the_peer_counts_and_the_secret_is_not_read(headers: dict[str, str]) -> None:
    assert client_address(PEER, headers, never_read) == PEER


@pytest.mark.parametrize("offered", ["wrong", SECRET + " ", SECRET.upper(), "\ud800", "schlüssel"])
@pytest.mark.parametrize("edge_secret", [secret, lambda: None, lambda: ""])
def test_a_wrong_proof_counts_the_peer(offered: str, edge_secret: Callable[[], str | None]) -> None:
    headers = {"x-fencepost-edge": offered, "cloudfront-viewer-address": f"{VIEWER}:443"}
    assert client_address(PEER, headers, edge_secret) == PEER


def test_the_right_proof_counts_the_viewer() -> None:
    headers = {"x-fencepost-edge": SECRET, "cloudfront-viewer-address": f"{VIEWER}:443", "x-forwarded-for": "192.0.2.1"}
    assert client_address(PEER, headers, secret) == VIEWER


@pytest.mark.parametrize("viewer", [{}, {"cloudfront-viewer-address": "nonsense"}])
def test_the_edge_without_a_viewer_fails_closed(viewer: dict[str, str]) -> None:
    with pytest.raises(FencepostError) as failed:
        client_address(PEER, {"x-fencepost-edge": SECRET} | viewer, secret)
    assert failed.value.code is ErrorCode.RATE_LIMIT_UNAVAILABLE


def test_a_peer_that_is_no_address_fails_closed() -> None:
    with pytest.raises(FencepostError, match=r"^rate_limit_unavailable$"):
        client_address("test-invoke-source-ip", {}, never_read)
