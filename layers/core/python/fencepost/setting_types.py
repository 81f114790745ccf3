"""Types of environment variables. Unusual spellings are refused, because they are probably mistakes."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from fencepost.identity.domain.sites import Origin, parse_origin
from fencepost.kernel.links import is_plain_address
from fencepost.limits.domain.prices import price_of

_DOLLARS = re.compile(r"(0|[1-9][0-9]{0,6})(\.[0-9]{1,6})?")


def _whole_number(value: object) -> object:
    """Accept `12`; refuse `12.0`, `1e3`, `1_000` and white space."""
    if isinstance(value, str) and not (value.isascii() and value.isdigit()):
        raise ValueError("a whole number in digits is needed")
    return value


def _flag(value: object) -> object:
    if isinstance(value, str) and value not in ("true", "false"):
        raise ValueError("true or false is needed")
    return value


def _origins(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return tuple(parse_origin(part.strip()) for part in value.split(",") if part.strip())
    except ValueError:
        raise ValueError("origins such as https://shop.example, comma-separated, are needed") from None


def _dollars(value: object) -> object:
    """Accept `5` and `0.25`; refuse `1_0`, `1E2`, `+5` and `007`."""
    if isinstance(value, str) and not _DOLLARS.fullmatch(value):
        raise ValueError("dollars in digits with up to six decimals, such as 5 or 0.25, are needed")
    return value


def _address(value: str) -> str:
    """Accept an address without user, query and fragment, or an empty string."""
    if value and not is_plain_address(value):
        raise ValueError("an http(s) address such as https://docs.example.com is needed")
    return value


def _priced(model: str) -> str:
    price_of(model)
    return model


DIGITS = BeforeValidator(_whole_number)
Whole = Annotated[int, DIGITS]
Flag = Annotated[bool, BeforeValidator(_flag)]
Url = Annotated[str, Field(max_length=2_048), AfterValidator(_address)]
Origins = Annotated[tuple[Origin, ...], BeforeValidator(_origins)]
Dollars = Annotated[Decimal, BeforeValidator(_dollars)]
PricedModel = Annotated[str, AfterValidator(_priced)]
