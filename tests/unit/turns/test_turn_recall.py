"""A turn with an index: what it looks for, for whom, what its prompt shows, and what becomes of it when all is down."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.identity.domain.scope import Acl, Audience, Member, Membership, OrgRole
from fencepost.kernel.money import Usage
from fencepost.model.ports import Completion
from fencepost.observability.service import Trace
from fencepost.turns.domain.system_prompt import NO_SECTIONS
from fencepost.turns.domain.turns import TurnRequest
from fencepost.turns.service.turn_retrieval import TurnRetrieval
from tests.fakes.retrieval import PATIENT, SHORT, Library
from tests.worlds.corpus_samples import document
from tests.worlds.turn import ANN, TurnWorld

URL = "https://docs.example/linux"
ONE_SECTION = 180
"""Counted tokens in which one section of the site's file has room, and not both."""


class Town:
    """A turn's world with a library."""

    def __init__(self, deadline: float = PATIENT) -> None:
        self.library = Library(floor=0.2)
        self.rows = self.library.shelve(document(url=URL), "install on linux with make", "billing is monthly")
        self.world = TurnWorld(recall=TurnRetrieval(self.library.recall(deadline)))

    @property
    def last(self) -> str:
        """The last block group of the last prompt: what was retrieved, and the message."""
        return "".join(self.world.prompted)

    def cite(self, marker: str) -> None:
        """Let the model answer with a citation."""
        self.world.model.reply = lambda: Completion(f"So [{marker}].", Usage(100, 0, 0, 10), 0.1)


@pytest.fixture
def town() -> Town:
    return Town()


def test_a_passage_is_in_the_prompt_in_the_audit_view_and_in_the_sources_of_the_answer(town: Town) -> None:
    source = f"d1#{town.rows[0].id[:8]}"
    town.cite(f"doc:{source}")
    answer = town.world.say("How do I install linux")
    assert "install on linux with make" in town.last
    (cited,) = answer.answer.sources
    assert (cited.id, cited.url, cited.span) == (source, URL, (0, len(town.rows[0].text)))
    assert answer.answer.content == "So [1]."
    layers = {use.layer: use.sources for use in town.world.context(answer.conversation_id).layers}
    assert f"doc:{source}" in layers["context"]
    assert not answer.answer.degraded


def test_where_no_document_is_relevant_the_prompt_says_so_and_the_sites_file_does_not_step_in(town: Town) -> None:
    narrow = replace(town.world.site.budgets, documents_tokens=ONE_SECTION)
    town.world.site = replace(town.world.site, budgets=narrow)
    town.cite(f"doc:d1#{town.rows[0].id[:8]}")
    answer = town.world.say("Which keys are set")
    assert NO_SECTIONS in town.last
    assert (answer.answer.content, answer.answer.sources, answer.answer.degraded) == ("So.", (), False)
    town.library.index.down = {"lexical", "nearest"}
    town.world.say("Which keys are set", "m2")
    assert "ANTHROPIC_API_KEY" in town.last


@pytest.mark.parametrize(("question", "shown"), [("How do I install linux", 2), ("Which keys are set", 0)])
def test_what_an_index_has_counts_as_something_to_find(town: Town, question: str, shown: int) -> None:
    town.world.site = replace(town.world.site, documents_url="")
    trace = Trace()
    town.world.service().answer(ANN, TurnRequest(message=question, message_id="m1"), trace)
    assert trace.fetched is not None
    assert (trace.fetched.sections, trace.fetched.sections_available) == (shown, shown or 1)


def test_a_passage_that_was_not_in_the_prompt_cannot_be_cited(town: Town) -> None:
    town.cite("doc:d1#ffffffff")
    answer = town.world.say("How do I install linux")
    assert (answer.answer.content, answer.answer.sources) == ("So.", ())


def test_a_follow_up_is_looked_for_with_the_question_before_it(town: Town) -> None:
    first = town.world.say("Tell me how to install linux")
    town.world.say("and for Windows?", "m2", first.conversation_id)
    assert "install on linux with make" in town.last


def test_another_conversations_question_is_no_part_of_it(town: Town) -> None:
    town.world.say("Tell me how to install linux")
    town.world.say("and for Windows?", "m2")
    assert {search.exclude_parent for search in town.library.index.searches if search.kind == "document"} == {""}
    assert "install on linux with make" not in town.last


def test_an_answer_made_anew_is_looked_for_with_its_stored_question(town: Town) -> None:
    town.world.say("How do I install linux")
    town.world.service().regenerate(ANN, "m1", Trace())
    assert "install on linux with make" in town.last


@pytest.mark.parametrize("down", [{"lexical", "nearest"}, {"lexical"}, {"nearest"}])
def test_a_dead_index_fails_no_turn(town: Town, down: set[str]) -> None:
    town.library.index.down = down
    answer = town.world.say("How do I install linux")
    assert answer.answer.content == "Yes."
    assert answer.answer.degraded


def test_an_index_that_never_answers_fails_no_turn() -> None:
    town = Town(deadline=SHORT)
    town.library.index.held = {"lexical", "nearest"}
    answer = town.world.say("How do I install linux")
    town.library.index.free.set()
    assert answer.answer.content == "Yes."
    assert answer.answer.degraded


def test_rows_that_do_not_answer_fail_no_turn(town: Town) -> None:
    town.library.faults.at(0, "before")
    answer = town.world.say("How do I install linux")
    assert answer.answer.degraded
    assert "install on linux" not in town.last


def test_a_dead_embedder_fails_no_turn(town: Town) -> None:
    town.library.embedder.faults.due.extend(["before"] * 3)
    town.library.index.faults = town.library.faults
    assert town.world.say("How do I install linux").answer.degraded
    assert "install on linux with make" in town.last


def test_a_member_finds_what_is_for_members_and_a_visitor_does_not(town: Town) -> None:
    town.library.shelve(document("d2", acl=Acl(audience=Audience.ORGANISATION)), "install linux inside")
    town.world.say("How do I install linux")
    assert "inside" not in town.last
    membership = Membership("acme", "mia", OrgRole.MEMBER, active=True, version=1)
    town.world.directory.memberships["acme", "mia"] = membership
    town.world.say("How do I install linux", "m2", caller=Member("acme", "mia", membership))
    assert "install linux inside" in town.last


def test_a_role_that_was_lost_since_the_request_came_finds_nothing_more(town: Town) -> None:
    town.library.shelve(document("d2", acl=Acl(audience=Audience.ROLE, role=OrgRole.ADMIN)), "install linux secretly")
    admin = Membership("acme", "mia", OrgRole.ADMIN, active=True, version=1)
    town.world.directory.memberships["acme", "mia"] = replace(admin, role=OrgRole.MEMBER, version=2)
    town.world.say("How do I install linux", caller=Member("acme", "mia", admin))
    assert "secretly" not in town.last
