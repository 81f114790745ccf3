"""`make chat M="…"`: send one message to the local cloud and print the answer with its sources."""

from __future__ import annotations

import os
import sys

import httpx

from local.paths import state_folder
from local.state import StateFolder
from local.trouble import Trouble

_TIMEOUT_SECONDS = 60.0


def main() -> int:
    """Send the message, print the answer, and return the exit code."""
    try:
        print(ask(os.environ.get("M", "").strip()))
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return trouble.exit_code
    return 0


def ask(message: str) -> str:
    """Return the answer and its sources as text for a terminal.

    Raises:
        Trouble: the message is missing, no local cloud is running, or the API answers with an error.
    """
    if not message:
        raise Trouble('Say something: make chat M="How do I get started?"', exit_code=2)
    running = StateFolder(state_folder()).serving()
    try:
        reply = httpx.post(
            f"{running.url}/api/ai-chat", json={"message": message}, timeout=_TIMEOUT_SECONDS, trust_env=False
        )
    except httpx.HTTPError:
        raise Trouble(f"{running.url} does not answer: is `make dev` still running?") from None
    return _shown(reply)


def _shown(reply: httpx.Response) -> str:
    body = reply.json()
    if not reply.is_success:
        retry = reply.headers.get("Retry-After")
        advice = f" Try again in {retry} s." if retry else ""
        raise Trouble(f"{body.get('error', reply.reason_phrase)} ({reply.status_code} {body.get('code', '')}){advice}")
    sources = [f"  {source['title']}  {source['url']}" for source in body.get("sources", [])]
    return "\n".join([body["response"], *(["", "Sources:", *sources] if sources else [])])


if __name__ == "__main__":
    sys.exit(main())
