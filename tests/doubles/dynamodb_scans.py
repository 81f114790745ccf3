"""Marks the scans of tests: they look at whole tables, which the code under test never does."""

from __future__ import annotations

import sys
from functools import cache
from types import FrameType
from typing import Any

from botocore.awsrequest import AWSRequest
from botocore.client import ClientCreator

from tests.doubles.dynamodb_watch import FROM_A_TEST

_OURS = "/layers/core/python/fencepost/"


@cache
def mark_scans() -> None:
    """Let each client that this process makes say whether a test makes its scans, or the code under test."""
    create = ClientCreator.create_client

    def create_marking(self: ClientCreator, *arguments: Any, **named: Any) -> Any:
        client = create(self, *arguments, **named)
        client.meta.events.register("before-sign.dynamodb.Scan", _mark)
        return client

    ClientCreator.create_client = create_marking  # type: ignore[method-assign]


def _mark(request: AWSRequest, **_: Any) -> None:
    if not is_asked_by_our_code(sys._getframe()):
        request.headers[FROM_A_TEST] = "scan"


def is_asked_by_our_code(frame: FrameType | None) -> bool:
    """Tell whether the code under test is among the callers."""
    while frame is not None:
        if _OURS in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False
