"""Reads bundles from anybody: nothing of one is believed, and little is decompressed, before its signature holds."""

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
"""Where a ZIP64 file says where its own directory's end is (section 4.3.15)."""
_MAX_DIRECTORY_BYTES: Final = 4 * 1024

# Members that are encrypted, or compressed in a way that is not known, are a `RuntimeError`.
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
    """A bundle that is signed by us and belongs to its reader. Its parts are checked as they are read.

    Args:
        content: the file.
        org: the reader's organisation.
        owner: the reader.
        keys: with any of which it may be signed.

    Raises:
        FencepostError: `bundle_too_large`; `bundle_invalid`, it is damaged, unsigned or none at all;
            `bundle_version_unsupported`; `bundle_foreign`.
    """

    def __init__(self, content: bytes, org: str, owner: str, keys: Sequence[bytes]) -> None:
        if len(content) > MAX_BUNDLE_BYTES:
            raise FencepostError(ErrorCode.BUNDLE_TOO_LARGE)
        with _damage():
            self._zip = _opened(content)
            manifest = self._short(MANIFEST)
            _require_signed(manifest, self._short(SIGNATURE), keys)
            self.manifest = from_line(Manifest, manifest)
        _require_supported(self.manifest)
        if (self.manifest.org, self.manifest.owner) != (org, owner):
            raise FencepostError(ErrorCode.BUNDLE_FOREIGN)
        self._parts = self._checked_parts()

    def lines(self, name: str) -> Iterator[bytes]:
        """Yield the lines of a part, and check at its end that it was what the manifest says.

        A part that the bundle's version does not have has none.

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
    """Open a ZIP file. Its directory is measured first: one of a million members would be read as a whole."""
    if len(content) < _DIRECTORY_END.size:
        raise BadZipFile
    mark, *_, size, _, comment = _DIRECTORY_END.unpack(content[-_DIRECTORY_END.size :])
    # What ZIP64 puts before the end would take the place of the size.
    if mark != b"PK\5\6" or size > _MAX_DIRECTORY_BYTES or comment or content[_LOCATOR].startswith(b"PK\6\7"):
        raise BadZipFile
    opened = ZipFile(BytesIO(content))
    if any(info.compress_type != ZIP_DEFLATED for info in opened.infolist()):
        raise BadZipFile
    return opened


def _require_signed(manifest: bytes, signed: bytes, keys: Sequence[bytes]) -> None:
    given = signed.decode("ascii")
    if not any(hmac.compare_digest(signature(manifest, key), given) for key in keys):
        raise BadZipFile


def _require_supported(manifest: Manifest) -> None:
    if manifest.schema != SCHEMA:
        raise FencepostError(ErrorCode.BUNDLE_INVALID)
    if manifest.version not in PARTS_OF:
        raise FencepostError(ErrorCode.BUNDLE_VERSION_UNSUPPORTED)


@contextmanager
def _damage() -> Iterator[None]:
    """Answer every way in which a file can be broken with one code."""
    try:
        yield
    except _DAMAGED:
        raise FencepostError(ErrorCode.BUNDLE_INVALID) from None
