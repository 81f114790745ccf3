"""Deployed stacks, as CloudFormation tells of them."""

from __future__ import annotations

from typing import Any


def outputs(cloudformation: Any, stack: str) -> dict[str, str]:
    """Return a stack's outputs by their names. Errors are botocore's."""
    described = cloudformation.describe_stacks(StackName=stack)["Stacks"][0]
    return {row["OutputKey"]: row["OutputValue"] for row in described["Outputs"]}
