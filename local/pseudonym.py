"""`make -s pseudonym KIND=conv ORG=acme ID=0198…`: print the pseudonym of a user or an object in the logs.

The signing secret of a deployment comes over standard input, where no list of processes shows it:

    aws secretsmanager get-secret-value --secret-id ARN --query SecretString --output text | make -s pseudonym …

Without one, it is that of the running local cloud.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError

from fencepost.kernel.aws.secrets import SecretKeys
from fencepost.observability.domain.pseudonyms import PseudonymKind
from fencepost.observability.service import pseudonyms
from local.deploy import STACK
from local.directory import named
from local.emulator import client
from local.paths import state_folder
from local.stacks import outputs
from local.state import StateFolder
from local.trouble import Trouble

_EXAMPLE = "make -s pseudonym KIND=conv ORG=acme ID=0198…"
_KINDS: Final[Mapping[str, PseudonymKind]] = {"org": "org", "owner": "owner", "conv": "conv"}


def pseudonym(environment: Mapping[str, str], secret: str) -> str:
    """Return the pseudonym that `KIND=`, `ORG=` and `ID=` ask for.

    Args:
        secret: the signing secret.

    Raises:
        Trouble: a variable is missing or wrong.
    """
    kind = _KINDS.get(environment.get("KIND", ""))
    if kind is None:
        raise Trouble(f"KIND must be conv, owner or org, as in: {_EXAMPLE}", exit_code=2)
    org, name = named("ORG", environment.get("ORG", ""), _EXAMPLE), environment.get("ID", "")
    if (kind == "org") == bool(name):
        raise Trouble(f"ID names a conversation or an owner (visitor:…, member:…), as in: {_EXAMPLE}", exit_code=2)
    return pseudonyms(SecretKeys("secret", read=lambda *_: secret)).of(kind, org, name)


def main() -> int:
    """Print the pseudonym, and return the exit code."""
    try:
        piped = "" if sys.stdin.isatty() else sys.stdin.read().strip()
        print(pseudonym(os.environ, piped or _of_local_cloud()))
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return trouble.exit_code
    return 0


def _of_local_cloud() -> str:
    endpoint = StateFolder(state_folder()).serving().endpoint_url
    try:
        secret = outputs(client("cloudformation", endpoint), STACK)["SigningSecretArn"]
        reply = client("secretsmanager", endpoint).get_secret_value(SecretId=secret)
    except (BotoCoreError, ClientError):
        raise Trouble("The local cloud does not answer: is `make dev` still running?") from None
    return str(reply["SecretString"])


if __name__ == "__main__":
    sys.exit(main())
