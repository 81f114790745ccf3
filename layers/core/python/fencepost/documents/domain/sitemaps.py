"""Sitemaps (sitemaps.org): lists of a site's pages, or of further sitemaps."""

from __future__ import annotations

import hashlib
import html
import re
from typing import Final
from urllib.parse import urlsplit

from fencepost.kernel.links import is_web_address

MAX_PAGES: Final = 500
"""Maximum number of pages of a sitemap. Each becomes a document."""
MAX_SITEMAPS: Final = 20
"""Maximum number of sitemaps that are read of a sitemap index."""

_LOCATION: Final = re.compile(r"<loc>\s*(?:<!\[CDATA\[)?\s*([^<\]\s]{1,2048})\s*(?:\]\]>)?\s*</loc>", re.IGNORECASE)
_INDEX: Final = re.compile(r"<sitemapindex[\s>]", re.IGNORECASE)
_HASH_CHARACTERS: Final = 16


def is_index(sitemap: str) -> bool:
    """Tell whether a sitemap is an index, which lists sitemaps instead of pages."""
    return bool(_INDEX.search(sitemap))


def locations(sitemap: str, source: str, limit: int) -> tuple[str, ...]:
    """Return the distinct addresses that a sitemap lists, in order.

    Addresses on other hosts are left out: the protocol forbids them, so that no site can list another's pages.

    Args:
        sitemap: text of the sitemap.
        source: address of the sitemap.
        limit: maximum number of addresses.
    """
    host = urlsplit(source).netloc
    found = (html.unescape(match[1]) for match in _LOCATION.finditer(sitemap))
    own = dict.fromkeys(url for url in found if is_web_address(url) and urlsplit(url).netloc == host)
    return tuple(own)[:limit]


def child_id(parent: str, url: str) -> str:
    """Return the id of the document of a sitemap's page. It depends only on the sitemap's id and the address."""
    return f"{parent}-{hashlib.sha256(url.encode()).hexdigest()[:_HASH_CHARACTERS]}"
