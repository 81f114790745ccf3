"""Masking of personal data and secrets in diagnoses.

The pattern masks too much rather than too little: every run of five or more digits is masked, whether it is a telephone
number, a card, an account, a birthday or an order. Names in plain words have no recognisable form and are not masked.
"""

from __future__ import annotations

import re
from typing import Final

MASK: Final = "[masked]"

_EMAIL = r"[\w.+%'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
_WEB_ADDRESS = r"(?:https?://|www\.)\S{1,2000}"
_ACCOUNT = r"\b[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,4})?\b"  # IBAN (ISO 13616)
_DIGITS = r"\+?\d(?:[\s().,/–-]{0,3}\d){4,}"
_IP_ADDRESS = r"\b\d{1,3}(?:\.\d{1,3}){3}\b|\b(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}"
_KEY = r"\b(?=\w{0,40}\d)[\w-]{20,}"
_HANDLE = r"(?<!\w)@\w[\w.]{1,30}"

_PERSONAL_DATA: Final = re.compile("|".join((_EMAIL, _WEB_ADDRESS, _ACCOUNT, _IP_ADDRESS, _DIGITS, _KEY, _HANDLE)))
"""Matches e-mail and web addresses, accounts, numbers, IP addresses, keys and handles.

Each repetition is bounded, or followed by a character that it cannot match, so matching takes linear time.
"""


def mask_personal_data(text: str) -> str:
    """Return the text with personal data replaced by `MASK`."""
    return _PERSONAL_DATA.sub(MASK, text)
