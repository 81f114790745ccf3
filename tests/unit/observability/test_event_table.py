"""The table of events is closed: no field of any event can hold user content or identities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAliasType, Union, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from fencepost.observability.domain import events
from fencepost.observability.domain.event_parts import Pseudonym, RouteName, SourceId, Subject
from fencepost.observability.domain.events import AuditRecord, Event

TABLE: tuple[type[BaseModel], ...] = (*get_args(Event), AuditRecord)
PLAIN = (bool, int, float, date, datetime, NoneType)
# Texts of a form that no sentence has, each with what makes it.
FORMS = {
    Pseudonym: "a keyed hash",
    RouteName: "a row of our own table of routes",
    SourceId: "a public section's id, or a pseudonym",
}
# Names that our own code makes; each has a pattern or is a constant of ours.
OWN_NAMES = {
    ("UnexpectedErrorEvent", "kind"),
    ("UnexpectedErrorEvent", "raised_at"),
    ("RequestEvent", "prompt_version"),
}


def fields() -> Iterator[tuple[str, str, Any]]:
    models = [*TABLE, *(model for model in vars(events).values() if is_part(model))]
    for model in models:
        for name, hint in get_type_hints(model, include_extras=True).items():
            if not name.startswith("model_"):
                yield model.__name__, name, hint


def is_part(model: object) -> bool:
    return isinstance(model, type) and issubclass(model, BaseModel) and model not in TABLE and model is not BaseModel


def is_closed(hint: Any) -> bool:
    if hint in FORMS or hint in PLAIN or get_origin(hint) is Literal:
        return True
    if isinstance(hint, TypeAliasType):
        return is_closed(hint.__value__)
    if get_origin(hint) in (Union, UnionType, tuple, Annotated):
        parts = get_args(hint)[:1] if get_origin(hint) is Annotated else get_args(hint)
        return all(part is Ellipsis or is_closed(part) for part in parts)
    return isinstance(hint, type) and issubclass(hint, Enum | BaseModel)


@pytest.mark.parametrize(
    ("model", "name", "hint"), list(fields()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_field_is_a_number_a_time_a_fixed_word_or_a_form(model: str, name: str, hint: Any) -> None:
    assert is_closed(hint) or (model, name) in OWN_NAMES


@pytest.mark.parametrize("model", TABLE, ids=lambda model: model.__name__)
def test_no_event_takes_a_field_that_it_does_not_name(model: type[BaseModel]) -> None:
    assert model.model_config["extra"] == "forbid"
    assert model.model_config["frozen"]


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("text", ["how do I cancel", "jane.doe@mail.example wrote", "", "member:jane doe", "a\nb"])
def test_a_form_takes_no_sentence(form: Any, text: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(form).validate_python(text)


@pytest.mark.parametrize("raw", ["acme", "visitor:0198", "member:jane", "conv_", "org_0123456789ABCDEF"])
def test_a_subject_takes_nothing_but_pseudonyms(raw: str) -> None:
    for name in Subject.model_fields:
        with pytest.raises(ValidationError):
            Subject.model_validate({"org": "org_0123456789abcdef", name: raw})


def test_every_event_has_a_name_of_its_own() -> None:
    names = [model.model_fields["event"].default for model in get_args(Event)]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z_]+", name) for name in names)
