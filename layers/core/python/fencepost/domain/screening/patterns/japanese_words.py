"""Japanese: the parts that several patterns are made of."""

from __future__ import annotations

NOT_ASKING = (
    r"(?![^。!?\n]{0,14}(?:方法|手順|には|場合|でき|出来|可能|理由|原因|しまい|しまう|でしょうか|いますか|いる"
    "|います|いない))"
)
