"""`make site ORG=acme SITE=docs ORIGINS=https://acme.example`: create or change a site, and print its public key.

With `PROFILE=` the site is one of the stack on AWS.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace

from fencepost.identity.domain.sites import SITE_KEY, Origin, Site, parse_origin
from fencepost.web.admin.service import Administration
from local.directory import change, named, operator
from local.trouble import Trouble

_EXAMPLE = "make site ORG=acme SITE=docs ORIGINS=https://acme.example"


def put(directory: Administration, environment: Mapping[str, str]) -> str:
    """Store the site, create the organisation if it is new, and return the public key.

    Variables that are not set leave the site's fields unchanged. A new site's key is made of the two ids.

    Raises:
        Trouble: a variable is missing or wrong.
        FencepostError: `site_key_taken`.
    """
    org = named("ORG", environment.get("ORG", ""), _EXAMPLE)
    site_id = named("SITE", environment.get("SITE", ""), _EXAMPLE)
    key, origins = _key(environment.get("KEY", "")), _origins(environment.get("ORIGINS", ""))
    scope = operator(org)
    site = directory.site(scope, site_id) or Site(org=org, id=site_id, key="")
    changed = replace(site, key=key or site.key, origins=origins or site.origins, active=True)
    return directory.put_site(scope, changed).key


def _key(text: str) -> str:
    if text and not SITE_KEY.fullmatch(text):
        raise Trouble("KEY must be 1 to 128 letters, digits, hyphens and underscores.", exit_code=2)
    return text


def _origins(text: str) -> tuple[Origin, ...]:
    try:
        return tuple(parse_origin(part.strip()) for part in text.split(",") if part.strip())
    except ValueError:
        raise Trouble(f"ORIGINS must be origins, comma-separated, as in: {_EXAMPLE}", exit_code=2) from None


if __name__ == "__main__":
    sys.exit(change(put, os.environ))
