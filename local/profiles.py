"""The profiles of samconfig.toml: which stack `make deploy PROFILE=prod` deploys, and where."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from local.paths import ROOT
from local.trouble import Trouble


@dataclass(frozen=True, slots=True)
class DeployProfile:
    """Name and region of a profile's stack.

    Attributes:
        stack: its name.
        region: None leaves it to the caller's AWS configuration.
    """

    stack: str
    region: str | None

    def client(self, service: str) -> Any:
        """Return a boto3 client with the caller's own AWS credentials, e.g. `client("dynamodb")`."""
        return boto3.Session(region_name=self.region).client(service)  # type: ignore[call-overload]  # stubs know names


def profile(name: str) -> DeployProfile:
    """Return a profile.

    Raises:
        Trouble: there is none of this name.
    """
    profiles = tomllib.loads((ROOT / "samconfig.toml").read_text())
    try:
        parameters = profiles[name]["deploy"]["parameters"]
    except (KeyError, TypeError):
        raise Trouble(f"PROFILE must be a profile of samconfig.toml that deploys, not {name}.", exit_code=2) from None
    return DeployProfile(parameters["stack_name"], parameters.get("region"))


@contextmanager
def reading(name: str) -> Iterator[DeployProfile]:
    """Yield a profile, and translate AWS errors in the block into `Trouble`.

    Raises:
        Trouble: there is none of this name, or its stack cannot be read; the text gives AWS's reason.
    """
    chosen = profile(name)
    try:
        yield chosen
    except (BotoCoreError, ClientError) as error:
        raise Trouble(f"The stack {chosen.stack} of PROFILE={name} cannot be read: {error}") from None
