"""The README tells the truth about the settings."""

from __future__ import annotations

import re
from pathlib import Path

from fencepost.settings import Settings
from local import template

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([A-Z_]+)` \| `(\w+)` \| (?:–|`(.*?)`) \| (.+) \|$", re.MULTILINE)
FIELDS = {field.alias: field for field in Settings.model_fields.values()}


def test_every_setting_that_a_parameter_sets_is_documented_with_its_default() -> None:
    documented = {variable: (parameter, default or "") for variable, parameter, default, _ in ROW.findall(README)}
    parameters = template.load()["Parameters"]
    assert set(documented) == set(template.variables()) | {"ANTHROPIC_API_KEY"}
    for parameter, default in documented.values():
        assert str(parameters[parameter]["Default"]) == default


def test_the_words_are_those_of_the_settings_model() -> None:
    for variable, _, _, description in ROW.findall(README):
        assert FIELDS[variable].description == description
