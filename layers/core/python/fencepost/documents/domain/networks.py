"""Decides which resolved addresses may be connected to when a document is fetched.

The owner of a host name or of a redirect must not be able to direct a fetch into an internal network, so only global
unicast addresses are allowed, whatever name they were resolved from.

Source: the IANA special-purpose address registries (RFC 6890) as `ipaddress` knows them, RFC 4291 (global unicast is
2000::/3), RFC 6052 (NAT64), RFC 3056 and 4380 (6to4, Teredo). Where the registries call an anycast or an expired
transition block global, this module does not follow them.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

_LOOPBACK: dict[int, IPv4Network | IPv6Network] = {4: IPv4Network("127.0.0.0/8"), 6: IPv6Network("::1/128")}
_REFUSED_V4 = (
    IPv4Network("192.0.0.0/24"),  # protocol assignments, with port-control and TURN anycast
    IPv4Network("192.88.99.0/24"),  # 6to4 relays
    IPv4Network("168.63.129.16/32"),  # Azure's metadata and host services, on a public-looking address
)
_GLOBAL_V6 = IPv6Network("2000::/3")
_REFUSED_V6 = (
    IPv6Network("2001::/23"),  # protocol assignments, Teredo among them
    IPv6Network("2002::/16"),  # 6to4: an IPv4 address inside
    IPv6Network("3fff::/20"),  # documentation
)
_NAT64 = IPv6Network("64:ff9b::/96")
_EMBEDDED_V4 = 0xFFFF_FFFF


def may_fetch(address: str, *, allow_loopback: bool = False) -> bool:
    """Tell whether a document may be fetched from an address.

    Args:
        address: an IPv4 or IPv6 literal, as a resolver returns it; anything else is refused.
        allow_loopback: allow 127.0.0.0/8 and ::1 as well. For local development only.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if allow_loopback and parsed in _LOOPBACK[parsed.version]:
        return True
    return _is_global_v4(parsed) if isinstance(parsed, IPv4Address) else _is_global_v6(parsed)


def names_this_machine(host: str) -> bool:
    """Tell whether a host name means the local machine (RFC 6761, section 6.3), or is a loopback literal.

    Args:
        host: in lower case; an IPv6 literal without brackets.
    """
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        literal = ip_address(host)
    except ValueError:
        return False
    return literal in _LOOPBACK[literal.version]


def _is_global_v4(address: IPv4Address) -> bool:
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not any(address in network for network in _REFUSED_V4)
    )


def _is_global_v6(address: IPv6Address) -> bool:
    """Tell whether an address is global unicast. NAT64 addresses are judged by the IPv4 address that they embed.

    IPv4-mapped and -compatible forms lie outside 2000::/3, as do private, link-local and multicast addresses.
    """
    if address.scope_id is not None:
        return False
    if address in _NAT64:
        return _is_global_v4(IPv4Address(int(address) & _EMBEDDED_V4))
    return address in _GLOBAL_V6 and address.is_global and not any(address in network for network in _REFUSED_V6)
