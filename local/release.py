"""Point each function's alias at the code and parameters that were just deployed.

SAM publishes a version when code or layers change, and not when a parameter does: a lowered cap would change the
function but not the version that the alias serves. Publishing an unchanged function has no effect.

`python -m local.release PROFILE` releases the stack of a profile in samconfig.toml, with the caller's AWS
credentials; `make deploy` ends with it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from local.profiles import profile

ALIAS = "live"


def release(client: Any, functions: Iterable[str]) -> None:
    """Publish a version of each function, point its alias at that version, and wait until the version is active."""
    for function in functions:
        version = client.publish_version(FunctionName=function)["Version"]
        # With SnapStart the code is initialised now; a failure there is a failure to deploy.
        client.get_waiter("published_version_active").wait(
            FunctionName=function, Qualifier=version, WaiterConfig={"Delay": 1, "MaxAttempts": 300}
        )
        if client.get_alias(FunctionName=function, Name=ALIAS)["FunctionVersion"] != version:
            client.update_alias(FunctionName=function, Name=ALIAS, FunctionVersion=version)


def functions_of(client: Any, stack: str) -> list[str]:
    """Return the physical names of a stack's functions."""
    pages = client.get_paginator("list_stack_resources").paginate(StackName=stack)
    rows = (row for page in pages for row in page["StackResourceSummaries"])
    return sorted(row["PhysicalResourceId"] for row in rows if row["ResourceType"] == "AWS::Lambda::Function")


def main(name: str) -> None:
    """Release the stack of a profile."""
    deployed = profile(name)
    release(deployed.client("lambda"), functions_of(deployed.client("cloudformation"), deployed.stack))


if __name__ == "__main__":
    main(sys.argv[1])
