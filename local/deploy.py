"""Create, update and release the stack on the emulator.

Uses the CloudFormation API rather than `sam deploy`, on whose command line the provider's key would be readable.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from local import build, gateway_responses, workers
from local.emulator import Emulator
from local.release import functions_of, release
from local.stacks import outputs
from local.trouble import Trouble

STACK = "fencepost"
STAGE = "live"
_TEMPLATE_NAME = "template.yaml"
_DEADLINE_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Deployment:
    """Addresses and names of a deployed stack.

    Attributes:
        api_id: id of the REST API.
        api_url: address of the API, without a trailing slash.
        functions: physical names of the functions.
    """

    api_id: str
    api_url: str
    functions: tuple[str, ...]


def deploy(emulator: Emulator, template: str, parameters: Mapping[str, str]) -> Deployment:
    """Create or update the stack and point the functions' aliases at the new versions.

    Raises:
        Trouble: the deployment failed; the text gives the reason.
    """
    client, store = emulator.client("cloudformation"), emulator.client("s3")
    # A request may hold 51,200 bytes of template, an S3 object a million.
    # Source: docs.aws.amazon.com, "Understand CloudFormation quotas".
    store.create_bucket(Bucket=build.BUCKET)
    store.put_object(Bucket=build.BUCKET, Key=_TEMPLATE_NAME, Body=template.encode())
    request = {
        "StackName": STACK,
        "TemplateURL": f"{emulator.endpoint_url}/{build.BUCKET}/{_TEMPLATE_NAME}",
        "Capabilities": ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        "Parameters": [{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()],
    }
    if exists(emulator):
        _update(client, request)
    else:
        client.create_stack(**request)
    _await(client)
    release(emulator.client("lambda"), functions_of(client, STACK))
    workers.limit(emulator.client("lambda"))
    deployment = describe(emulator)
    gateway_responses.put(emulator.client("apigateway"), deployment.api_id, STAGE)
    return deployment


def describe(emulator: Emulator) -> Deployment:
    """Return the deployed stack."""
    client = emulator.client("cloudformation")
    api_id = outputs(client, STACK)["ApiId"]
    url = f"{emulator.endpoint_url}/_aws/execute-api/{api_id}/{STAGE}"
    return Deployment(api_id, url, tuple(functions_of(client, STACK)))


def exists(emulator: Emulator) -> bool:
    """Return whether the stack exists."""
    client = emulator.client("cloudformation")
    try:
        client.describe_stacks(StackName=STACK)
    except ClientError:
        return False
    return True


def _update(client: Any, request: dict[str, Any]) -> None:
    try:
        client.update_stack(**request)
    except ClientError as error:
        if "No updates" not in str(error):
            raise


def _await(client: Any) -> None:
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while time.monotonic() < deadline:
        status = client.describe_stacks(StackName=STACK)["Stacks"][0]["StackStatus"]
        if status in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
            return
        if not status.endswith("_IN_PROGRESS") or "ROLLBACK" in status:
            break
        time.sleep(0.2)
    raise Trouble(f"The stack could not be deployed: {_reasons(client)}")


def _reasons(client: Any) -> str:
    events = client.describe_stack_events(StackName=STACK)["StackEvents"]
    failed = (row for row in events if row["ResourceStatus"].endswith("_FAILED"))
    return "; ".join(
        f"{row['LogicalResourceId']}: {row.get('ResourceStatusReason', 'no reason given')}" for row in failed
    )
