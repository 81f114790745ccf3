"""HKDF with SHA-256: many independent keys from one secret.

Source: RFC 5869, HMAC-based Extract-and-Expand Key Derivation Function.
"""

from __future__ import annotations

import hmac

_HASH_BYTES = 32
_MOST_BLOCKS = 255


def hkdf_sha256(secret: bytes, *, salt: bytes, info: bytes, length: int = _HASH_BYTES) -> bytes:
    """Derive a key.

    Args:
        secret: the input keying material.
        salt: public; empty stands for 32 zero bytes, as the RFC has it.
        info: what the key is for. Keys of different purposes tell nothing of each other.
        length: bytes wanted, at most 8,160.

    Raises:
        ValueError: more bytes were asked for than HKDF can give.
    """
    if length > _MOST_BLOCKS * _HASH_BYTES:
        raise ValueError("HKDF-SHA256 gives at most 8,160 bytes")
    extracted = hmac.digest(salt or bytes(_HASH_BYTES), secret, "sha256")
    key, block = b"", b""
    for counter in range(1, -(-length // _HASH_BYTES) + 1):
        block = hmac.digest(extracted, block + info + bytes([counter]), "sha256")
        key += block
    return key[:length]
