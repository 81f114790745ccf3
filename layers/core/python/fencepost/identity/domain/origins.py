"""Web origins, parsed and compared as browsers do: scheme, host and port.

Source: RFC 6454 (the web origin concept) and the serialisation of origins in the Fetch standard.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?\.?|\[[0-9a-f:.]+\]")


@dataclass(frozen=True, slots=True)
class Origin:
    """A (scheme, host, port) triple; equal triples are the same origin."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        """Serialise it as browsers do: without the scheme's default port."""
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"


def parse_origin(text: str) -> Origin:
    """Parse a serialised origin such as `https://shop.example:8443`.

    Hosts fold to lower case, and the scheme's default port equals none; a trailing dot stays, since to a browser
    `a.example.` is another host than `a.example`.

    Raises:
        ValueError: for anything else than scheme, host and optional port, `null` and `*` among it.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError("not an origin") from None
    host = parts.netloc.rsplit(":", 1)[0] if port is not None else parts.netloc
    if (
        parts.scheme not in _DEFAULT_PORTS
        or not _HOST.fullmatch(host.lower())
        or text.lower() != f"{parts.scheme}://{parts.netloc}".lower()
    ):
        raise ValueError("not an origin")
    return Origin(parts.scheme, host.lower(), port if port is not None else _DEFAULT_PORTS[parts.scheme])
