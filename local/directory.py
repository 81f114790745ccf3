"""The running stack's directory, as the operator of this machine changes it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace

from botocore.exceptions import BotoCoreError, ClientError

from fencepost.adapters.dynamodb.directory_admin import DynamoDbDirectoryAdmin
from fencepost.bootstrap.clock import utc_now
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.identity import ORG_ID, Action, Operator, Resource, Scope, authorize
from fencepost.domain.origins import parse_origin
from fencepost.domain.sites import LayerBudgets, Site
from fencepost.services.administration import Administration
from local.deploy import STACK
from local.emulator import client
from local.paths import state_folder
from local.state import StateFolder
from local.trouble import Trouble

DEMO = "demo"
"""The organisation that a fresh local cloud has, its site, and the site's public key."""

_SENTENCES = {
    ErrorCode.SITE_KEY_TAKEN: "This public key belongs to another site: choose one with KEY=.",
    ErrorCode.CONVERSATIONS_UNAVAILABLE: "The local cloud does not answer: is `make dev` still running?",
}


def administration(endpoint_url: str) -> Administration:
    """Return what changes the directory of the stack on this emulator.

    Raises:
        Trouble: it does not answer.
    """
    try:
        stack = client("cloudformation", endpoint_url).describe_stacks(StackName=STACK)["Stacks"][0]
    except (BotoCoreError, ClientError):
        raise Trouble(_SENTENCES[ErrorCode.CONVERSATIONS_UNAVAILABLE]) from None
    outputs = {row["OutputKey"]: row["OutputValue"] for row in stack["Outputs"]}
    dynamodb = client("dynamodb", endpoint_url)
    return Administration(
        DynamoDbDirectoryAdmin(outputs["DirectoryTableName"], lambda: dynamodb), LayerBudgets(), utc_now
    )


def operator(org: str) -> Scope:
    """Return the scope in which the operator administers an organisation."""
    return authorize(Operator(org), Action.ADMINISTER, Resource(org))


def seed(directory: Administration, origins: Iterable[str]) -> None:
    """Make the organisation `demo` with its one site, or let the site that is there serve these origins as well."""
    scope, wanted = operator(DEMO), tuple(map(parse_origin, origins))
    site = directory.site(scope, DEMO)
    if site is None:
        directory.put_site(scope, Site(org=DEMO, id=DEMO, key=DEMO, origins=wanted))
    elif not set(wanted) <= set(site.origins):
        directory.put_site(scope, replace(site, origins=tuple(dict.fromkeys((*wanted, *site.origins)))))


def change(act: Callable[[Administration], str]) -> int:
    """Run a command on the running stack's directory, print what it returns, and return the exit code."""
    try:
        print(act(administration(StateFolder(state_folder()).serving().endpoint_url)))
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return trouble.exit_code
    except FencepostError as error:
        print(_SENTENCES.get(error.code, f"The directory was not changed: {error.code}"), file=sys.stderr)
        return 1
    return 0


def named(variable: str, value: str, example: str) -> str:
    """Return the id of an organisation or a site.

    Raises:
        Trouble: it is missing, or is none.
    """
    if not ORG_ID.fullmatch(value):
        raise Trouble(
            f"{variable} must be 1 to 63 lower-case letters, digits and hyphens, as in: {example}", exit_code=2
        )
    return value
