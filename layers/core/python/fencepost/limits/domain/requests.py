"""Limits on the requests of one client address, in fixed UTC windows."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from fencepost.kernel.errors import ErrorCode, FencepostError


class Counter(StrEnum):
    """What is counted apart of an address: the requests that may call the model, and all others."""

    CHAT = "chat"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Requests that one address may make in each window, and the counter that they fill."""

    per_minute: int
    per_day: int
    counter: Counter = Counter.CHAT


EDGE_PROOF_HEADER = "x-fencepost-edge"
VIEWER_ADDRESS_HEADER = "cloudfront-viewer-address"

# One visitor's share of IPv6 is a /64: any host in it can take any of its addresses (RFC 6177).
_IPV6_PREFIX = 64
_HIGHEST_PORT = 65_535
# Networks whose last 32 bits are an IPv4 host: IPv4-mapped and IPv4-compatible (RFC 4291), IPv4-translated (RFC 7915,
# RFC 2765) and the well-known prefix of NAT64 (RFC 6052). Counted by /64, all of IPv4 would share one counter.
_IPV4_IN_LAST_BITS = tuple(
    IPv6Network(network) for network in ("::ffff:0:0/96", "::/96", "::ffff:0:0:0/96", "64:ff9b::/96")
)
_NOT_A_HOST = 1  # `::` and `::1` lie in ::/96 and stand for no IPv4 host.


def canonical(text: str) -> str:
    """Return the form in which an address is counted.

    IPv4 stays as it is. IPv6 becomes its /64, without zone. Every form that carries an IPv4 host becomes that host:
    the mapped, compatible, translated and NAT64 forms, and 6to4 (RFC 3056) and Teredo (RFC 4380), where one host owns
    many /64s or many hosts share one.

    Raises:
        ValueError: the text is no IP address.
    """
    try:
        address = ip_address(text)
    except ValueError:
        raise ValueError("not an IP address") from None
    host = address if isinstance(address, IPv4Address) else _embedded(address)
    if host is not None:
        return str(host)
    return str(IPv6Network((int(address), _IPV6_PREFIX), strict=False))


def viewer_address(header: str) -> str:
    """Return the canonical address of a `CloudFront-Viewer-Address` header, `ip:port`.

    IPv6 comes without brackets: the last colon is the port's.

    Raises:
        ValueError: it is not of that form.
    """
    host, colon, port = header.rpartition(":")
    if not (colon and port.isascii() and port.isdigit() and int(port) <= _HIGHEST_PORT):
        raise ValueError("not an address and a port")
    return canonical(host)


def client_address(source_ip: str, headers: Mapping[str, str], edge_secret: Callable[[], str | None]) -> str:
    """Return the canonical address of the client.

    It is the gateway's peer, unless the shared secret proves that CloudFront sent the request: then it is what
    CloudFront says of its viewer, and nothing else. No other header is ever believed.

    Args:
        source_ip: the peer in the gateway's request context.
        headers: by lower-case name.
        edge_secret: reads the shared secret; called only when a request bears the header, since reading may cost.

    Raises:
        FencepostError: `rate_limit_unavailable` when there is no address that could be counted: fail closed.
    """
    proven = _is_from_edge(headers, edge_secret)
    try:
        return viewer_address(headers.get(VIEWER_ADDRESS_HEADER, "")) if proven else canonical(source_ip)
    except ValueError:
        raise FencepostError(ErrorCode.RATE_LIMIT_UNAVAILABLE) from None


def _is_from_edge(headers: Mapping[str, str], edge_secret: Callable[[], str | None]) -> bool:
    offered = headers.get(EDGE_PROOF_HEADER)
    if not offered:
        return False
    expected = edge_secret() or ""
    # An empty one equals nothing that was offered.
    return hmac.compare_digest(_bytes(offered), _bytes(expected))


def _bytes(text: str) -> bytes:
    # A header taken from JSON may hold a lone surrogate.
    return text.encode("utf-8", "surrogatepass")


def _embedded(address: IPv6Address) -> IPv4Address | None:
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    number = int(address)
    if number > _NOT_A_HOST and any(address in network for network in _IPV4_IN_LAST_BITS):
        return IPv4Address(number & 0xFFFF_FFFF)
    return None
