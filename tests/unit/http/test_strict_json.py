"""The strict reader of JSON."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.http.body import MAX_BODY_BYTES, MAX_DEPTH, read_object
from fencepost.kernel.errors import ErrorCode, FencepostError

JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def refusal(body: bytes) -> ErrorCode:
    with pytest.raises(FencepostError) as caught:
        read_object(body)
    return caught.value.code


@given(st.dictionaries(st.text(), JSON), st.booleans())
def test_reads_what_the_standard_library_writes(value: dict[str, Any], escaped: bool) -> None:
    assert read_object(json.dumps(value, ensure_ascii=escaped).encode()) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with contextlib.suppress(FencepostError):
        assert isinstance(read_object(body), dict)


@given(st.dictionaries(st.text(), JSON, min_size=1), st.data())
def test_a_cut_body_is_refused(value: dict[str, Any], data: st.DataObject) -> None:
    body = json.dumps(value).encode()
    assert refusal(body[: data.draw(st.integers(0, len(body) - 1))]) is ErrorCode.INVALID_JSON


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b'{"a": 1, "a": 1}',
        b'{"a": {"b": 1, "\\u0062": 2}}',
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": -Infinity}',
        b'{"a": "\\ud800"}',
        b'{"\\udfff": 1}',
        b'{"a": "\\ude00\\ud83d"}',
        b'{"a": "\xed\xa0\x80"}',
        b'{"a": "\xff"}',
        b'\xef\xbb\xbf{"a": 1}',
        '{"a": 1}'.encode("utf-16"),
        b'{"a": "\n"}',
        b'{"a": 1}{}',
        b"{'a': 1}",
        b'{"a": 01}',
        b'{"a": 1,}',
        b'{"a": "' + b'\\"' * 200_000,
        b'{"a": ' * 70,
    ],
)
def test_refuses_what_is_not_strict(body: bytes) -> None:
    assert refusal(body) is ErrorCode.INVALID_JSON


def test_a_pair_of_surrogates_is_one_character() -> None:
    assert read_object(b'{"a": "\\ud83d\\ude00"}') == {"a": "\U0001f600"}


@pytest.mark.parametrize(("depth", "accepted"), [(MAX_DEPTH, True), (MAX_DEPTH + 1, False), (500_000, False)])
def test_nesting_has_a_bound(depth: int, accepted: bool) -> None:
    body = b'{"a":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"
    if accepted:
        assert read_object(body)
    else:
        assert refusal(body) is ErrorCode.INVALID_JSON


def test_brackets_in_strings_nest_nothing() -> None:
    text = '[{"\\' * 1_000
    assert read_object(json.dumps({text: text}).encode()) == {text: text}


def test_numbers_of_any_length_are_read() -> None:
    assert set(read_object(b'{"a": ' + b"9" * 100_000 + b', "b": -1e999999}')) == {"a", "b"}


@pytest.mark.parametrize("body", [b"[]", b"null", b'"a"', b"1", b"true"])
def test_only_an_object_is_a_request(body: bytes) -> None:
    assert refusal(body) is ErrorCode.NOT_AN_OBJECT


def test_the_size_is_bounded_in_bytes() -> None:
    frame = len(b'{"a":""}')
    assert read_object(b'{"a":"' + b"x" * (MAX_BODY_BYTES - frame) + b'"}')
    assert refusal(b'{"a":"' + b"x" * (MAX_BODY_BYTES - frame + 1) + b'"}') is ErrorCode.BODY_TOO_LARGE
