"""Request limits of client addresses: rates in fixed UTC windows, and which address a request is counted under.

No exception in this module carries an address.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from fencepost.kernel.errors import ErrorCode, FencepostError


class Counter(StrEnum):
    """Separate counters of an address: requests that may call the model, and all others."""

    CHAT = "chat"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Most requests of one address in each window, and the counter that they are counted in."""

    per_minute: int
    per_day: int
    counter: Counter = Counter.CHAT


EDGE_PROOF_HEADER = "x-fencepost-edge"
VIEWER_ADDRESS_HEADER = "cloudfront-viewer-address"

# A visitor owns a /64 of IPv6: any host in it can take any of its addresses (RFC 6177).
_IPV6_PREFIX = 64
_HIGHEST_PORT = 65_535
# Networks whose last 32 bits are an IPv4 host: IPv4-mapped and IPv4-compatible (RFC 4291), IPv4-translated (RFC 7915,
# RFC 2765) and the well-known prefix of NAT64 (RFC 6052). Counted by /64, all of IPv4 would share one counter.
_IPV4_IN_LAST_BITS = tuple(
    IPv6Network(network) for network in ("::ffff:0:0/96", "::/96", "::ffff:0:0:0/96", "64:ff9b::/96")
)
_NOT_A_HOST = 1  # `::` and `::1` are in ::/96, but not IPv4 hosts.


def client_address(source_ip: str, headers: Mapping[str, str], edge_secret: Callable[[], str | None]) -> str:
    """Return the canonical address that a request is counted under.

    It is the gateway's peer, unless the shared secret proves that CloudFront sent the request; then it is the viewer
    that CloudFront names. No other header is trusted.

    Args:
        source_ip: the peer in the gateway's request context.
        headers: by lower-case name.
        edge_secret: reads the shared secret; called only for requests with its header, because reading may cost money.

    Raises:
        FencepostError: `rate_limit_unavailable` if there is no valid address (fail closed).
    """
    proven = _is_from_edge(headers, edge_secret)
    try:
        return viewer_address(headers.get(VIEWER_ADDRESS_HEADER, "")) if proven else canonical(source_ip)
    except ValueError:
        raise FencepostError(ErrorCode.RATE_LIMIT_UNAVAILABLE) from None


def viewer_address(header: str) -> str:
    """Return the canonical address in a `CloudFront-Viewer-Address` header, which is `ip:port`.

    IPv6 addresses have no brackets; the port follows the last colon.

    Raises:
        ValueError: the header is malformed.
    """
    host, colon, port = header.rpartition(":")
    if not (colon and port.isascii() and port.isdigit() and int(port) <= _HIGHEST_PORT):
        raise ValueError("not an address and a port")
    return canonical(host)


def canonical(text: str) -> str:
    """Return the form in which an address is counted.

    IPv4 addresses are unchanged. IPv6 addresses become their /64, without zone. All forms that carry an IPv4 host
    become that host: mapped, compatible, translated and NAT64 addresses, and 6to4 (RFC 3056) and Teredo (RFC 4380),
    where one host owns many /64s or many hosts share one.

    Raises:
        ValueError: the text is not an IP address.
    """
    try:
        address = ip_address(text)
    except ValueError:
        raise ValueError("not an IP address") from None
    host = address if isinstance(address, IPv4Address) else _embedded(address)
    if host is not None:
        return str(host)
    return str(IPv6Network((int(address), _IPV6_PREFIX), strict=False))


def _is_from_edge(headers: Mapping[str, str], edge_secret: Callable[[], str | None]) -> bool:
    offered = headers.get(EDGE_PROOF_HEADER)
    if not offered:
        return False
    expected = edge_secret() or ""
    # An empty secret never equals the header.
    return hmac.compare_digest(_bytes(offered), _bytes(expected))


def _bytes(text: str) -> bytes:
    # A header from JSON may hold a lone surrogate.
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
