"""The fence around everything that strangers wrote.

    <untrusted-context nonce="…" source="doc:guide/install#3" title="Install › Linux">
    …
    </untrusted-context>

The nonce is what a fence cannot be forged without; that no other text in the prompt even looks like the tag is what
spares the model the comparison. The fence makes injection harder, and no more: it is not a boundary.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import re
from functools import lru_cache

from fencepost.domain.documents import Section
from fencepost.domain.text import fold, visible

TAG = "untrusted-context"
HARMLESS_TAG = "quoted-tag"
"""What the tag's name becomes where content uses it."""
NONCE_CHARACTERS = 32
"""Hexadecimal, so 128 bits."""

# Everything that reads as an opening angle bracket, the entities for it, and the escapes of JSON, CSS and URLs.
_BRACKET = re.compile(
    r"[<＜﹤‹〈⟨〈❬❮❰⧼«《≪ᐸ˂≺⋖⪡≮]|&(?:amp;)*(?:lt|LT|#0{0,9}60|#[xX]0{0,9}3[cC]);?|\\(?:u00|x)?3[cC]|%(?:25)*3[cC]"
)
_ENTITY = re.compile(r"&(?:amp;)*(#\d{1,9}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z]{2,20});?")
_NAME = tuple(fold(character) for character in TAG if character != "-")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def derive_nonce(key: bytes, content_hash: str) -> str:
    """Return the nonce of a cached prefix: the same while the content is, and beyond any author's guess.

    Args:
        key: 32 bytes for this purpose alone.
        content_hash: of the whole content, so that whoever changes the content changes the nonce.
    """
    return hmac.new(key, content_hash.encode(), hashlib.sha256).hexdigest()[:NONCE_CHARACTERS]


def fenced(section: Section, nonce: str) -> str:
    """Return the section in its fence, with a line end after it."""
    source, title = attribute(f"doc:{section.id}", nonce), attribute(section.title, nonce)
    content = harmless(section.text, nonce)
    end = "" if content.endswith("\n") else "\n"
    return f'<{TAG} nonce="{nonce}" source="{source}" title="{title}">\n{content}{end}</{TAG}>\n'


def attribute(value: str, nonce: str) -> str:
    """Return the value as it may stand between double quotes in a tag, on one line."""
    return html.escape(harmless(_CONTROLS.sub(" ", value), nonce), quote=True)


def harmless(content: str, *nonces: str) -> str:
    """Return the content without the nonces and without anything that reads as a fence's tag.

    Only the name inside a look-alike changes, to `quoted-tag`; a look-alike may use any case, white space, line ends,
    invisible characters, look-alike letters and brackets, entities and escapes. Other text stays as it is.
    """
    for nonce in nonces:
        content = content.replace(nonce, "[nonce]")
    pieces, position = [], 0
    for bracket in _BRACKET.finditer(content):
        span = _name_after(content, bracket.end())
        if span and span[0] >= position:
            pieces += [content[position : span[0]], HARMLESS_TAG]
            position = span[1]
    return "".join([*pieces, content[position:]])


def _name_after(content: str, position: int) -> tuple[int, int] | None:
    """Return where the tag's name stands if it is the first thing to be read from here on."""
    start, matched = position, 0
    while position < len(content) and matched < len(_NAME):
        letter, end = _read(content, position)
        if letter == _NAME[matched]:
            start = start if matched else position
            matched += 1
        elif letter:
            return None
        position = end
    return (start, position) if matched == len(_NAME) else None


def _read(content: str, position: int) -> tuple[str, int]:
    """Return the next letter or bracket as it is read, empty for what is passed over, and where it ends."""
    if content[position] == "&" and (match := _ENTITY.match(content, position)):
        decoded = html.unescape(f"&{match[1]};")
        if len(decoded) == 1:
            return _letter(decoded), match.end()
    return _letter(content[position]), position + 1


@lru_cache(maxsize=4_096)
def _letter(character: str) -> str:
    """Return what a reader sees of the character: nothing of white space, dashes, slashes and what is invisible."""
    seen = fold(visible(character))
    return seen if seen.isalnum() or _BRACKET.match(character) else ""
