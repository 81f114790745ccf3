"""Fences around untrusted text, the citable sections in them, and excerpts of prompts.

    <untrusted-context nonce="…" source="doc:guide/install#3" title="Install › Linux">
    …
    </untrusted-context>

A fence cannot be forged without the nonce. Text that looks like the tag is also changed everywhere else in the prompt,
so that the model need not compare nonces. A fence makes prompt injection harder; it is not a security boundary.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import re
import sys
from dataclasses import dataclass
from functools import lru_cache

from fencepost.kernel.text import fold, visible
from fencepost.model.domain import BLOCK_TOKENS, Source, count_tokens

TAG = "untrusted-context"
HARMLESS_TAG = "quoted-tag"
"""Replaces the tag's name in content."""
NONCE_CHARACTERS = 32
"""Hexadecimal digits: 128 bits."""

_BRACKETS = frozenset("<＜﹤‹〈⟨⟪〈❬❮❰⧼⦉⦑⦓«《≪⋘ᐸ˂˱≺⋖⪡≮⩹⩽≤⊲◀◁◂◃◄◅⏴⯇🞀ᚲ𝈶")
"""Characters that look like an opening angle bracket."""
# Brackets, the entities that HTML parses without a semicolon, and the characters that begin an escaped character.
_OPENING = re.compile(rf"[{''.join(_BRACKETS)}]|&(?:amp;)*(?:lt|LT|laquo);?|[&\\%]")
# An escaped character of HTML, of JSON, JavaScript, Python and CSS, or of URLs.
_WRITTEN = re.compile(
    r"&(?:amp;)*(#0*\d{1,7}|#[xX]0*[0-9a-fA-F]{1,6}|[A-Za-z]{2,31});?"
    r"|\\(?:[ux]\{0*([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([0-9a-fA-F]{1,6}))"
    r"|%(?:25)*([0-9a-fA-F]{2})"
)
_ENTITY = 1
_NAME = fold(TAG.replace("-", ""))
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def derive_nonce(key: bytes, content_hash: str) -> str:
    """Return the nonce of a cached prefix. It stays the same while the content does, and no author can guess it.

    Args:
        key: 32 bytes, used for this purpose only.
        content_hash: hash of the whole content, so that each change of the content changes the nonce.
    """
    return hmac.new(key, content_hash.encode(), hashlib.sha256).hexdigest()[:NONCE_CHARACTERS]


def content_hash(text: str) -> str:
    """Return the SHA-256 hex digest of a text, for `derive_nonce`."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def fenced(section: Section, nonce: str) -> str:
    """Return a section in a fence, followed by a line end."""
    return fence(marker_id(section.id), section.title, section.text, nonce)


def fence(source: str, title: str, content: str, nonce: str) -> str:
    """Return a text in a fence, followed by a line end.

    Args:
        source: the id that answers cite, with its kind: `doc:…`, `file:…`, `fact:…`, `summary:…` or `msg:…`.
        title: title of the text; untrusted.
        content: the text; untrusted.
        nonce: nonce of the prompt layer that the fence is in.
    """
    opening = f'<{TAG} nonce="{nonce}" source="{attribute(source, nonce)}" title="{attribute(title, nonce)}">'
    inside = neutralise_fence_tags(content, nonce)
    end = "" if inside.endswith("\n") else "\n"
    return f"{opening}\n{inside}{end}</{TAG}>\n"


def attribute(value: str, nonce: str) -> str:
    """Return the value escaped for a double-quoted attribute of a tag, on one line."""
    return html.escape(neutralise_fence_tags(_CONTROLS.sub(" ", value), nonce), quote=True)


def neutralise_fence_tags(content: str, *nonces: str) -> str:
    """Return the content without the nonces and without text that looks like a fence's tag.

    In a look-alike only the tag's name is changed, to `quoted-tag`. Look-alikes in any case, with white space, line
    ends, invisible characters, look-alike letters and brackets, entities and escapes are found. Other text is kept.
    """
    for nonce in nonces:
        content = content.replace(nonce, "[nonce]")
    pieces, position = [], 0
    for opening in _OPENING.finditer(content):
        character, end = opening[0], opening.end()
        if character in ("&", "\\", "%"):
            character, end = _character(content, opening.start())
            if character not in _BRACKETS:
                continue
        span = _name_after(content, end)
        if span and span[0] >= position:
            pieces += [content[position : span[0]], HARMLESS_TAG]
            position = span[1]
    return "".join([*pieces, content[position:]])


def _name_after(content: str, position: int) -> tuple[int, int] | None:
    """Return the start and end of the tag's name if the visible text from this position begins with it."""
    start, matched = position, 0
    while position < len(content) and matched < len(_NAME):
        character, end = _character(content, position)
        letters = _letters(character)
        if letters and not _NAME.startswith(letters, matched):
            return None
        if letters and not matched:
            start = position
        matched += len(letters)
        position = end
    return (start, position) if matched == len(_NAME) else None


def _character(content: str, position: int) -> tuple[str, int]:
    """Return the character at this position, unescaped if it is escaped, and the position after it."""
    if content[position] in "&\\%" and (match := _WRITTEN.match(content, position)):
        decoded = _decoded(match)
        if len(decoded) == 1:
            return decoded, match.end()
    return content[position], position + 1


def _decoded(match: re.Match[str]) -> str:
    if match[_ENTITY]:
        return html.unescape(f"&{match[_ENTITY]};")
    code = int(match[match.lastindex or 0], 16)
    return chr(code) if code <= sys.maxunicode else ""


@lru_cache(maxsize=4_096)
def _letters(character: str) -> str:
    """Return the letters that a reader sees in a character: none for white space, punctuation and invisible ones.

    A ligature gives several letters. A bracket is returned unchanged, so that each search ends at the next bracket.
    """
    seen = fold(visible(character)).strip()
    return seen if seen.isalnum() or character in _BRACKETS else ""


_OTHER_KINDS = ("file:", "fact:", "summary:", "msg:")


@dataclass(frozen=True, slots=True)
class Section:
    """A citable section of a document.

    Attributes:
        id: unique in its document set, and stable while the section keeps its place in the document, e.g.
            `guide/install#3`; `file:<id>` for an attached file.
        title: the headings above the section, outermost first, joined by ` › `.
        url: absolute http(s) address of the section's page, or of the site if the page's address is unknown.
        text: Markdown of the section with its heading. The texts of all sections, joined, are the document.
        span: start and end in the document, for a passage that was found in an index.
    """

    id: str
    title: str
    url: str
    text: str
    span: tuple[int, int] | None = None


def marker_id(source_id: str) -> str:
    """Return a source's id with its kind, as in fences and citation markers. An id without a kind gets `doc:`."""
    return source_id if source_id.startswith(_OTHER_KINDS) else f"doc:{source_id}"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A block of a prompt.

    Attributes:
        text: fenced sections or a notice.
        sources: the sources in the block that answers may cite.
        tokens: upper bound on the tokens of the block, including its framing.
    """

    text: str = ""
    sources: tuple[Source, ...] = ()
    tokens: int = 0


NOTHING = Excerpt()


def block_tokens(text: str) -> int:
    """Return an upper bound on the tokens that the text adds to a prompt as a separate block."""
    return count_tokens(text) + BLOCK_TOKENS
