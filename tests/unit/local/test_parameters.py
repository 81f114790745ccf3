"""Environment variables as parameters of the template."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.settings import Settings
from local import parameters, template
from local.trouble import Trouble

URL = "http://127.0.0.1:8787"
FOLDER = Path("/state")
ISSUED = {
    "ANTHROPIC_API_KEY": "sk-ant-x",
    "ANTHROPIC_BASE_URL": "https://proxy.example/anthropic",
    "FENCEPOST_MODEL": "claude-haiku-4-5",
    "FENCEPOST_DEMO_MODE": "true",
    "FENCEPOST_ALLOWED_ORIGINS": "https://www.example.com",
    "FENCEPOST_DAILY_CALL_LIMIT": "7",
    "FENCEPOST_DAILY_SPEND_LIMIT_USD": "0.25",
    "RATE_LIMIT_PER_MINUTE": "3",
    "RATE_LIMIT_PER_DAY": "9",
    "DOCS_SITE_URL": "https://docs.example.com",
}


def test_every_setting_that_a_person_can_make_reaches_a_parameter() -> None:
    # The names of tables, secrets and the like are the template's own.
    made_by_the_template = ("_SECRET", "_TABLE", "_BUCKET", "_QUEUE", "_ROLE")
    for field in Settings.model_fields.values():
        assert field.alias
        assert field.alias in template.variables() or field.alias.endswith(made_by_the_template), field.alias


def test_the_environment_becomes_parameters() -> None:
    made = parameters.from_environment(ISSUED | {"UNRELATED": "x"})
    assert len(made) == len(ISSUED)
    assert made["AnthropicApiKey"] == "sk-ant-x"
    assert made["RateLimitPerDay"] == "9"


def test_without_a_provider_and_a_site_the_local_ones_stand_in() -> None:
    made = parameters.local({}, URL, FOLDER)
    assert made["AnthropicBaseUrl"] == f"{URL}/_local/provider"
    assert made["DocsSiteUrl"] == f"{URL}/_local/site"
    assert made["AnthropicApiKey"]


def test_documents_are_found_on_the_machine_itself_unless_something_else_is_named() -> None:
    made = parameters.local({}, URL, FOLDER)
    assert (made["Index"], made["Embedder"]) == ("embedded", "local")
    assert Path(made["IndexPath"]).parent == FOLDER
    assert parameters.local({"FENCEPOST_INDEX": "none"}, URL, FOLDER)["Index"] == "none"


@pytest.mark.parametrize("variable", ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"])
def test_a_provider_that_is_named_is_used(variable: str) -> None:
    made = parameters.local({variable: ISSUED[variable]}, URL, FOLDER)
    assert not made.get("AnthropicBaseUrl", "").startswith(URL)
    assert not parameters.needs_stand_in({variable: ISSUED[variable]})


def test_the_front_doors_own_origins_are_allowed_beside_the_persons() -> None:
    made = parameters.local({"FENCEPOST_ALLOWED_ORIGINS": "https://www.example.com"}, URL, FOLDER)
    assert made["AllowedOrigins"] == "http://127.0.0.1:8787,http://localhost:8787,https://www.example.com"


def test_an_empty_limit_is_a_mistake_and_not_the_default() -> None:
    with pytest.raises(Trouble, match="RATE_LIMIT_PER_DAY") as raised:
        parameters.local({"RATE_LIMIT_PER_DAY": ""}, URL, FOLDER)
    assert raised.value.exit_code == 2


def test_a_mistyped_name_is_refused_and_the_nearest_one_named() -> None:
    with pytest.raises(Trouble, match="FENCEPOST_DALY_CALL_LIMIT") as caught:
        parameters.from_environment({"FENCEPOST_DALY_CALL_LIMIT": "3"})
    assert "Is FENCEPOST_DAILY_CALL_LIMIT meant?" in str(caught.value)
    assert caught.value.exit_code == 2


def test_the_tools_own_variables_are_known() -> None:
    assert parameters.from_environment({"FENCEPOST_STATE_DIR": "x", "FENCEPOST_DATA": "y"}) == {}
