"""`GET /health` and what lies beside it."""

from __future__ import annotations

import json
import subprocess
import sys

from fencepost import __version__
from fencepost.web.meta import handler
from tests.worlds.chat import REQUEST_ID, proxy_event


def test_health_says_what_is_up_and_which_version() -> None:
    answer = handler(proxy_event(method="GET", headers={}, resource="/health"), None)
    assert (answer["statusCode"], json.loads(answer["body"])) == (200, {"status": "ok", "version": __version__})
    assert answer["headers"]["Cache-Control"] == "no-store"


def test_other_resources_are_not_found_in_our_own_words() -> None:
    answer = handler(proxy_event(method="GET", resource="/elsewhere"), None)
    body = json.loads(answer["body"])
    assert (answer["statusCode"], body["code"], body["requestId"]) == (404, "not_found", REQUEST_ID)


def test_an_empty_event_is_answered() -> None:
    assert handler({}, None)["statusCode"] == 404


def test_the_document_is_built_without_an_sdk_an_adapter_or_a_service() -> None:
    program = (
        "import sys; from fencepost.web.openapi import openapi_document; openapi_document();"
        "names = ('boto3', 'botocore', 'anthropic', 'opensearchpy', 'pynamodb', 'fencepost.bootstrap',"
        " 'fencepost.settings', 'fencepost.kernel.aws');"
        "sys.exit(', '.join(name for name in names if name in sys.modules) or None)"
    )
    path = f"import sys; sys.path[:0] = {sys.path!r}; "
    subprocess.run([sys.executable, "-c", path + program], check=True)
