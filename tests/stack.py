"""The deployed stack as tests meet it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from local.cloud import Cloud
from local.logs import Tail
from tests.stand_in import StandIn


@dataclass(frozen=True, slots=True)
class Stack:
    """The real template, deployed on the emulator by what `make dev` runs.

    Attributes:
        cloud: the local cloud.
        http: a client of the front door.
        provider: the stand-in that the functions talk to.
    """

    cloud: Cloud
    http: httpx.Client
    provider: StandIn

    @property
    def url(self) -> str:
        """The front door."""
        return self.cloud.url

    def ask(self, message: str, **headers: str) -> httpx.Response:
        """Send one question."""
        return self.http.post("/api/ai-chat", json={"message": message}, headers=headers)

    def client(self, service: str) -> Any:
        """Return a boto3 client of the emulator."""
        return self.cloud.emulator.client(service)

    def physical(self, logical: str) -> str:
        """Return the physical name of a resource of the template."""
        row = self.client("cloudformation").describe_stack_resource(StackName="fencepost", LogicalResourceId=logical)
        return str(row["StackResourceDetail"]["PhysicalResourceId"])

    def logs(self) -> list[str]:
        """Return every line that the functions have written, oldest first."""
        return [entry.message for entry in Tail(self.cloud.emulator).read()]

    @contextmanager
    def parameters(self, **changes: str) -> Iterator[None]:
        """Redeploy with other parameters of the template, and with the old ones afterwards."""
        before = {name: self.cloud.chosen.get(name) for name in changes}
        self.cloud.deploy(_silent, **changes)
        try:
            yield
        finally:
            for name, value in before.items():
                self.cloud.chosen.pop(name) if value is None else self.cloud.chosen.update({name: value})
            self.cloud.deploy(_silent)


def _silent(_: str) -> None:
    """Say nothing."""
