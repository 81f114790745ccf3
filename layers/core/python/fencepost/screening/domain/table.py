"""The one table of patterns, gathered from its languages."""

from __future__ import annotations

from itertools import chain

from fencepost.screening.domain.patterns import (
    chinese,
    english_asking,
    english_override,
    english_prompt,
    english_release,
    english_roles,
    english_secrets,
    french,
    german,
    italian,
    japanese_indirect,
    japanese_override,
    japanese_roles,
    japanese_secrets,
    korean_indirect,
    korean_override,
    korean_roles,
    korean_secrets,
    markup,
    others,
    portuguese,
    rare,
    russian,
    spanish,
)
from fencepost.screening.domain.rule import Rule

_ENGLISH = (english_override, english_prompt, english_secrets, english_roles, english_release, english_asking)
_JAPANESE = (japanese_override, japanese_secrets, japanese_roles, japanese_indirect)
_KOREAN = (korean_override, korean_secrets, korean_roles, korean_indirect)
_EUROPEAN = (german, french, spanish, italian, portuguese, russian)

RULES: tuple[Rule, ...] = tuple(
    chain.from_iterable(
        module.RULES for module in (markup, *_ENGLISH, *_JAPANESE, *_KOREAN, chinese, *_EUROPEAN, others, rare)
    )
)
"""Every pattern there is. Where a text matches several, the first names the category, so markup comes first."""
