"""Addresses and titles taken from documents: written by strangers, shown to visitors."""

from __future__ import annotations

import html
import re
import unicodedata
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

MAX_ADDRESS_CHARACTERS = 2_048
MAX_TITLE_CHARACTERS = 120

_NOWHERE = "https://nowhere.invalid/"
"""Nothing is resolved against it: an absolute address needs no base."""
_PLAIN = re.compile(r"https?://([^\s/?#@:\[\]]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[^\s?#]*)?")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKDOWN_SUFFIX = re.compile(r"(/index)?\.mdx?$|/index\.html$")
_IMAGE = re.compile(r"!\[[^\[\]]*\]\([^()]*\)")
_LINK = re.compile(r"\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)")
_TAG = re.compile(r"(?<!\w)</?[A-Za-z][^<>]*>|<!--[^<>]*-->")
_ANCHOR = re.compile(r"\{#[\w-]+\}\s*$")
# What opens a link, a tag or a code span in Markdown becomes a character that only looks like it.
_INERT = str.maketrans({"[": "(", "]": ")", "<": "‹", ">": "›", "`": "'", "\\": "/", "|": "¦"})


def is_plain_address(text: str) -> bool:
    """Tell whether a text is an http(s) address without user, query and fragment."""
    try:
        return bool(_PLAIN.fullmatch(text)) and urlsplit(text).port != 0
    except ValueError:
        # The port is too large, or what stands in brackets is no IPv6 address.
        return False


def site_base(site_url: str) -> str:
    """Return the folder that a site's pages stand under, with a trailing slash: `https://a.example/docs/`."""
    parts = urlsplit(site_url)
    path = parts.path.rpartition("/")[0] if parts.path.endswith(".txt") else parts.path.rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc, f"{path}/", "", ""))


def web_address(target: str, base: str) -> str | None:
    """Resolve an address against the site.

    A path from the root that lies outside the site's own folder is taken to lack it, as generators leave it out.

    Args:
        target: as it stood in the document, Markdown escapes included.
        base: made by `site_base`.

    Returns:
        An absolute http(s) address, percent-encoded so that it is inert in Markdown and HTML; None for anything else.
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
    """Whether `url` is what `web_address` returns: absolute, http(s), inert."""
    return bool(url) and safe_url(url) == url


def safe_url(url: str) -> str:
    """Return an absolute http(s) address as `web_address` does; empty for whatever is none."""
    return (web_address(url, _NOWHERE) or "") if url.startswith(("http://", "https://")) else ""


def page_address(url: str) -> str:
    """Return the address of the page that readers see, not of its Markdown source, without a fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, _MARKDOWN_SUFFIX.sub("", parts.path), parts.query, ""))


def plain_text(markdown: str) -> str:
    """Return a heading's words: one line, no markup, no invisible characters, nothing that Markdown would act on."""
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
