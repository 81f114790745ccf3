"""Outputs of deployed stacks."""

from __future__ import annotations

from typing import Any


def outputs(cloudformation: Any, stack: str) -> dict[str, str]:
    """Return a stack's outputs by name. Raises botocore's errors."""
    described = cloudformation.describe_stacks(StackName=stack)["Stacks"][0]
    return {row["OutputKey"]: row["OutputValue"] for row in described["Outputs"]}
