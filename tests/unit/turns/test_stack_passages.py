"""What an index found, as a prompt shows it: passages of documents and messages said elsewhere, each in its layer."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fencepost.documents.domain.sections import NO_DOCUMENTS
from fencepost.model.domain import Prompt
from fencepost.retrieval.domain.search import Passage, Recalled
from fencepost.turns.domain.prompt_inputs import MAX_RETRIEVED_SECTIONS, NOTICE
from fencepost.turns.domain.system_prompt import NO_SECTIONS
from tests.worlds.layered_prompts import BUDGETS, ORDER, fences, named, shown, texts, tokens, turn
from tests.worlds.prompts import LIBRARY, said


def passage(number: int, text: str = "") -> Passage:
    return Passage(
        id=f"d{number}#0123abcd",
        kind="document",
        parent=f"d{number}",
        chunk="0123abcd",
        title=f"Guide {number}",
        url=f"https://a.example/{number}",
        text=text or f"Passage {number}.",
        version=1,
        span=(10, 20),
    )


def memory(number: int, text: str = "") -> Passage:
    return Passage(
        id=f"msg:m{number}",
        kind="message",
        parent="other",
        chunk=f"m{number}",
        title="an earlier conversation",
        url="",
        text=text or f"Said {number}.",
    )


def prompt(recalled: Recalled, **fields: int) -> Prompt:
    return shown(turn(said(1), documents=LIBRARY, recalled=recalled), replace(BUDGETS, **fields))


def test_passages_take_the_place_of_the_sites_sections() -> None:
    made = prompt(Recalled(passages=(passage(1), passage(2))), documents_tokens=2_000)
    assert named(made, "context") == ("doc:d1#0123abcd", "doc:d2#0123abcd")
    assert [use.layer for use in made.layers] == list(ORDER)


def test_sources_have_title_address_and_span() -> None:
    made = prompt(Recalled(passages=(passage(1),)), documents_tokens=2_000)
    source = made.sources[-1]
    assert (source.id, source.title, source.url, source.span) == (
        "d1#0123abcd",
        "Guide 1",
        "https://a.example/1",
        (10, 20),
    )


def test_where_nothing_is_relevant_the_prompt_says_so() -> None:
    made = prompt(Recalled(passages=()), documents_tokens=2_000)
    assert texts(made)[-2:] == [NO_SECTIONS, "And now?"]
    assert named(made, "context") == ()


def test_without_an_index_the_sites_sections_are_ranked() -> None:
    assert named(prompt(Recalled(), documents_tokens=2_000), "context")[0] == "doc:page#0"


def test_the_whole_documentation_stays_where_it_is_and_passages_come_to_it() -> None:
    made = shown(turn(recalled=Recalled(passages=(passage(1),))))
    assert (named(made, "rules"), named(made, "context")) == (("doc:guide#1",), ("doc:d1#0123abcd",))
    assert NO_SECTIONS not in texts(shown(turn(recalled=Recalled(passages=()))))


def test_memories_stand_before_the_documents_in_a_layer_of_their_own() -> None:
    made = prompt(Recalled(passages=(passage(1),), memories=(memory(1), memory(2))), documents_tokens=2_000)
    assert [use.layer for use in made.layers] == [
        "rules",
        "facts",
        "summary",
        "history",
        "memory",
        "context",
        "message",
    ]
    assert named(made, "memory") == ("msg:m1", "msg:m2")
    memories, sections, message = made.turns[-1].blocks
    assert fences(memories.text) == ["msg:m1", "msg:m2"]
    assert fences(sections.text) == ["doc:d1#0123abcd"]
    assert message.text == "And now?"


def test_no_more_passages_than_are_worth_their_tokens() -> None:
    made = prompt(Recalled(passages=tuple(map(passage, range(90)))))
    assert len(named(made, "context")) == MAX_RETRIEVED_SECTIONS


@given(
    st.lists(st.text(max_size=400), max_size=6),
    st.lists(st.text(max_size=400), max_size=6),
    st.integers(0, 900),
    st.integers(0, 900),
)
def test_each_layer_keeps_to_its_own_budget_and_names_only_what_it_shows(
    passages: list[str], memories: list[str], documents_tokens: int, memory_tokens: int
) -> None:
    recalled = Recalled(
        passages=tuple(passage(number, text) for number, text in enumerate(passages)),
        memories=tuple(memory(number, text) for number, text in enumerate(memories)),
    )
    layers = turn(documents=NO_DOCUMENTS, recalled=recalled)
    made = shown(layers, replace(BUDGETS, documents_tokens=documents_tokens, memory_tokens=memory_tokens))
    used = tokens(made)
    assert used["context"] <= max(documents_tokens, NOTICE.tokens)
    assert used.get("memory", 0) <= memory_tokens
    assert sum(used.values()) == made.input_tokens
    stood = [source for text in texts(made)[2:] for source in fences(text)]
    shown_ids = [f"doc:{one.id}" if "#" in one.id else one.id for one in made.sources]
    assert sorted(stood) == sorted(shown_ids)
