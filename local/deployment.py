"""A stack's settings as its jobs function reads them: the running local cloud's, or with `PROFILE=` a deployed one's.

The tools that use them work with the caller's credentials, not with the functions' roles.
"""

from __future__ import annotations

import os

from fencepost.observability.powertools.log import silence_libraries
from fencepost.settings import Settings, load_settings
from local import emulator, invoke
from local.paths import state_folder
from local.profiles import reading
from local.stacks import outputs
from local.state import StateFolder

_WORKER = "JobsFunction"


def connected(name: str) -> Settings:
    """Return a stack's settings, and configure this process's AWS clients for that stack.

    Args:
        name: the profile that deployed the stack; empty for the running local cloud.

    Raises:
        Trouble: no local cloud is running, the profile does not exist, or its stack cannot be read; the text says why.
    """
    if name:
        variables = _deployed(name)
    else:
        running = StateFolder(state_folder()).serving()
        # The adapters' clients find the emulator where the SDK looks for it.
        os.environ.update(emulator.CREDENTIALS, AWS_REGION=emulator.REGION, AWS_ENDPOINT_URL=running.endpoint_url)
        variables = invoke.variables(_WORKER)
    settings = load_settings(variables)
    silence_libraries()
    # Only the functions may take the role that is bound to one organisation.
    return settings.model_copy(update={"tenant_role": ""}) if name else settings


def _deployed(name: str) -> dict[str, str]:
    with reading(name) as chosen:
        worker = outputs(chosen.client("cloudformation"), chosen.stack)[f"{_WORKER}Name"]
        client = chosen.client("lambda")
        variables: dict[str, str] = client.get_function_configuration(FunctionName=worker)["Environment"]["Variables"]
    region = client.meta.region_name
    os.environ.update(AWS_REGION=region, AWS_DEFAULT_REGION=region)
    return variables
