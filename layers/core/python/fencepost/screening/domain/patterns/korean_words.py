"""Korean: the parts that several patterns are made of."""

from __future__ import annotations

HEAD = (
    r"(?:^|(?<=[\n.!?,:>)\]-])|(?<=[\n.!?,:>)\]-] )|(?<=\b그냥 )|(?<=\b제발 )|(?<=\b이제 )|(?<=\b당장 )"
    r"|(?<=\b이제부터 )|(?<=\b지금부터 )|(?<=\b앞으로 )|(?<=\b그리고 )|(?<=\b그럼 )|(?<=\b먼저 )|(?<=\b지금 )"
    r"|(?<=\b다 )|(?<=\b즉시 ))"
)
