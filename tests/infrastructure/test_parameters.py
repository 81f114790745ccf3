"""The parameters against the settings that they set, and the groups in which a console shows them.

Defaults stand in the settings model, which the local tools and `make invoke` read without a template, and in the
parameters, where CloudFormation checks numbers, draws the cap on the dashboard and shows an operator what holds. An
empty parameter cannot mean the model's default: an empty number is refused, so that a limit that was left blank never
becomes another limit. So both are kept, and compared here one by one.
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict
from typing import Any, get_args

import pytest

from fencepost.identity.domain.sites import LayerBudgets
from fencepost.settings import Settings, load_settings
from local import template
from local.paths import ROOT
from tests.infrastructure.test_template import FUNCTIONS, GLOBALS, PARAMETERS, referenced

INTERFACE: dict[str, Any] = template.load()["Metadata"]["AWS::CloudFormation::Interface"]
FIELDS = {field.alias: (name, field) for name, field in Settings.model_fields.items()}
SET_BY_PARAMETERS = {variable: name for variable, name in template.variables().items() if name != "AnthropicApiKey"}
ENVIRONMENTS = {name: row["Environment"]["Variables"] for name, row in FUNCTIONS.items() if "Environment" in row}
ENVIRONMENT_BYTES = 4_096
"""Of names and values together. Source: docs.aws.amazon.com, "Lambda quotas"."""
NAME_OF_A_RESOURCE = "x" * 100
"""A queue's address or a secret's ARN is about as long."""
BYTES_LEFT_FOR_A_DEPLOYMENT = 1_000
"""For origins, addresses and a demo reply, all of which are empty or short by default."""


def test_every_parameter_is_in_exactly_one_group_in_the_order_of_the_file() -> None:
    grouped = [name for group in INTERFACE["ParameterGroups"] for name in group["Parameters"]]
    assert grouped == list(PARAMETERS)


def test_every_profile_sets_parameters_that_exist() -> None:
    profiles = tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8"))
    for name in ("dev", "prod"):
        overrides = profiles[name]["deploy"]["parameters"]["parameter_overrides"]
        assert {override.partition("=")[0] for override in overrides} <= PARAMETERS.keys(), name


def test_every_group_and_every_parameter_has_a_label_of_its_own() -> None:
    groups = [group["Label"]["default"] for group in INTERFACE["ParameterGroups"]]
    labels = [label["default"] for label in INTERFACE["ParameterLabels"].values()]
    assert list(INTERFACE["ParameterLabels"]) == list(PARAMETERS)
    assert len({*groups, *labels}) == len(groups) + len(labels)
    assert all((*groups, *labels))


@pytest.mark.parametrize("variable", SET_BY_PARAMETERS)
def test_a_parameter_has_the_default_of_its_setting(variable: str) -> None:
    name, _ = FIELDS[variable]
    default = str(PARAMETERS[SET_BY_PARAMETERS[variable]]["Default"])
    assert getattr(load_settings({variable: default}), name) == getattr(load_settings({}), name)


@pytest.mark.parametrize("variable", SET_BY_PARAMETERS)
def test_a_parameter_names_its_variable_and_allows_what_its_setting_allows(variable: str) -> None:
    _, field = FIELDS[variable]
    parameter = PARAMETERS[SET_BY_PARAMETERS[variable]]
    assert parameter["Description"] == variable
    choices = ("true", "false") if isinstance(field.default, bool) else get_args(field.annotation)
    assert set(parameter.get("AllowedValues", ())) == {choice for choice in choices if isinstance(choice, str)}


@pytest.mark.parametrize("function", ENVIRONMENTS)
def test_every_function_has_each_setting_from_the_same_parameter(function: str) -> None:
    references = {name: referenced(value) for name, value in ENVIRONMENTS[function].items()}
    assert {name: target for name, target in references.items() if target in PARAMETERS} == SET_BY_PARAMETERS


def test_a_site_that_sets_no_budgets_has_those_of_a_deployment_that_sets_none() -> None:
    budgets, settings = asdict(LayerBudgets()), load_settings({})
    budgets["conversation_messages"] = budgets.pop("messages")
    assert budgets == {name: getattr(settings, name) for name in budgets}


@pytest.mark.parametrize("function", ENVIRONMENTS)
def test_an_environment_leaves_room_for_what_a_deployment_sets(function: str) -> None:
    defaults = template.defaults(function)
    values = {name: defaults.get(name, NAME_OF_A_RESOURCE) for name in ENVIRONMENTS[function]}
    environment = GLOBALS["Environment"]["Variables"] | values
    size = sum(len(name.encode()) + len(value.encode()) for name, value in environment.items())
    assert size <= ENVIRONMENT_BYTES - BYTES_LEFT_FOR_A_DEPLOYMENT
