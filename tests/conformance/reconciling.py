"""Conformance tests of every `OrganisationRegistry` and `ReconcileStore`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fencepost.jobs.domain.index_diff import DiffProgress, DiffStep
from fencepost.jobs.ports import OrganisationRegistry, ReconcileStore
from fencepost.kernel.errors import FencepostError
from tests.fakes.corpus import operator

ORGS = ("acme", "mid", "zeta")


class RegistryConformance:
    """The tests. A subclass provides `subject`, which lists `ORGS`, and `broken`."""

    def test_organisations_are_listed_by_id(self, subject: OrganisationRegistry) -> None:
        first = subject.page(after=None, limit=2)
        assert (first.items, first.next_key) == (("acme", "mid"), "mid")
        assert subject.page(after="mid", limit=2).items == ("zeta",)
        assert subject.page(after="beta", limit=1).items == ("mid",), "an id that is not listed has a place as well"
        assert subject.page(after="zeta", limit=2).items == ()

    def test_the_last_organisation_that_had_its_turn_is_remembered(self, subject: OrganisationRegistry) -> None:
        assert subject.last_done() is None
        subject.done("acme")
        assert subject.last_done() == "acme"
        subject.done("zeta")
        assert subject.last_done() == "zeta"
        assert subject.page(after=None, limit=9).items == ORGS

    @pytest.mark.parametrize(
        "call",
        [
            lambda registry: registry.page(after=None, limit=1),
            lambda registry: registry.last_done(),
            lambda registry: registry.done("acme"),
        ],
    )
    def test_an_unreachable_roll_raises_one_error(
        self, broken: OrganisationRegistry, call: Callable[[OrganisationRegistry], object]
    ) -> None:
        with pytest.raises(FencepostError, match=r"^conversations_unavailable$"):
            call(broken)


class ReconcileConformance:
    """The tests. A subclass provides the fixtures `subject` and `broken`."""

    def test_each_organisation_has_its_own_progress(self, subject: ReconcileStore) -> None:
        assert subject.progress(operator("acme")) == DiffProgress()
        there = DiffProgress(step=DiffStep.DOCUMENTS, after="2026|d1", within="c7")
        subject.keep(operator("acme"), there)
        assert subject.progress(operator("acme")) == there
        assert subject.progress(operator("zeta")) == DiffProgress()
        subject.keep(operator("acme"), DiffProgress())
        assert subject.progress(operator("acme")) == DiffProgress()

    @pytest.mark.parametrize(
        "call",
        [lambda store: store.progress(operator()), lambda store: store.keep(operator(), DiffProgress())],
    )
    def test_an_unreachable_store_raises_one_error(
        self, broken: ReconcileStore, call: Callable[[ReconcileStore], object]
    ) -> None:
        with pytest.raises(FencepostError, match=r"^conversations_unavailable$"):
            call(broken)
