"""Splitting texts into chunks: what stays together, where chunks begin, and the breadcrumb and lead of each."""

from __future__ import annotations

import itertools

import pytest

from fencepost.documents.domain.chunking.bounds import Bounds
from fencepost.documents.domain.chunking.chunks import chunk
from fencepost.documents.domain.chunking.noise import without_noise
from fencepost.documents.domain.chunking.units import WINDOW_CHARACTERS, sentences
from fencepost.documents.domain.documents import Chunk
from tests.unit.documents.chunking_texts import SMALL, count, joined, paragraphs, tokens

LONG = "\n\n".join(paragraphs(12))


def chunks(text: str, bounds: Bounds = SMALL, language: str = "") -> tuple[Chunk, ...]:
    found = chunk(text, count, bounds, language)
    assert joined(found) == text
    return found


def with_words(found: tuple[Chunk, ...], words: str) -> Chunk:
    (one,) = [one for one in found if words in one.text]
    return one


def test_white_space_has_no_chunks() -> None:
    assert chunk("", count) == chunk(" \n\n\u3000", count) == ()


def test_a_chunk_knows_the_headings_above_it() -> None:
    found = chunks(f"Preface.\n\n# Fences\n\nAbout.\n\n## Posts\n\nOak.\n\n### Holes\n\nDeep.\n\n## Rails\n\n{LONG}")
    assert [one.breadcrumb for one in found[:4]] == [
        (),
        ("Fences",),
        ("Fences", "Posts"),
        ("Fences", "Posts", "Holes"),
    ]
    assert {one.breadcrumb for one in found[4:]} == {("Fences", "Rails")}


def test_a_breadcrumb_is_plain_text() -> None:
    (one,) = chunks('# [Use `it`](/use)[\u200b](#use "Direct link") {#own}\n\nWords.')
    assert one.breadcrumb == ("Use it",)


def test_headings_without_a_body_begin_the_chunk_below_them() -> None:
    found = chunks("# A\n\n## B\n\n### C\n\nWords.\n\n## D\n\nMore.\n\n# E\n")
    assert [one.text.split()[1] for one in found] == ["A", "D", "E"]
    assert [one.breadcrumb for one in found] == [("A", "B", "C"), ("A", "D"), ("E",)]


def test_a_heading_stays_with_what_follows() -> None:
    for one in chunks("\n\n".join(f"## Part {n}\n\n{LONG}" for n in range(5))):
        assert not one.text.rstrip().rpartition("\n")[2].startswith("#")


def test_short_sections_are_not_mixed() -> None:
    assert len(chunks("".join(f"# S{n}\n\nOne word.\n\n" for n in range(5)))) == 5


CODE = "```py\n" + "".join(f"x{n} = {n}\n\n# not a heading {n}\n" for n in range(8)) + "```\n"
INDENTED = "  ~~~\n" + "".join(f"  y{n} = 1\n\n" for n in range(12)) + "  ~~~\n"
TABLE = "| a | b |\n|---|---|\n" + "".join(f"| r{n} | c |\n" for n in range(9))
BARE = "a | b\n--- | ---\n" + "".join(f"r{n} | c\n" for n in range(19))
HTML = "<table>\n" + "".join(f"<tr><td>r{n}\n\n</td></tr>\n" for n in range(3)) + "</table>\n"


@pytest.mark.parametrize(
    "block", [CODE, INDENTED, TABLE, BARE, HTML], ids=["code", "in a list", "table", "bare", "html"]
)
def test_code_and_tables_are_whole(block: str) -> None:
    assert SMALL.most < tokens(block) <= SMALL.whole
    found = chunks(f"# A\n\n{LONG}\n\n- Item\n\n{block}\n{LONG}")
    assert sum(block in one.text for one in found) == 1


def test_code_beyond_the_hard_bound_is_cut_between_its_lines() -> None:
    code = "```\n" + "".join(f"line {n} of it\n" for n in range(90)) + "```\n"
    found = chunks(f"# A\n\n{code}")
    assert len(found) > 3
    assert all(one.text.endswith("\n") and tokens(one.text) <= SMALL.most for one in found)


def test_code_blocks_that_touch_are_apart() -> None:
    code = "```\n" + "word " * 80 + "\n```\n"
    found = chunks(code * 4)
    assert [one.text for one in found] == [code] * 4


def test_a_fence_that_nothing_closes_is_none() -> None:
    found = chunks(f"```\n\n{LONG}\n\n# B\n\nEnd.")
    assert found[-1].breadcrumb == ("B",)


def test_what_introduces_code_stands_above_it() -> None:
    found = chunks(f"{LONG}\n\nDo it so:\n\n{CODE}\n{LONG}")
    assert "Do it so:" in with_words(found, "x0 = 0").text


def test_a_paragraph_up_to_the_bound_is_whole_and_a_longer_one_is_cut_between_sentences() -> None:
    whole = " ".join(["Set the post into its hole."] * 5)
    longer = " ".join(f"Set post {n} into its hole." for n in range(40))
    assert SMALL.aim < tokens(whole) <= SMALL.most
    found = chunks(f"{LONG}\n\n{whole}\n\n{LONG}\n\n{longer}")
    assert sum(whole in one.text for one in found) == 1
    parts = [one.text for one in found if "into its hole." in one.text and whole not in one.text]
    assert len(parts) > 3
    assert all(part.rstrip().endswith(".") for part in parts)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("杭を穴に立てます。深さは六十センチです！本当ですか？" * 6, "ja"),
        ("把桩子立在洞里。深度是六十厘米！真的吗？" * 8, "zh"),
        ("말뚝을 구멍에 세웁니다. 깊이는 육십 센티입니다! 정말요? " * 6, "ko"),
    ],
)
def test_sentences_of_east_asia_are_not_cut(text: str, language: str) -> None:
    found = chunks(text, language=language)
    assert len(found) > 3
    assert all(one.text.rstrip()[-1] in "。！？.!?" for one in found)


