"""The one table of errors."""

from __future__ import annotations

import json
from http import HTTPStatus

import pytest

from fencepost.http.errors import ERRORS, error_response
from fencepost.kernel.errors import ErrorCode, FencepostError

OURS = {ErrorCode.LEDGER_UNAVAILABLE, ErrorCode.MISCONFIGURED, ErrorCode.INTERNAL_ERROR}


def test_every_code_has_a_row() -> None:
    assert set(ERRORS) == set(ErrorCode)


def test_every_sentence_stands_once() -> None:
    sentences = [row.sentence for row in ERRORS.values()]
    assert len(set(sentences)) == len(sentences)


def test_only_faults_of_ours_answer_500() -> None:
    assert {code for code, row in ERRORS.items() if row.status == HTTPStatus.INTERNAL_SERVER_ERROR} == OURS


@pytest.mark.parametrize("code", ErrorCode)
def test_the_body_names_error_code_and_request(code: ErrorCode) -> None:
    response = error_response(FencepostError(code, retry_after=7), "r-1")
    body = json.loads(response.body)
    daily = code in {ErrorCode.DAILY_CALLS_EXHAUSTED, ErrorCode.DAILY_SPEND_EXHAUSTED}
    wait = {"retryAfter": 7} if daily else {}
    assert body == {"error": ERRORS[code].sentence, "code": code.value, "requestId": "r-1", **wait}
    assert response.status == ERRORS[code].status


PASSING_CONFLICTS = {
    ErrorCode.CONVERSATION_BUSY,
    ErrorCode.ATTACHMENT_NOT_READY,
    ErrorCode.DOCUMENT_NOT_UPLOADED,
    ErrorCode.DOCUMENT_BUSY,
}


@pytest.mark.parametrize("code", ErrorCode)
@pytest.mark.parametrize("known", [7, None])
def test_429_503_and_what_passes_say_when_to_come_back(code: ErrorCode, known: int | None) -> None:
    response = error_response(FencepostError(code, retry_after=known), "r-1")
    overload = response.status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}
    if overload or code in PASSING_CONFLICTS:
        assert int(response.headers["Retry-After"]) == (known or ERRORS[code].retry_after)
    else:
        assert "Retry-After" not in response.headers
