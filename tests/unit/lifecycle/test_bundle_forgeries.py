"""Files that are no bundle, were damaged or forged, or belong to somebody else: each is refused."""

from __future__ import annotations

import struct
import zipfile
import zlib
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.lifecycle.domain.bundle_check import inventory
from fencepost.lifecycle.domain.bundle_reader import Bundle
from fencepost.lifecycle.domain.bundles import MANIFEST, MESSAGES, PARTS, SIGNATURE, message_lines
from tests.worlds.bundle_files import A1, GOOD, KEY, Q1, SMALL, conversation, exchanged, packed, read, refusal
from tests.worlds.thoroughness import examples


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
@settings(deadline=None, max_examples=examples(300))
def test_one_changed_byte_is_found_or_changes_nothing(place: int, change: int) -> None:
    damaged = bytearray(GOOD)
    damaged[place] ^= change
    found: object = None
    try:
        found = read(bytes(damaged))
    except FencepostError as error:
        found = error.code
    # Some bytes of a ZIP file say nothing that is read, such as the dates of its members.
    assert found in (ErrorCode.BUNDLE_INVALID, ErrorCode.BUNDLE_TOO_LARGE, read(GOOD))


@given(st.integers(0, len(GOOD) - 1))
def test_a_file_that_was_cut_is_none(length: int) -> None:
    assert refusal(GOOD[:length]) == ErrorCode.BUNDLE_INVALID


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip at all" * 10, b"\0" * 100, b"PK\5\6" + b"\0" * 18])
def test_what_is_no_bundle_is_refused(content: bytes) -> None:
    assert refusal(content) == ErrorCode.BUNDLE_INVALID


def test_another_owners_bundle_is_foreign() -> None:
    assert refusal(packed([], {}, owner="visitor:v2")) == ErrorCode.BUNDLE_FOREIGN


def test_another_organisations_bundle_is_foreign() -> None:
    with pytest.raises(FencepostError) as caught:
        Bundle(GOOD, "globex", "visitor:v1", (KEY,))
    assert caught.value.code == ErrorCode.BUNDLE_FOREIGN


def test_a_bundle_that_another_key_signed_is_none() -> None:
    assert refusal(packed([], {}, key=b"x" * 32)) == ErrorCode.BUNDLE_INVALID


def test_a_rotated_key_still_holds() -> None:
    assert inventory(Bundle(GOOD, "acme", "visitor:v1", (b"new" * 11, KEY))).candidates


@pytest.mark.parametrize("name", [*PARTS, MANIFEST, SIGNATURE])
def test_no_member_can_be_exchanged(name: str) -> None:
    assert refusal(exchanged({name: b"{}\n"})) == ErrorCode.BUNDLE_INVALID


def test_a_manifest_that_names_another_owner_is_not_signed() -> None:
    with zipfile.ZipFile(BytesIO(packed([], {}, owner="visitor:v2"))) as theirs:
        manifest = theirs.read(MANIFEST).replace(b"visitor:v2", b"visitor:v1")
    assert refusal(exchanged({MANIFEST: manifest})) == ErrorCode.BUNDLE_INVALID


def test_a_zip_bomb_is_not_unfolded() -> None:
    # 64 MiB of zeros, a thousandth of it packed: the manifest's own size is believed only once it is signed.
    assert refusal(exchanged({MESSAGES: bytes(64 * 1024 * 1024)})) == ErrorCode.BUNDLE_INVALID
    assert refusal(exchanged({MANIFEST: bytes(64 * 1024 * 1024)})) == ErrorCode.BUNDLE_INVALID


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(compression: int) -> None:
    assert refusal(exchanged({}, compression=compression)) == ErrorCode.BUNDLE_INVALID


def test_members_that_are_no_part_are_refused() -> None:
    buffer = BytesIO(GOOD)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as more:
        more.writestr("../../etc/passwd", b"root")
    assert refusal(buffer.getvalue()) == ErrorCode.BUNDLE_INVALID


def test_a_directory_of_a_million_members_is_not_read() -> None:
    directory = bytes(46) * 1_000_000
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65_535, 65_535, len(directory), 0, 0)
    assert refusal(directory + end) == ErrorCode.BUNDLE_INVALID


def test_a_hidden_zip64_directory_is_not_followed() -> None:
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, 0, 1)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 46, 0, 0)
    assert refusal(GOOD + locator + end) == ErrorCode.BUNDLE_INVALID


def test_a_comment_is_no_place_to_hide_things() -> None:
    buffer = BytesIO(GOOD)
    with zipfile.ZipFile(buffer, "a") as more:
        more.comment = b"hello"
    assert refusal(buffer.getvalue()) == ErrorCode.BUNDLE_INVALID


def test_more_content_than_may_be_is_neither_written_nor_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.lifecycle.domain.bundle_reader.MAX_CONTENT_BYTES", 100)
    assert refusal(GOOD) == ErrorCode.BUNDLE_TOO_LARGE
    monkeypatch.setattr("fencepost.lifecycle.domain.bundles.MAX_CONTENT_BYTES", 100)
    with pytest.raises(FencepostError) as caught:
        packed([conversation("c1")], SMALL)
    assert caught.value.code == ErrorCode.BUNDLE_TOO_LARGE


def test_the_checksum_of_a_part_is_its_sha_256_whatever_the_archive_says() -> None:
    # A member with a right CRC and a right length, but other words.
    lines = b"".join(message_lines("c1", [Q1, A1])) + b"".join(message_lines("c2", SMALL["c2"]))
    other = lines.replace(b"Why?", b"Who?")
    assert zlib.crc32(other) != zlib.crc32(lines)
    assert refusal(exchanged({MESSAGES: other})) == ErrorCode.BUNDLE_INVALID
