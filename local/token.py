"""`make -s token USER=u1`: print a token for a member."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import httpx

from local.directory import named
from local.member import subject
from local.parameters import ISSUER_PATH
from local.paths import state_folder
from local.state import StateFolder
from local.trouble import Trouble

_EXAMPLE = "make -s token USER=u1"
_TIMEOUT_SECONDS = 10.0


def main() -> int:
    """Print the token, and return the exit code."""
    try:
        print(token(os.environ))
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return trouble.exit_code
    return 0


def token(environment: Mapping[str, str]) -> str:
    """Return a token of the local issuer, for `USER=` and by default in `ORG=`.

    Raises:
        Trouble: a variable is missing or wrong, no local cloud is running, or it does not answer.
    """
    user, org = subject(environment, _EXAMPLE), environment.get("ORG", "")
    wanted = {"user": user} | ({"org": named("ORG", org, f"{_EXAMPLE} ORG=acme")} if org else {})
    url = StateFolder(state_folder()).serving().url
    try:
        reply = httpx.post(f"{url}{ISSUER_PATH}/token", json=wanted, timeout=_TIMEOUT_SECONDS, trust_env=False)
        signed: str = reply.raise_for_status().json()["access_token"]
    except httpx.HTTPError:
        raise Trouble(f"{url} gives no token: is `make dev` still running?") from None
    return signed


if __name__ == "__main__":
    sys.exit(main())
