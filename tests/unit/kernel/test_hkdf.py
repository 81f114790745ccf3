"""HKDF against the test vectors of RFC 5869, appendix A (the cases of SHA-256)."""

from __future__ import annotations

import pytest

from fencepost.kernel.aws.secrets import hkdf_sha256

VECTORS = [
    (
        bytes.fromhex("0b" * 22),
        bytes(range(0x0D)),
        bytes(range(0xF0, 0xFA)),
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
    ),
    (
        bytes(range(0x50)),
        bytes(range(0x60, 0xB0)),
        bytes(range(0xB0, 0x100)),
        (
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
            "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"
        ),
    ),
    (
        bytes.fromhex("0b" * 22),
        b"",
        b"",
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
    ),
]


@pytest.mark.parametrize(("secret", "salt", "info", "key"), VECTORS)
def test_vectors(secret: bytes, salt: bytes, info: bytes, key: str) -> None:
    assert hkdf_sha256(secret, salt=salt, info=info, length=len(key) // 2).hex() == key


def test_more_than_the_rfc_allows_is_refused() -> None:
    assert len(hkdf_sha256(b"secret", salt=b"", info=b"", length=8_160)) == 8_160
    with pytest.raises(ValueError, match="8,160"):
        hkdf_sha256(b"secret", salt=b"", info=b"", length=8_161)
