"""The operator's access to a stack's directory: of the running local cloud, or with `PROFILE=` of a deployed stack."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from fencepost.identity.domain.scope import ORG_ID, Action, Operator, Resource, Scope, authorize
from fencepost.identity.domain.sites import LayerBudgets, Site, parse_origin
from fencepost.identity.dynamodb.directory_admin import DynamoDbDirectoryAdmin
from fencepost.kernel.clock import utc_now
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.web.admin.service import Administration
from local.deploy import STACK
from local.emulator import client
from local.paths import state_folder
from local.profiles import reading
from local.stacks import outputs
from local.state import StateFolder
from local.trouble import Trouble

DEMO = "demo"
"""Organisation of a new local cloud, its site, and the site's public key."""

_KEY_TAKEN = "This public key belongs to another site: choose one with KEY=."
LOCAL_SILENT = "The local cloud does not answer: is `make dev` still running?"
DEPLOYED_SILENT = "The stack's table does not answer: may these credentials read and write its items?"


def administration(endpoint_url: str) -> Administration:
    """Return the administration of the directory on this emulator.

    Raises:
        Trouble: it does not answer.
    """
    try:
        return _administration(partial(client, endpoint_url=endpoint_url), STACK)
    except (BotoCoreError, ClientError):
        raise Trouble(LOCAL_SILENT) from None


def deployed(name: str) -> Administration:
    """Return the administration of the directory that a profile deployed, with the caller's AWS credentials.

    Raises:
        Trouble: there is no such profile, or its stack cannot be read; the text gives AWS's reason.
    """
    with reading(name) as chosen:
        return _administration(chosen.client, chosen.stack)


def reached(name: str) -> Administration:
    """Return the administration of a profile's directory; without a name, of the running local cloud's.

    Raises:
        Trouble: it cannot be read.
    """
    return deployed(name) if name else administration(StateFolder(state_folder()).serving().endpoint_url)


def _administration(connect: Callable[[str], Any], stack: str) -> Administration:
    table = outputs(connect("cloudformation"), stack)["DirectoryTableName"]
    dynamodb = connect("dynamodb")
    directory = DynamoDbDirectoryAdmin(table, lambda: dynamodb)
    return Administration(directory, LayerBudgets(), utc_now)


def operator(org: str) -> Scope:
    """Return the scope in which the operator administers an organisation."""
    return authorize(Operator(org), Action.ADMINISTER, Resource(org))


def seed(directory: Administration, origins: Iterable[str]) -> None:
    """Create the organisation `demo` with one site, or add these origins to the existing site."""
    scope, wanted = operator(DEMO), tuple(map(parse_origin, origins))
    site = directory.site(scope, DEMO)
    if site is None:
        directory.put_site(scope, Site(org=DEMO, id=DEMO, key=DEMO, origins=wanted))
    elif not set(wanted) <= set(site.origins):
        directory.put_site(scope, replace(site, origins=tuple(dict.fromkeys((*wanted, *site.origins)))))


def change(act: Callable[[Administration, Mapping[str, str]], str], environment: Mapping[str, str]) -> int:
    """Run a command on a directory, print its result, and return the exit code.

    Args:
        act: the command; receives the directory and the environment.
        environment: `DEPLOYED` names the profile of the stack; without it, the running local cloud is used.
    """
    name = environment.get("DEPLOYED", "")
    try:
        print(act(reached(name), environment))
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return trouble.exit_code
    except FencepostError as error:
        print(_sentence(error.code, DEPLOYED_SILENT if name else LOCAL_SILENT), file=sys.stderr)
        return 1
    return 0


def _sentence(code: ErrorCode, silent: str) -> str:
    known = {ErrorCode.SITE_KEY_TAKEN: _KEY_TAKEN, ErrorCode.CONVERSATIONS_UNAVAILABLE: silent}
    return known.get(code, f"The directory was not changed: {code}")


def named(variable: str, value: str, example: str) -> str:
    """Return the id of an organisation or a site.

    Raises:
        Trouble: the id is missing or malformed.
    """
    if not ORG_ID.fullmatch(value):
        raise Trouble(
            f"{variable} must be 1 to 63 lower-case letters, digits and hyphens, as in: {example}", exit_code=2
        )
    return value
