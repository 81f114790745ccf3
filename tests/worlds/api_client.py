"""Somebody who uses the API of a deployed stack: with a token, and in one organisation."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

_PATIENCE_SECONDS = 90.0
_PAUSE_SECONDS = 0.2
_OPEN_JOBS = ("queued", "running")


@dataclass(frozen=True, slots=True)
class ApiClient:
    """Sends requests with somebody's headers."""

    http: httpx.Client
    headers: dict[str, str]

    def send(self, method: str, path: str, body: object = None) -> httpx.Response:
        """Send a request, with a JSON body where there is one."""
        return self.http.request(method, path, json=body, headers=self.headers)

    def get(self, path: str) -> Any:
        """Return what stands at a path, which must be there."""
        return self._content(self.send("GET", path))

    def post(self, path: str, body: object = None) -> Any:
        """Post, and return the answer, which must be a success."""
        return self._content(self.send("POST", path, body))

    def put(self, path: str, body: object) -> Any:
        """Put, and return the answer, which must be a success."""
        return self._content(self.send("PUT", path, body))

    def delete(self, path: str) -> Any:
        """Delete, and return the answer, which must be a success."""
        return self._content(self.send("DELETE", path))

    def say(self, message: str, conversation_id: str | None = None, **fields: object) -> Any:
        """Send a message, in a new conversation unless one is named, and return the answer."""
        known = {} if conversation_id is None else {"conversationId": conversation_id}
        return self.post("/v1/chat", {"message": message, **known, **fields})

    def messages(self, conversation_id: str) -> list[dict[str, Any]]:
        """Return the messages of a conversation, the first hundred."""
        items: list[dict[str, Any]] = self.get(f"/v1/conversations/{conversation_id}/messages?limit=100")["items"]
        return items

    def finished(self, path: str) -> Any:
        """Wait for a job, and return how it ended."""
        return waited_for(lambda: self.get(path), lambda job: job["state"] not in _OPEN_JOBS)

    def exported(self, conversation_id: str) -> bytes:
        """Export a conversation and return the bundle."""
        job = self.post(f"/v1/conversations/{conversation_id}/exports")
        done = self.finished(f"/v1/exports/{job['jobId']}")
        return self.http.get(done["url"]).raise_for_status().content

    def _content(self, answer: httpx.Response) -> Any:
        assert answer.is_success, (
            f"{answer.request.method} {answer.request.url.path}: {answer.status_code} {answer.text}"
        )
        return answer.json()


def waited_for[Value](
    look: Callable[[], Value], is_it: Callable[[Value], object] = bool, patience: float = _PATIENCE_SECONDS
) -> Value:
    """Look again and again until it is what was waited for, and return it.

    Raises:
        TimeoutError: it never was.
    """
    end = time.monotonic() + patience
    while not is_it(value := look()):
        if time.monotonic() > end:
            raise TimeoutError(repr(value))
        time.sleep(_PAUSE_SECONDS)
    return value
