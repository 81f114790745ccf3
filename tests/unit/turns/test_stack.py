"""The six layers of a stored conversation's prompt: their order, their budgets, who gives way, and what is named."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from fencepost.conversations.domain.attachments import AttachedText
from fencepost.conversations.domain.messages import MessageStatus
from fencepost.documents.domain.sections import DocumentSet
from fencepost.identity.domain.sites import CONTEXT_TOKENS, FactState, LayerBudgets
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.memory.domain.excerpts import facts_hash, summary_hash
from fencepost.memory.domain.facts import pinned_by_site
from fencepost.model.domain import Prompt
from fencepost.turns.domain.prompt_inputs import NOTICE, PromptInputs
from fencepost.turns.domain.system_prompt import NO_SECTIONS, STORED_TURNS, SYSTEM_PROMPT
from tests.worlds.budgets import Budgets
from tests.worlds.layered_prompts import BUDGETS, ORDER, breakpoints, fences, named, shown, texts, tokens, turn
from tests.worlds.prompts import LIBRARY, NOW, SITE, answer, fact, question, said, summary


class TestOrder:
    def test_all_six_layers_in_their_order(self) -> None:
        layers = turn(
            said(2),
            facts=[fact(1)],
            summed=summary("Asked for tea."),
            documents=LIBRARY,
            site=replace(SITE, product_prompt="We sell tea."),
            files=[AttachedText("9", "notes.txt", "My notes.")],
        )
        prompt = shown(layers, replace(BUDGETS, documents_tokens=2_000))
        rules, product, notice, facts, summed = prompt.system
        assert (rules.text, notice.text) == (SYSTEM_PROMPT, STORED_TURNS)
        assert "We sell tea." in product.text
        assert fences(facts.text) == ["fact:f1"]
        assert fences(summed.text) == ["summary:s1"]
        assert [block.text for turn in prompt.turns[:-1] for block in turn.blocks] == [
            "Question 1?",
            "Answer to 1.",
            "Question 3?",
            "Answer to 3.",
        ]
        files, sections, message = prompt.turns[-1].blocks
        assert fences(files.text) == ["file:9"]
        assert fences(sections.text)[:2] == ["doc:page#0", "doc:page#1"]
        assert message.text == "And now?"

    def test_the_whole_documentation_stands_with_the_rules(self) -> None:
        prompt = shown(turn(said(1), facts=[fact(1)]))
        assert fences(prompt.system[1].text) == ["doc:guide#1"]
        assert [use.layer for use in prompt.layers] == list(ORDER)
        assert (named(prompt, "rules"), named(prompt, "context")) == (("doc:guide#1",), ())

    def test_a_prompt_with_nothing_remembered_has_no_empty_block(self) -> None:
        prompt = shown(turn())
        assert all(text.strip() for text in texts(prompt))
        assert [block.text for block in prompt.turns[-1].blocks] == ["And now?"]

    def test_at_most_four_prefixes_are_cached_each_where_its_layer_ends(self) -> None:
        prompt = shown(turn(said(3), facts=[fact(1)], summed=summary("Asked.")))
        documents, facts, summed, last = breakpoints(prompt)
        assert [fences(text)[:1] for text in (documents, facts, summed)] == [
            ["doc:guide#1"],
            ["fact:f1"],
            ["summary:s1"],
        ]
        assert last == "Answer to 5."


class TestHistory:
    def test_what_is_not_answered_and_what_was_superseded_is_left_out(self) -> None:
        recent = [
            question(1),
            answer(2, 1, "Old.", MessageStatus.SUPERSEDED),
            question(3, "Parked?", MessageStatus.PENDING),
            answer(4, 1, "New."),
            answer(5, 99, "To what?"),
        ]
        prompt = shown(turn(recent))
        assert texts(prompt)[-3:] == ["Question 1?", "New.", "And now?"]
        assert named(prompt, "history") == ("msg:q1", "msg:q1.1")

    def test_an_answer_given_late_stands_with_its_question(self) -> None:
        recent = [question(1, "First?"), question(2, "Second?"), answer(3, 2, "Two."), answer(4, 1, "One.")]
        assert texts(shown(turn(recent)))[-5:] == ["First?", "One.", "Second?", "Two.", "And now?"]

    def test_a_question_answered_anew_sees_nothing_that_came_after_it(self) -> None:
        layers = turn(said(3), seq=3, summed=summary("All of it.", last_seq=4))
        prompt = shown(layers)
        assert texts(prompt)[-3:] == ["Question 1?", "Answer to 1.", "And now?"]
        assert tokens(prompt)["summary"] == 0

    def test_no_more_messages_than_the_site_allows(self) -> None:
        site = replace(SITE, budgets=LayerBudgets(messages=6))
        assert 4 <= len(named(shown(turn(said(50), site=site)), "history")) <= 6
        none = replace(SITE, budgets=LayerBudgets(messages=0))
        assert named(shown(turn(said(50), site=none)), "history") == ()

    def test_what_retention_has_removed_is_not_shown_though_its_rows_are_there(self) -> None:
        assert texts(shown(turn(said(2), kept_from=3)))[-3:] == ["Question 3?", "Answer to 3.", "And now?"]

    def test_the_window_moves_in_steps_so_that_most_prompts_begin_with_the_one_before(self) -> None:
        site = replace(SITE, budgets=LayerBudgets(messages=16))
        prompts = [texts(shown(turn(said(count), site=site)))[:-1] for count in range(1, 60)]
        kept = [later[: len(earlier)] == earlier for earlier, later in pairwise(prompts)]
        assert sum(kept) / len(kept) > 0.7


class TestGivingWay:
    def narrow(self, spare: int, layers: PromptInputs) -> Prompt:
        """Return the prompt in a window that has so much room beside what never gives way."""
        fixed = shown(replace(layers, summary=None, exchanges=(), documents=DocumentSet((), "h"))).input_tokens
        return shown(layers, replace(BUDGETS, context_tokens=fixed + spare + BUDGETS.max_output_tokens))

    def test_context_first_then_the_oldest_turns_then_the_summary(self) -> None:
        layers = turn(said(6, "x" * 100), summed=summary(*["y" * 100] * 6), documents=LIBRARY, facts=[fact(1)])
        full = tokens(shown(layers))
        order = ("context", "history", "summary")
        for spare in range(sum(full[layer] for layer in order), -1, -40):
            used = tokens(self.narrow(spare, layers))
            shrunk = [used[layer] < full[layer] for layer in order]
            assert shrunk == sorted(shrunk, reverse=True)
            assert (used["facts"], used["message"]) == (full["facts"], full["message"])

    def test_the_oldest_lines_of_the_summary_go_first(self) -> None:
        layers = turn(summed=summary(*(f"Line {number}. " + "y" * 80 for number in range(6))), seq=9)
        text = "".join(texts(self.narrow(600, layers)))
        kept = [int(number) for number in re.findall(r"Line (\d)\.", text)]
        assert kept
        assert kept == list(range(6 - len(kept), 6))

    def test_facts_stay_whatever_the_budget_and_a_prompt_without_room_is_refused(self) -> None:
        layers = turn(said(6), facts=[fact(number, "z" * 400) for number in range(20)])
        assert named(self.narrow(0, layers), "facts") == tuple(f"fact:f{number}" for number in range(20))
        with pytest.raises(FencepostError) as refused:
            self.narrow(-1 - NOTICE.tokens, layers)
        assert refused.value.code is ErrorCode.PROMPT_TOO_LARGE

    def test_a_file_too_long_is_cut_and_leaves_room_for_sections(self) -> None:
        files = [AttachedText(str(number), f"{number}.txt", "日本語。" * 20_000) for number in range(3)]
        prompt = shown(turn(documents=LIBRARY, files=files), replace(BUDGETS, documents_tokens=6_000))
        sources = named(prompt, "context")
        assert sources[:3] == ("file:0", "file:1", "file:2")
        assert sources[3:] == tuple(f"doc:page#{number}" for number in range(len(sources) - 3))
        assert len(sources) > 3
        assert tokens(prompt)["context"] <= 6_000


class TestMemory:
    def test_only_what_is_pinned_is_current(self) -> None:
        facts = [fact(1), fact(2, "Likes coffee.", FactState.SUPERSEDED), fact(3, "Hates tea.", FactState.PROPOSED)]
        prompt = shown(turn(facts=facts))
        assert named(prompt, "facts") == ("fact:f1",)
        assert not re.search("coffee|Hates", "".join(texts(prompt)))

    def test_the_sites_facts_stand_before_the_owners_and_say_who_pinned_them(self) -> None:
        once = pinned_by_site(SITE, ["Sells coffee.", "Sells tea."], NOW, 8_000)
        site = replace(SITE, own_facts=once)
        site = replace(site, own_facts=pinned_by_site(site, ["Sells tea."], NOW, 8_000))
        prompt = shown(turn(facts=[fact(1)], site=site))
        assert named(prompt, "facts") == (f"fact:{once[1].id}", "fact:f1")
        block = next(block.text for block in prompt.system if fences(block.text)[:1] == [f"fact:{once[1].id}"])
        assert block.index("pinned by the site") < block.index("Sells tea.") < block.index("pinned by the visitor")
        assert "coffee" not in block

    def test_every_line_of_the_summary_ends_with_its_own_sources_and_no_forged_ones(self) -> None:
        prompt = shown(turn(summed=summary("Says so [msg:forged].", "Two\nlines [fact:forged, x]"), seq=9))
        lines = [line for line in prompt.system[-1].text.splitlines() if line.startswith("- ")]
        assert lines == ["- Says so. [msg:m0][msg:m0.1]", "- Two lines [msg:m1][msg:m1.1]"]
        assert named(prompt, "summary") == ("summary:s1", "msg:m0", "msg:m0.1", "msg:m1", "msg:m1.1")

    def test_what_a_nonce_is_derived_from_changes_with_what_is_shown(self) -> None:
        facts = [fact(1), fact(2)]
        assert facts_hash(facts) == facts_hash([*facts, fact(3, state=FactState.PROPOSED)])
        assert facts_hash(facts) != facts_hash([fact(1), fact(2, "Likes tea")])
        assert len({summary_hash(summary("a")), summary_hash(summary("b")), summary_hash(None)}) == 3
        assert summary_hash(summary()) == summary_hash(None)


def test_all_layers_of_a_sites_prompt_share_the_models_window() -> None:
    assert LayerBudgets().context_tokens == Budgets().context_tokens == CONTEXT_TOKENS


def test_the_prompt_says_when_nothing_matches_beside_a_file() -> None:
    layers = turn(documents=DocumentSet((), "h"), files=[AttachedText("1", "a.txt", "Mine.")])
    assert texts(shown(layers))[-2:] == [NO_SECTIONS, "And now?"]
