"""Reader of `template.yaml`: its functions, its parameters, and the environment variable that each parameter sets."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import yaml

from local.paths import TEMPLATE

# The provider's key becomes a secret, not a variable of a function; all others are found in the template.
_SECRETS = {"ANTHROPIC_API_KEY": "AnthropicApiKey"}


class _Loader(yaml.SafeLoader):
    """YAML loader for CloudFormation's short forms: reads `!Ref X` as `{"Ref": "X"}`."""


def _short_form(loader: _Loader, name: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        return {name: loader.construct_scalar(node)}
    if isinstance(node, yaml.SequenceNode):
        return {name: loader.construct_sequence(node, deep=True)}
    return {name: loader.construct_mapping(node, deep=True)} if isinstance(node, yaml.MappingNode) else {}


_Loader.add_multi_constructor("!", _short_form)


@cache
def load() -> dict[str, Any]:
    """Return `template.yaml` with aliases and merges filled in, and short forms as mappings without their `Fn::`."""
    # A SafeLoader that only adds short forms.
    document: dict[str, Any] = yaml.load(TEMPLATE.read_text(encoding="utf-8"), _Loader)  # noqa: S506
    return document


def functions() -> tuple[str, ...]:
    """Return the logical ids of the functions."""
    return tuple(name for name, row in load()["Resources"].items() if row["Type"] == "AWS::Serverless::Function")


def function_layers() -> tuple[str, ...]:
    """Return the logical ids of the layers that every function has."""
    return tuple(reference["Ref"] for reference in load()["Globals"]["Function"]["Layers"])


def common_variables() -> dict[str, str]:
    """Return the environment variables that every function has."""
    return dict(load()["Globals"]["Function"]["Environment"]["Variables"])


def variables() -> dict[str, str]:
    """Return the parameter of each environment variable that a deployment can set."""
    return {name: target for function in functions() for name, target in _references(function)} | _SECRETS


def defaults(function: str) -> dict[str, str]:
    """Return a function's environment variables at the parameters' defaults, without the names of resources."""
    parameters = load()["Parameters"]
    return {name: str(parameters[target]["Default"]) for name, target in _references(function)}


def _references(function: str) -> Iterator[tuple[str, str]]:
    environment = load()["Resources"][function]["Properties"].get("Environment", {}).get("Variables", {})
    for name, value in environment.items():
        # What a condition may make of our own is otherwise the parameter's.
        chosen = value["If"][-1] if isinstance(value, dict) and "If" in value else value
        if isinstance(chosen, dict) and chosen.get("Ref") in load()["Parameters"]:
            yield name, chosen["Ref"]
