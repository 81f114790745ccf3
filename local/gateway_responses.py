"""Gateway responses of the template, applied to the emulated API.

SAM writes them into the API's OpenAPI document, of which the emulator reads only paths and methods. This module sets
them through the API Gateway API.
"""

from __future__ import annotations

from typing import Any

from local import template


def put(client: Any, api_id: str, stage: str) -> None:
    """Set the template's gateway responses on the API and redeploy the stage."""
    for kind, response in template.load()["Resources"]["Api"]["Properties"]["GatewayResponses"].items():
        headers = response.get("ResponseParameters", {}).get("Headers", {})
        client.put_gateway_response(
            restApiId=api_id,
            responseType=kind,
            responseTemplates=response["ResponseTemplates"],
            responseParameters={f"gatewayresponse.header.{name}": value for name, value in headers.items()},
            **({"statusCode": str(response["StatusCode"])} if "StatusCode" in response else {}),
        )
    client.create_deployment(restApiId=api_id, stageName=stage)
