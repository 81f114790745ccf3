"""`make member ORG=acme USER=u1 ROLE=member|admin|none`: set a user's membership; with `PROFILE=`, on AWS."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping

from fencepost.identity.domain.scope import OrgRole
from fencepost.web.admin.service import Administration
from local.directory import change, named, operator
from local.trouble import Trouble

_EXAMPLE = "make member ORG=acme USER=u1 ROLE=member"
_USER = re.compile(r"[!-~]{1,255}")
_ROLES = {"admin": OrgRole.ADMIN, "member": OrgRole.MEMBER, "none": None}


def put(directory: Administration, environment: Mapping[str, str]) -> str:
    """Store the membership, create the organisation if it is new, and return a sentence about it.

    Unlike an admin, the operator may create the first admin and remove the last.

    Raises:
        Trouble: a variable is missing or wrong.
    """
    org, user = named("ORG", environment.get("ORG", ""), _EXAMPLE), subject(environment, _EXAMPLE)
    role = environment.get("ROLE", "")
    if role not in _ROLES:
        raise Trouble(f"ROLE must be admin, member or none, as in: {_EXAMPLE}", exit_code=2)
    scope = operator(org)
    directory.ensure_organisation(scope)
    directory.put_member(scope, user, _ROLES[role])
    return f"{user} has the role {role} in {org}."


def subject(environment: Mapping[str, str], example: str) -> str:
    """Return the user that `USER=` names.

    Raises:
        Trouble: the variable is missing or malformed.
    """
    user = environment.get("MEMBER", "")
    if not _USER.fullmatch(user):
        raise Trouble(f"USER must be 1 to 255 visible ASCII characters, as in: {example}", exit_code=2)
    return user


if __name__ == "__main__":
    sys.exit(change(put, os.environ))
