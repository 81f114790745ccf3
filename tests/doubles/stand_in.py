"""The stand-in for the provider as tests drive it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import anthropic
import httpx
import httpx2

from local.provider import create_app
from tests.doubles.servers import serve


@dataclass(frozen=True, slots=True)
class StandIn:
    """A running stand-in: tell it how to fail, ask what it received."""

    url: str
    _http: httpx.Client

    def order(self, *instructions: dict[str, object]) -> None:
        """Queue one instruction for each call to come (`local.provider.control.Instruction`)."""
        self._http.post(f"{self.url}/control", json={"next": instructions}).raise_for_status()

    def calls(self) -> int:
        """Return how many calls came since the last reset."""
        return int(self._received()["count"])

    def body(self) -> dict[str, Any]:
        """Return the body of the last call."""
        body: dict[str, Any] = self._received()["requests"][-1]["body"]
        return body

    def bodies(self) -> list[dict[str, Any]]:
        """Return the bodies of the last hundred calls since the last reset."""
        return [request["body"] for request in self._received()["requests"]]

    def reset(self) -> None:
        """Forget instructions, calls and cached prompts."""
        self._http.delete(f"{self.url}/control").raise_for_status()

    def _received(self) -> dict[str, Any]:
        received: dict[str, Any] = self._http.get(f"{self.url}/control/requests").raise_for_status().json()
        return received


@contextmanager
def running_stand_in() -> Iterator[StandIn]:
    """Serve a stand-in of one's own."""
    with serve(create_app()) as url, httpx.Client(trust_env=False) as http:
        yield StandIn(url, http)


def sdk_client(url: str, key: str = "any") -> anthropic.Anthropic:
    """Return the real SDK's client for a stand-in. It keeps no connections, so nothing is left to close."""
    http_client = anthropic.DefaultHttpxClient(trust_env=False, limits=httpx2.Limits(max_keepalive_connections=0))
    return anthropic.Anthropic(api_key=key, base_url=url, max_retries=0, http_client=http_client)
