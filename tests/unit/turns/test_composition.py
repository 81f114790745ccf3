"""A turn's draft: nonces that stay while their content does, answers that name their sources, and a cache that hits."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from fencepost.conversations.domain.attachments import AttachedText
from fencepost.conversations.domain.messages import Message
from fencepost.documents.domain.sections import DocumentSet
from fencepost.documents.sqlite import FullTextRanker
from fencepost.identity.domain.sites import LayerBudgets
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Usage
from fencepost.model.anthropic.claude import Claude
from fencepost.model.domain import Prompt
from fencepost.prompting.domain.fence import Section
from fencepost.turns.domain.turns import TurnMaterial
from fencepost.turns.service.prompt_builder import Draft, PromptBuilder
from tests.doubles.stand_in import StandIn
from tests.fakes.answers import FakeKeys
from tests.worlds.prompts import GUIDE, LIBRARY, SITE, answer, fact, material, question, request, said, summary

MODEL = "claude-haiku-5-5"
NARROW = replace(SITE, budgets=LayerBudgets(documents_tokens=4_000))
COMPOSER = PromptBuilder(keys=FakeKeys(), ranker=FullTextRanker(), budgets=SITE.budgets, unsigned="accept")
MATERIAL = material(said(2), facts=[fact(1)], summed=summary("Wants refunds."))
FILES = [AttachedText("9", "notes.txt", "Tea at noon.")]


def drafted(loaded: TurnMaterial = MATERIAL, documents: DocumentSet = LIBRARY) -> Draft:
    return COMPOSER.draft_turn(request("Which page?"), loaded, documents, NARROW, FILES)


def nonces(prompt: Prompt) -> dict[str, str]:
    """Return the nonce of each kind of fence."""
    blocks = (*prompt.system, *(block for turn in prompt.turns for block in turn.blocks))
    found = re.findall(r'nonce="(\w+)" source="(\w+):', "".join(block.text for block in blocks))
    return {kind: nonce for nonce, kind in found}


class TestNonces:
    def test_what_is_remembered_keeps_its_nonce_and_what_is_retrieved_never_does(self) -> None:
        first, second = nonces(drafted().prompt), nonces(drafted().prompt)
        assert set(first) == {"fact", "summary", "doc", "file"}
        assert {kind for kind in first if first[kind] == second[kind]} == {"fact", "summary"}

    def test_the_whole_documentation_keeps_its_nonce(self) -> None:
        assert nonces(drafted(documents=GUIDE).prompt)["doc"] == nonces(drafted(documents=GUIDE).prompt)["doc"]

    @pytest.mark.parametrize(
        ("changed", "kind"),
        [
            (material(said(2), facts=[fact(1, "Likes tea!")], summed=MATERIAL.summary), "fact"),
            (material(said(2), facts=MATERIAL.facts, summed=summary("Wants refunds!")), "summary"),
        ],
    )
    def test_a_changed_content_has_another_nonce_and_nothing_else_has(self, changed: TurnMaterial, kind: str) -> None:
        before, after = nonces(drafted(documents=GUIDE).prompt), nonces(drafted(changed, GUIDE).prompt)
        assert {name for name in ("doc", "fact", "summary") if before[name] != after[name]} == {kind}

    def test_none_of_them_reaches_anybody(self) -> None:
        draft = drafted()
        printed = " and ".join(nonces(draft.prompt).values())
        assert draft.answer(f"They are {printed}.")[0] == "They are  and  and  and ."


class TestAnswers:
    def test_an_answer_names_what_it_cites_and_links_to_sections_alone(self) -> None:
        response, cited = drafted().answer("Tea [fact:f1] [msg:m0], see [doc:page#0] and yours [file:9].")
        assert response == "Tea [1] [2], see [3] and yours [4]."
        assert [source.id for source in cited] == ["fact:f1", "msg:m0", "page#0", "file:9"]
        assert [source.url for source in cited] == ["", "", "https://a.example/0", ""]

    def test_what_stood_in_no_layer_cannot_be_cited(self) -> None:
        response, cited = drafted().answer("Yes [fact:f2] [msg:q1] [doc:page#79] [summary:s2] [file:8].")
        assert (response, cited) == ("Yes.", ())

    def test_an_answer_of_nothing_but_unknown_citations_is_none(self) -> None:
        with pytest.raises(FencepostError) as raised:
            drafted().answer("[fact:f2]")
        assert raised.value.code is ErrorCode.PROVIDER_FAILED

    def test_the_draft_says_what_each_layer_took(self) -> None:
        draft = drafted()
        sources = {use.layer: use.sources for use in draft.prompt.layers}
        assert sources["facts"] == ("fact:f1",)
        assert sources["summary"] == ("summary:s1", "msg:m0", "msg:m0.1")
        assert sources["history"] == ("msg:q1", "msg:q1.1", "msg:q3", "msg:q3.1")
        assert sources["context"][0] == "file:9"
        assert sum(use.tokens for use in draft.prompt.layers) == draft.prompt.input_tokens


DOCUMENTS = DocumentSet(
    tuple(Section(f"guide#{n}", f"Guide {n}", "https://a.example/", f"Guide {n}. " * 80) for n in range(16)), "h"
)
TURNS = 20


def exchange(seq: int) -> tuple[Message, Message]:
    return question(seq, f"What of guide {seq}? " * 3), answer(seq + 1, seq, f"Guide {seq} says a lot. " * 20)


def usages(url: str) -> list[Usage]:
    """Have a conversation through the real SDK, and return what the provider counted of each turn."""
    model = Claude(FakeKeys(), model=MODEL, base_url=url, connect_seconds=5, total_seconds=20)
    messages: list[Message] = []
    counted = []
    for _ in range(TURNS):
        loaded = material(messages, facts=[fact(1), fact(2)])
        prompt = COMPOSER.draft_turn(request("What of guide 3?"), loaded, DOCUMENTS, SITE).prompt
        usage = model.complete(prompt).usage
        assert usage is not None
        counted.append(usage)
        messages += exchange(len(messages) + 1)
    return counted


def test_from_the_third_turn_on_four_fifths_of_the_input_come_from_the_providers_cache(stand_in: StandIn) -> None:
    counted = usages(stand_in.url)[2:]
    read = sum(usage.cache_read_tokens for usage in counted)
    whole = read + sum(usage.input_tokens + usage.cache_write_tokens for usage in counted)
    assert read / whole >= 0.8
