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
import sys
from dataclasses import dataclass
from functools import lru_cache

from fencepost.kernel.text import fold, visible
from fencepost.model.domain import BLOCK_TOKENS, Source, count_tokens

TAG = "untrusted-context"
HARMLESS_TAG = "quoted-tag"
"""What the tag's name becomes where content uses it."""
NONCE_CHARACTERS = 32
"""Hexadecimal, so 128 bits."""

_BRACKETS = frozenset("<＜﹤‹〈⟨⟪〈❬❮❰⧼⦉⦑⦓«《≪⋘ᐸ˂˱≺⋖⪡≮⩹⩽≤⊲◀◁◂◃◄◅⏴⯇🞀ᚲ𝈶")
"""Everything that reads as an opening angle bracket."""
# Those entities that HTML reads without a semicolon, whatever follows, and all that may begin a written character.
_OPENING = re.compile(rf"[{''.join(_BRACKETS)}]|&(?:amp;)*(?:lt|LT|laquo);?|[&\\%]")
# A character as HTML writes it, as JSON, JavaScript, Python and CSS do, and as URLs do.
_WRITTEN = re.compile(
    r"&(?:amp;)*(#0*\d{1,7}|#[xX]0*[0-9a-fA-F]{1,6}|[A-Za-z]{2,31});?"
    r"|\\(?:[ux]\{0*([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([0-9a-fA-F]{1,6}))"
    r"|%(?:25)*([0-9a-fA-F]{2})"
)
_ENTITY = 1
_NAME = fold(TAG.replace("-", ""))
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def derive_nonce(key: bytes, content_hash: str) -> str:
    """Return the nonce of a cached prefix: the same while the content is, and beyond any author's guess.

    Args:
        key: 32 bytes for this purpose alone.
        content_hash: of the whole content, so that whoever changes the content changes the nonce.
    """
    return hmac.new(key, content_hash.encode(), hashlib.sha256).hexdigest()[:NONCE_CHARACTERS]


def content_hash(text: str) -> str:
    """Return the SHA-256 hex digest of a text, for `derive_nonce`."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def fenced(section: Section, nonce: str) -> str:
    """Return the section in its fence, with a line end after it."""
    return fence(marker_id(section.id), section.title, section.text, nonce)


def fence(source: str, title: str, content: str, nonce: str) -> str:
    """Return a text in its fence, with a line end after it.

    Args:
        source: the id that an answer cites, with its kind: `doc:…`, `file:…`, `fact:…`, `summary:…` or `msg:…`.
        title: what the text is.
        content: the text, of whatever author.
        nonce: of this fence's layer.
    """
    opening = f'<{TAG} nonce="{nonce}" source="{attribute(source, nonce)}" title="{attribute(title, nonce)}">'
    inside = neutralise_fence_tags(content, nonce)
    end = "" if inside.endswith("\n") else "\n"
    return f"{opening}\n{inside}{end}</{TAG}>\n"


def attribute(value: str, nonce: str) -> str:
    """Return the value as it may stand between double quotes in a tag, on one line."""
    return html.escape(neutralise_fence_tags(_CONTROLS.sub(" ", value), nonce), quote=True)


def neutralise_fence_tags(content: str, *nonces: str) -> str:
    """Return the content without the nonces and without anything that reads as a fence's tag.

    Only the name inside a look-alike changes, to `quoted-tag`; a look-alike may use any case, white space, line ends,
    invisible characters, look-alike letters and brackets, entities and escapes. Other text stays as it is.
    """
    for nonce in nonces:
        content = content.replace(nonce, "[nonce]")
    pieces, position = [], 0
    for opening in _OPENING.finditer(content):
        span = _name_after_bracket(content, opening)
        if span and span[0] >= position:
            pieces += [content[position : span[0]], HARMLESS_TAG]
            position = span[1]
    return "".join([*pieces, content[position:]])


def _name_after_bracket(content: str, opening: re.Match[str]) -> tuple[int, int] | None:
    if opening[0] not in ("&", "\\", "%"):
        return _name_after(content, opening.end())
    character, end = _character(content, opening.start())
    return _name_after(content, end) if character in _BRACKETS else None


def _name_after(content: str, position: int) -> tuple[int, int] | None:
    """Return where the tag's name stands if it is the first thing to be read from here on."""
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
    """Return the character that stands here, written as itself or in another way, and where it ends."""
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
    """Return what a reader sees of the character: nothing of white space, dashes, slashes and what is invisible.

    A ligature is several letters. A bracket is itself, so that no search goes beyond the next one.
    """
    seen = fold(visible(character)).strip()
    return seen if seen.isalnum() or character in _BRACKETS else ""


_OTHER_KINDS = ("file:", "fact:", "summary:", "msg:")


@dataclass(frozen=True, slots=True)
class Section:
    """A citable piece of a document.

    Attributes:
        id: stable as long as its place in the document is, e.g. `guide/install#3`; unique in its set. Of a file that
            somebody attached, `file:<id>`.
        title: the headings above it, outermost first, joined by ` › `.
        url: absolute http(s) address of the page it came from, or of the site where none is known.
        text: the Markdown of the section, heading included; the sections' texts tile the document.
        span: of a passage that was found in an index, where it stands in its document.
    """

    id: str
    title: str
    url: str
    text: str
    span: tuple[int, int] | None = None


def marker_id(source_id: str) -> str:
    """Return a source's id as fences and citation markers name it: with its kind, `doc:` where it names none."""
    return source_id if source_id.startswith(_OTHER_KINDS) else f"doc:{source_id}"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One block of a prompt: its text, what an answer may cite of it, and a bound on its tokens, framing included."""

    text: str = ""
    sources: tuple[Source, ...] = ()
    tokens: int = 0


NOTHING = Excerpt()


def block_tokens(text: str) -> int:
    """Return an upper bound on what the text adds to a prompt as a block of its own."""
    return count_tokens(text) + BLOCK_TOKENS
