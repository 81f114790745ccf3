"""Sitemaps (sitemaps.org): the pages of a site, or further sitemaps."""

from __future__ import annotations

import hashlib
import html
import re
from typing import Final
from urllib.parse import urlsplit

from fencepost.kernel.links import is_web_address

MAX_PAGES: Final = 500
"""Of one document: each page is a document of its own."""
MAX_SITEMAPS: Final = 20
"""That an index of sitemaps may name."""

_LOCATION: Final = re.compile(r"<loc>\s*(?:<!\[CDATA\[)?\s*([^<\]\s]{1,2048})\s*(?:\]\]>)?\s*</loc>", re.IGNORECASE)
_INDEX: Final = re.compile(r"<sitemapindex[\s>]", re.IGNORECASE)
_HASH_CHARACTERS: Final = 16


def is_index(sitemap: str) -> bool:
    """Tell whether it names further sitemaps, and no pages."""
    return bool(_INDEX.search(sitemap))


def locations(sitemap: str, source: str, limit: int) -> tuple[str, ...]:
    """Return the addresses that it names, each once, in their order, up to `limit`.

    Those on another host than its own are left out, as the protocol has it: nobody names others' pages as a site's.
    """
    host = urlsplit(source).netloc
    found = (html.unescape(match[1]) for match in _LOCATION.finditer(sitemap))
    own = dict.fromkeys(url for url in found if is_web_address(url) and urlsplit(url).netloc == host)
    return tuple(own)[:limit]


def child_id(parent: str, url: str) -> str:
    """Return the id of the document that a sitemap's page is: the same for as long as the page has this address."""
    return f"{parent}-{hashlib.sha256(url.encode()).hexdigest()[:_HASH_CHARACTERS]}"
