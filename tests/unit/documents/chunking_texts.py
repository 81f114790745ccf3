"""Texts to split, and a ruler that is fast: a word, a sign or an ideograph is a token."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import strategies as st

from fencepost.documents.domain.chunking.bounds import Bounds
from fencepost.documents.domain.documents import Chunk

SMALL = Bounds(least=8, aim=24, most=40, whole=120, overlap=10)
AROUND = 3
"""What the ruler counts besides a text, as embedders do for their marks."""

_TOKEN = re.compile(r"[a-z0-9]{1,8}|[^\sa-z0-9]", re.IGNORECASE)
_WORDS = [
    "post",
    "rail",
    "gate",
    "hinge",
    "board",
    "nail",
    "paint",
    "hole",
    "level",
    "wire",
    "stake",
    "brace",
    "panel",
    "latch",
    "cedar",
    "soil",
]


def count(text: str) -> int:
    """Count tokens."""
    return AROUND + sum(1 for _ in _TOKEN.finditer(text))


def tokens(text: str) -> int:
    """Count tokens without what is around them."""
    return count(text) - AROUND


def joined(chunks: Sequence[Chunk]) -> str:
    """Return the text that the chunks tile; fail where they do not."""
    place = 0
    for one in chunks:
        assert one.start == place < one.end
        assert one.end - one.start == len(one.text)
        place = one.end
    return "".join(one.text for one in chunks)


def paragraphs(number: int, start: int = 0) -> list[str]:
    """Return paragraphs that differ from each other, of one to five sentences."""
    return [" ".join(_sentence(start + place, turn) for turn in range(1 + place % 5)) for place in range(number)]


def _sentence(place: int, turn: int) -> str:
    words = [_WORDS[(place * 7 + turn * 3 + step * (place + 1)) % len(_WORDS)] for step in range(6 + place % 5)]
    return f"{' '.join(words).capitalize()} {place}."


FRAGMENTS = [
    "# A\n",
    "## B\n",
    "###### C\n",
    "Title\n=====\n",
    "\n",
    "\n\n",
    " \n",
    "---\n",
    "***\n",
    "\r",
    "\r\n",
    "\u2028",
    "```py\n",
    "```\n",
    "~~~\n",
    "    code\n",
    "````\n",
    "| a | b |\n",
    "|---|---|\n",
    "a|b\n",
    "---|---\n",
    "---\ntitle: x\n---\n",
    "import A from 'a'\n",
    "import {\n",
    "} from 'b'\n",
    "export const a = 1\n",
    "<Tabs>\n",
    '<Card title="T">\n',
    "<Card\n",
    "/>\n",
    "<!-- c -->\n",
    "{/* c */}\n",
    "[x](#a)\n",
    "<table>\n",
    "</table>\n",
    "- one\n",
    "  - two\n",
    "1. three\n",
    "> said\n",
    "One. Two! Three? ",
    "一つ。二つ！三つ？",
    "ไทยไทย ",
    "word " * 30,
    "語" * 90,
    "x" * 300,
    "👨\u200d👩\u200d👧\u200d👦",
    "🇩🇪🇫🇷",
    "é́",
    ".́",
    "�",
    "\x00",
    "Said:\n\n",
    "한국어 문장입니다. ",
]

markdown: st.SearchStrategy[str] = st.lists(
    st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=40)), max_size=40
).map("".join)
