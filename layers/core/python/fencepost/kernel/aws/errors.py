"""How AWS's SDK fails."""

from __future__ import annotations


def aws_errors() -> tuple[type[Exception], ...]:
    """Return what the SDK raises where a service refuses, does not answer, or answers what cannot be read.

    An `except` clause asks for it only when something was raised, so the SDK is not imported for it.
    """
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.parsers import ResponseParserError

    return BotoCoreError, ClientError, ResponseParserError
