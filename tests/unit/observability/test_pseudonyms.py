from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.identity.domain.scope import (
    Action,
    Member,
    Membership,
    OrgRole,
    Resource,
    Scope,
    Visitor,
    authorize,
    own,
)
from fencepost.observability.domain.pseudonyms import Pseudonyms, is_public
from fencepost.observability.service import pseudonyms, subject, subject_of
from tests.fakes.answers import FakeKeys

NAMES = pseudonyms(FakeKeys())
ids = st.text(min_size=1, max_size=40)


def scope(org: str = "acme", visitor: str = "v1") -> Scope:
    caller = Visitor(org, "docs", visitor)
    return authorize(caller, Action.READ, own(caller))


@given(org=ids, name=ids)
def test_a_pseudonym_is_the_same_each_time_and_says_nothing_of_the_id(org: str, name: str) -> None:
    pseudonym = NAMES.of("conv", org, name)
    assert pseudonym == pseudonyms(FakeKeys()).of("conv", org, name)
    assert re.fullmatch(r"conv_[0-9a-f]{16}", pseudonym)


@given(first=st.tuples(ids, ids), second=st.tuples(ids, ids))
def test_what_is_cut_differently_is_named_differently(first: tuple[str, str], second: tuple[str, str]) -> None:
    assert (NAMES.of("conv", *first) == NAMES.of("conv", *second)) == (first == second)


def test_another_key_gives_other_names() -> None:
    assert Pseudonyms(b"x" * 32).of("org", "acme") != Pseudonyms(b"y" * 32).of("org", "acme")


def test_one_person_in_two_organisations_has_two_names() -> None:
    assert NAMES.owner(scope("acme")) != NAMES.owner(scope("zeta"))


def test_kinds_are_kept_apart() -> None:
    assert NAMES.of("conv", "acme", "x")[5:] != NAMES.of("msg", "acme", "x")[4:]


@pytest.mark.parametrize("source", ["guide/install#3.2", "doc:guide/install#3", "注文/注文方法#1"])
def test_ids_of_public_sections_stay_as_they_are(source: str) -> None:
    assert is_public(source)
    assert NAMES.source(scope(), source) == source


@pytest.mark.parametrize("source", ["msg:jane-doe", "fact:1", "summary:abc", "file:cv-jane"])
def test_ids_of_what_somebody_said_become_pseudonyms(source: str) -> None:
    assert not is_public(source)
    pseudonym = NAMES.source(scope(), source)
    assert re.fullmatch(rf"{source.partition(':')[0]}_[0-9a-f]{{16}}", pseudonym)
    assert pseudonym != NAMES.source(scope(visitor="v2"), source)


def test_the_subject_names_an_actor_only_where_it_is_somebody_else() -> None:
    admin = Member("acme", "root", Membership("acme", "root", OrgRole.ADMIN, active=True, version=3))
    diagnosis = authorize(admin, Action.DIAGNOSE, Resource("acme", "visitor:v1"))
    assert subject(NAMES, scope()).actor is None
    about = subject(NAMES, diagnosis, "c1", "m1")
    assert about.actor == NAMES.of("owner", "acme", "member:root")
    assert about.owner == subject(NAMES, scope()).owner
    assert about.conversation == subject(NAMES, scope(), "c1").conversation
    assert about.message == NAMES.source(scope(), "msg:m1")


def test_what_has_no_scope_has_a_subject_too() -> None:
    about = subject_of(NAMES, Resource("acme", "visitor:v1"), "visitor:v1")
    assert (about.owner, about.actor) == (NAMES.owner(scope()), None)
    assert subject_of(NAMES, Resource("acme")).owner is None
