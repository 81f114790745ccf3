"""The gateway's own answers, as the template words them.

SAM puts them into the API's OpenAPI document, from which the emulator takes paths and methods alone. So they are put
here, by the same API that a cloud has for it.
"""

from __future__ import annotations

from typing import Any

from local import template


def put(client: Any, api_id: str, stage: str) -> None:
    """Give the API the template's gateway responses, and have the stage serve them."""
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