def test_a_language_without_ends_of_sentences_is_cut_at_spaces() -> None:
    found = chunks("ตั้งเสา ลงในหลุม ให้ลึก " * 40, language="th")
    assert len(found) > 10
    assert all(one.text.endswith(" ") for one in found)


def test_an_abbreviation_ends_no_sentence() -> None:
    assert sentences("Ask Dr. Post, e.g. today. Then dig.", "en") == ["Ask Dr. Post, e.g. today. ", "Then dig."]


def test_a_long_line_has_the_sentences_of_its_parts() -> None:
    said = [f"Post number {n} is set. " for n in range(WINDOW_CHARACTERS // 5)]
    assert sentences("".join(said)) == said


@pytest.mark.parametrize("cluster", ["👨‍👩‍👧‍👦", "🇩🇪", "e\u0301\u0323", "각", "क्षि", "👍🏽", "1️⃣"])
def test_no_grapheme_is_cut(cluster: str) -> None:
    for one in chunks(cluster * 400):
        assert one.text == cluster * (len(one.text) // len(cluster))


def test_items_of_a_list_are_whole() -> None:
    items = "".join(f"- {words}\n  - {words}\n" for words in paragraphs(20) if tokens(words) < SMALL.most)
    found = chunks(items)
    assert len(found) > 5
    assert all(one.text.lstrip().startswith("- ") and one.text.endswith("\n") for one in found)


def test_the_lead_is_whole_sentences_before_a_chunk_and_none_of_its_span() -> None:
    found = chunks(f"# A\n\n{LONG}\n\n# B\n\n{LONG}")
    assert any(one.lead for one in found)
    for before, one in itertools.pairwise(found):
        assert before.text.endswith(one.lead)
        assert tokens(one.lead) <= SMALL.overlap
        if one.lead:
            assert one.lead[0].isupper()
            assert before.breadcrumb == one.breadcrumb


def test_a_lead_is_not_taken_from_code() -> None:
    found = chunks(f"{CODE}\n{LONG}")
    assert found[0].text.startswith("```")
    assert found[1].lead == ""


def test_a_short_tail_joins_the_chunk_before_it() -> None:
    for size in range(2, 20):
        found = chunks("\n\n".join([*paragraphs(size), "End."]))
        assert tokens(found[-1].text) >= SMALL.least


def test_equal_chunks_have_ids_of_their_own_and_equal_texts_equal_ids() -> None:
    text = "# A\n\nSame.\n\n# A\n\nSame.\n\n# B\n\nSame.\n"
    found = chunks(text)
    assert len({one.id for one in found}) == 3
    assert all(len(one.id) == 32 for one in found)
    assert found == chunks(text)
    # A third in front of them leaves their ids.
    assert {one.id for one in found} < {one.id for one in chunks(f"# A\n\nSame.\n\n{text}")}


NOISY = """---
title: Setting Posts
sidebar: true
---

import Tabs from '@theme/Tabs'
import {
  Card,
} from "../card";
export const year = 2000

# Setting posts[\u200b](#setting "Direct link to it")

[Section titled “Setting posts”](#setting)

<Tabs>
<Card
  title="Depth"
  href="/depth"
/>

Dig down.

```js
import kept from 'code'
```

</Tabs>
<!-- a comment -->
{/* another */}
"""


def test_front_matter_imports_and_tags_are_in_the_span_and_not_in_what_is_said() -> None:
    (one,) = chunks(NOISY, Bounds())
    assert one.text == NOISY
    assert one.breadcrumb == ("Setting posts",)
    said = without_noise(one.text)
    assert [line for line in said.splitlines() if line] == [
        "# Setting posts",
        "Depth",
        "Dig down.",
        "```js",
        "import kept from 'code'",
        "```",
    ]


def test_the_title_of_a_front_matter_names_a_page_without_headings() -> None:
    found = chunks(f'---\ntitle: Posts\n---\n\n{LONG}\n\n---\ntitle: "Rails"\n---\n\nWords.\n\n## Gates\n\nMore.\n')
    assert {one.breadcrumb for one in found} == {("Posts",), ("Rails",), ("Rails", "Gates")}


@pytest.mark.parametrize(
    "words",
    [
        "important words",
        "exporting goods",
        "--- dashes in it",
        "a < b and c > d",
        "import duties: 'high'",
        "<b>Bold</b> x",
    ],
)
def test_words_that_look_like_noise_are_said(words: str) -> None:
    assert without_noise(f"{words}\n") == words


def test_noise_alone_is_said_as_it_stands() -> None:
    assert without_noise("import a from 'a'\n") == "import a from 'a'"


@pytest.mark.parametrize(
    "bounds", [(-1, 2, 3, 4, 0), (5, 2, 3, 4, 0), (1, 4, 3, 4, 0), (1, 2, 5, 4, 0), (0, 0, 0, 0, 0), (1, 2, 3, 4, -1)]
)
def test_bounds_that_contradict_each_other_are_refused(bounds: tuple[int, int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="in order"):
        Bounds(*bounds)
