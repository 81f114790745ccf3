"""The template's parameters for a local deployment: what the environment says, and local values for the rest."""

from __future__ import annotations

import difflib
import platform
from collections.abc import Mapping
from pathlib import Path

from fencepost.settings import InvalidSettings, load_settings
from local import issuer, template
from local.trouble import Trouble

PROVIDER_PATH = "/_local/provider"
SITE_PATH = "/_local/site"
ISSUER_PATH = "/_local/issuer"
INDEX_FILE = "index.sqlite"
# Each instance of a function is a process that unpacks its layers; the front door makes further requests wait.
CONCURRENCY = 4

_OWN_PREFIXES = ("FENCEPOST_", "RATE_LIMIT_")
_OWN_VARIABLES = ("FENCEPOST_STATE_DIR", "FENCEPOST_DATA")
"""Read by the local tools and the benchmarks, not by the functions."""


def machine() -> str:
    """Return this machine's architecture as Lambda names it."""
    return "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64"


def from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters that the environment sets, after the settings model has accepted all of them.

    Raises:
        Trouble: a variable is invalid; the text gives its name, kind and allowed values. Also raised for an unknown
            name, since a limit under a mistyped name would have no effect.
    """
    _refuse_unknown(environment)
    try:
        load_settings(environment)
    except InvalidSettings as error:
        raise Trouble(f"Fencepost cannot start with these settings:\n{error}", exit_code=2) from None
    names = template.variables()
    return {names[name]: value for name, value in environment.items() if name in names}


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    known = {*template.variables(), *_OWN_VARIABLES}
    for name in environment:
        if name.startswith(_OWN_PREFIXES) and name not in known:
            nearest = difflib.get_close_matches(name, known, n=1)
            hint = f" Is {nearest[0]} meant?" if nearest else ""
            raise Trouble(f"There is no setting {name}.{hint} README.md lists them all.", exit_code=2)


def local(environment: Mapping[str, str], url: str, folder: Path) -> dict[str, str]:
    """Return the parameters of a local deployment behind the front door at `url`, with its data in a folder.

    Without a key and without an endpoint the provider is the stand-in; without a site the documents are the sample's;
    without an OpenID provider members' tokens are the local issuer's. The index is a file, and the embedder the
    machine's own.

    Raises:
        Trouble: a variable is invalid.
    """
    chosen = from_environment(environment)
    defaults = {
        "AnthropicApiKey": "local",
        "DocsSiteUrl": f"{url}{SITE_PATH}",
        "DocsAllowLoopback": "true",
        "Index": "embedded",
        "IndexPath": str(folder / INDEX_FILE),
        "Embedder": "local",
        "ReservedConcurrency": str(CONCURRENCY),
        "Architecture": machine(),
        # The emulator would start every function at once, with all it imports, and keep the laptop busy for a minute.
        "SnapStart": "None",
        # The front door already makes requests wait; what the gateway turned away would be news of this machine alone.
        "ThrottleRate": "10000",
        "ThrottleBurst": "10000",
    }
    if not environment.get("FENCEPOST_OIDC_ISSUER"):
        defaults |= {
            "OidcIssuer": issuer.ISSUER,
            "OidcAudience": issuer.AUDIENCE,
            "OidcJwksUrl": f"{url}{ISSUER_PATH}/jwks.json",
        }
    if needs_stand_in(environment):
        defaults["AnthropicBaseUrl"] = f"{url}{PROVIDER_PATH}"
    filled = {name: value for name, value in chosen.items() if value}
    allowed = [*origins(url), *filter(None, [chosen.get("AllowedOrigins")])]
    return defaults | filled | {"AllowedOrigins": ",".join(allowed)}


def origins(url: str) -> tuple[str, str]:
    """Return the two origins of the front door in a browser on this machine."""
    return url, url.replace("127.0.0.1", "localhost")


def needs_stand_in(environment: Mapping[str, str]) -> bool:
    """Return whether the environment names no provider."""
    return not environment.get("ANTHROPIC_API_KEY") and not environment.get("ANTHROPIC_BASE_URL")
