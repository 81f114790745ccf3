"""Sanitise addresses and titles from documents, which third parties write and visitors see."""

from __future__ import annotations

import html
import re
import unicodedata
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

MAX_ADDRESS_CHARACTERS = 2_048
MAX_TITLE_CHARACTERS = 120

_NOWHERE = "https://nowhere.invalid/"
"""Base of absolute addresses, which need none."""
_PLAIN = re.compile(r"https?://([^\s/?#@:\[\]]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[^\s?#]*)?")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKDOWN_SUFFIX = re.compile(r"(/index)?\.mdx?$|/index\.html$")
_IMAGE = re.compile(r"!\[[^\[\]]*\]\([^()]*\)")
_LINK = re.compile(r"\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)")
_TAG = re.compile(r"(?<!\w)</?[A-Za-z][^<>]*>|<!--[^<>]*-->")
_ANCHOR = re.compile(r"\{#[\w-]+\}\s*$")
# Characters that begin a link, a tag or a code span in Markdown, with similar characters to replace them.
_INERT = str.maketrans({"[": "(", "]": ")", "<": "‹", ">": "›", "`": "'", "\\": "/", "|": "¦"})


def is_plain_address(text: str) -> bool:
    """Tell whether a text is an http(s) URL without user, query and fragment."""
    try:
        return bool(_PLAIN.fullmatch(text)) and urlsplit(text).port != 0
    except ValueError:
        # The port is too large, or the brackets do not contain an IPv6 address.
        return False


def site_base(site_url: str) -> str:
    """Return the URL of the folder that contains a site's pages, such as `https://a.example/docs/`."""
    parts = urlsplit(site_url)
    path = parts.path.rpartition("/")[0] if parts.path.endswith(".txt") else parts.path.rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc, f"{path}/", "", ""))


def web_address(target: str, base: str) -> str | None:
    """Resolve a link of a document against its site.

    An absolute path outside the site's folder is taken as relative to the folder, which generators often omit.

    Args:
        target: link target as in the document, with Markdown escapes.
        base: the result of `site_base`.

    Returns:
        An absolute http(s) URL, percent-encoded to be safe in Markdown and HTML; None for any other target.
    """
    target = _ESCAPED.sub(r"\1", target.strip().strip("<>\"'`"))
    if not target or len(target) > MAX_ADDRESS_CHARACTERS or not target.isprintable() or " " in target:
        return None
    folder = urlsplit(base).path
    if target.startswith("/") and not target.startswith(("//", folder)) and f"{target}/" != folder:
        target = folder + target.lstrip("/")
    try:
        parts = urlsplit(urljoin(base, target))
        allowed = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return _encoded(parts.scheme, parts.netloc, parts.path, parts.query, parts.fragment) if allowed else None


def is_web_address(url: str) -> bool:
    """Tell whether a URL is one that `web_address` returns: absolute, http(s), safe in Markdown and HTML."""
    return bool(url) and safe_url(url) == url


def safe_url(url: str) -> str:
    """Return an absolute http(s) URL as `web_address` does; empty for any other text."""
    return (web_address(url, _NOWHERE) or "") if url.startswith(("http://", "https://")) else ""


def page_address(url: str) -> str:
    """Return the URL of the rendered page of a Markdown source, without fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, _MARKDOWN_SUFFIX.sub("", parts.path), parts.query, ""))


def plain_text(markdown: str) -> str:
    """Return a heading as one line of plain text, without markup or invisible characters, safe in Markdown."""
    text = _ANCHOR.sub("", markdown[: 4 * MAX_TITLE_CHARACTERS])
    text = _LINK.sub(r"\1", _IMAGE.sub("", text)).replace("`", "").replace("**", "")
    text = html.unescape(_TAG.sub("", text)).translate(_INERT)
    text = "".join(character for character in text if _visible(character))
    return " ".join(text.split())[:MAX_TITLE_CHARACTERS].strip(" *_#")


def _visible(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn")


def _encoded(scheme: str, host: str, path: str, query: str, fragment: str) -> str | None:
    if not re.fullmatch(r"[\w.:\[\]-]+", host):
        return None
    safe = "/%:@!$&+,;=~-._"
    return urlunsplit((scheme, host, quote(path, safe), quote(query, f"{safe}?"), quote(fragment, f"{safe}?")))
