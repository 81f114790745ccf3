"""Reader of bundles from untrusted sources: the signature is checked before any content is decompressed."""

from __future__ import annotations

import hashlib
import hmac
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Final
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.json_lines import from_line
from fencepost.lifecycle.domain.bundles import (
    MANIFEST,
    MAX_BUNDLE_BYTES,
    MAX_CONTENT_BYTES,
    MAX_LINE_BYTES,
    PARTS_OF,
    SCHEMA,
    SIGNATURE,
    BundlePart,
    Manifest,
    signature,
)

_MAX_MANIFEST_BYTES: Final = 64 * 1024
_DIRECTORY_END: Final = struct.Struct("<4s4H2LH")
"""The end of a ZIP file's directory (APPNOTE.TXT 6.3.10, section 4.3.16)."""
_LOCATOR: Final = slice(-20 - _DIRECTORY_END.size, -_DIRECTORY_END.size)
"""Place of the locator of a ZIP64 file's directory end (section 4.3.15)."""
_MAX_DIRECTORY_BYTES: Final = 4 * 1024

# `RuntimeError`: a member is encrypted, or compressed by an unknown method.
_DAMAGED: Final = (
    BadZipFile,
    EOFError,
    LookupError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
    zlib.error,
)


class Bundle:
    """A bundle that this deployment has signed for its reader. Its parts are checked as they are read.

    Args:
        content: the file.
        org: the reader's organisation.
        owner: the reader.
        keys: the signing keys, of which any may have been used.

    Raises:
        FencepostError: `bundle_too_large`; `bundle_invalid`, the file is damaged, unsigned or no bundle;
            `bundle_version_unsupported`; `bundle_foreign`, it was signed for another owner.
    """

    def __init__(self, content: bytes, org: str, owner: str, keys: Sequence[bytes]) -> None:
        if len(content) > MAX_BUNDLE_BYTES:
            raise FencepostError(ErrorCode.BUNDLE_TOO_LARGE)
        with _damage():
            self._zip = _opened(content)
            manifest = self._short(MANIFEST)
            given = self._short(SIGNATURE).decode("ascii")
            if not any(hmac.compare_digest(signature(manifest, key), given) for key in keys):
                raise BadZipFile
            self.manifest = from_line(Manifest, manifest)
        if self.manifest.schema != SCHEMA:
            raise FencepostError(ErrorCode.BUNDLE_INVALID)
        if self.manifest.version not in PARTS_OF:
            raise FencepostError(ErrorCode.BUNDLE_VERSION_UNSUPPORTED)
        if (self.manifest.org, self.manifest.owner) != (org, owner):
            raise FencepostError(ErrorCode.BUNDLE_FOREIGN)
        self._parts = self._checked_parts()

    def lines(self, name: str) -> Iterator[bytes]:
        """Yield the lines of a part; check size, hash and number of lines against the manifest at its end.

        A part that the bundle's version does not have has no lines.

        Raises:
            FencepostError: `bundle_invalid`.
        """
        if name not in self._parts:
            return
        part, total, size, count = self._parts[name], hashlib.sha256(), 0, 0
        with _damage(), self._zip.open(name) as member:
            while line := member.readline(MAX_LINE_BYTES + 1):
                total.update(line)
                size, count = size + len(line), count + 1
                if len(line) > MAX_LINE_BYTES or size > part.bytes:
                    raise BadZipFile
                yield line
        if (total.hexdigest(), size, count) != (part.sha256, part.bytes, part.lines):
            raise FencepostError(ErrorCode.BUNDLE_INVALID)

    def _short(self, name: str) -> bytes:
        with self._zip.open(name) as member:
            content = member.read(_MAX_MANIFEST_BYTES + 1)
        if len(content) > _MAX_MANIFEST_BYTES:
            raise BadZipFile
        return content

    def _checked_parts(self) -> dict[str, BundlePart]:
        parts, wanted = {part.name: part for part in self.manifest.parts}, PARTS_OF[self.manifest.version]
        members = self._zip.infolist()
        sizes = {info.filename: info.file_size for info in members if info.filename in parts}
        named = [info.filename for info in members] == [*wanted, MANIFEST, SIGNATURE]
        if not named or tuple(parts) != wanted or sizes != {name: part.bytes for name, part in parts.items()}:
            raise FencepostError(ErrorCode.BUNDLE_INVALID)
        if sum(sizes.values()) > MAX_CONTENT_BYTES:
            raise FencepostError(ErrorCode.BUNDLE_TOO_LARGE)
        return parts


def _opened(content: bytes) -> ZipFile:
    """Open a ZIP file. The size of its directory is checked first: `ZipFile` reads the whole directory."""
    if len(content) < _DIRECTORY_END.size:
        raise BadZipFile
    mark, *_, size, _, comment = _DIRECTORY_END.unpack(content[-_DIRECTORY_END.size :])
    # A ZIP64 locator before the end would override this size.
    if mark != b"PK\5\6" or size > _MAX_DIRECTORY_BYTES or comment or content[_LOCATOR].startswith(b"PK\6\7"):
        raise BadZipFile
    opened = ZipFile(BytesIO(content))
    if any(info.compress_type != ZIP_DEFLATED for info in opened.infolist()):
        raise BadZipFile
    return opened


@contextmanager
def _damage() -> Iterator[None]:
    """Raise `bundle_invalid` for every error that a damaged file causes."""
    try:
        yield
    except _DAMAGED:
        raise FencepostError(ErrorCode.BUNDLE_INVALID) from None
