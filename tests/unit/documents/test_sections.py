"""Splitting `llms-full.txt`: nothing lost, code and tables kept whole, ids that stay."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fencepost.documents.domain.pages import MAX_PAGES, ROOMY_LINES
from fencepost.documents.domain.sections import MAX_SECTION_BYTES, DocumentSet, split_document
from fencepost.prompting.domain.fence import Section
from tests.worlds.thoroughness import some

SITE = "https://docs.example/"
PROSE = "Some words about it, in a paragraph that is long enough to stand alone. " * 13
DATA = Path(os.environ.get("FENCEPOST_DATA", "../shared/data")) / "docs"

SHAPES = {
    "source line": "# Install\nSource: https://docs.example/guide/install\n\n{p}\n\n## Linux\n\n{p}\n\n"
    "# Use\nSource: https://docs.example/guide/use\n\n{p}",
    "url above": "URL: https://docs.example/guide/install\n# Install\n{p}\n\n## Linux\n\n{p}\n\n"
    "URL: https://docs.example/guide/use\n\n# Use\n\n{p}",
    "bold url": "# Install\n\n**URL:** <https://docs.example/guide/install>\n\n{p}\n\n## Linux\n\n{p}\n\n"
    "# Use\n\n- Source: [use](https://docs.example/guide/use)\n\n{p}",
    "comment": "<!-- Source: /guide/install.md -->\n# Install\n{p}\n\n## Linux\n\n{p}\n\n"
    "<!-- Source: /guide/use.md -->\n# Use\n{p}",
    "in brackets": "# Install (/guide/install)\n\n{p}\n\n## Linux\n\n{p}\n\n# Use (/guide/use)\n\n{p}",
    "front matter": "---\nurl: /guide/install.md\n---\n\n# Install\n\n{p}\n\n## Linux\n\n{p}\n\n---\n\n"
    "---\ntitle: Use\nurl: /guide/use.md\ndescription: x\n---\n\n{p}",
    "long rules": f'{"-" * 80}\ntitle: "Install"\nsource: "https://docs.example/guide/install"\n{"-" * 80}\n\n# Install'
    f'\n\n{{p}}\n\n## Linux\n\n{{p}}\n\n{"-" * 80}\ntitle: "Use"\nsource: "https://docs.example/guide/use"\n{"-" * 80}'
    "\n\n# Use\n{p}",
    "page tags": "<page>\n---\ntitle: Install\nsource_url:\n  html: https://docs.example/guide/install\n"
    "  md: https://docs.example/guide/install.md\n---\n\n{p}\n\n## Linux\n\n{p}\n</page>\n\n"
    "<page>\n---\ntitle: Use\nsource_url:\n  html: https://docs.example/guide/use\n---\n\n{p}\n</page>",
    "doc tags": '<doc title="Install" url="https://docs.example/guide/install">\n# Install\n\n{p}\n\n## Linux\n\n{p}\n'
    '</doc>\n<doc title="Use" url="https://docs.example/guide/use">\n{p}\n</doc>',
    "address headings": "# Documentation\n\n## https://docs.example/guide/install\n\n# Install\n\n{p}\n\n## Linux\n\n"
    "{p}\n\n---\n\n## https://docs.example/guide/use\n\n# Use\n\n{p}",
    "linked headings": "# [Install](https://docs.example/guide/install\\#install)\n\n{p}\n\n"
    "## [Linux](https://docs.example/guide/install\\#linux)\n\n{p}\n\n"
    "# Use\n\n{p}\n\n## [Daily](https://docs.example/guide/use#daily)\n\n{p}",
    "index": "# Documentation\n\n- [Install](/guide/install.md): how\n- [Use](/guide/use.md)\n\n---\n\n# Full content"
    "\n\n---\n\n# Install\n\n{p}\n\n## Linux\n\n{p}\n\n---\n\n# Use\n\n{p}",
    "separators": f"{'=' * 60}\nURL: https://docs.example/guide/install\n{'=' * 60}\n\n# Install\n\n{{p}}\n\n"
    f"## Linux\n\n{{p}}\n\n{'=' * 60}\nURL: https://docs.example/guide/use\n{'=' * 60}\n\n# Use\n\n{{p}}",
    "system tag": "<SYSTEM>Everything about it</SYSTEM>\n\n# Install\nSource: /guide/install\n\n{p}\n\n## Linux\n\n"
    "{p}\n\n# Use\nSource: /guide/use\n\n{p}",
    "carriage returns": "# Install\r\nSource: /guide/install\r\n\r\n{p}\r\n\r\n## Linux\r\n\r\n{p}\r\n\r\n"
    "# Use\r\nSource: /guide/use\r\n\r\n{p}",
}


def split(raw: str) -> tuple[Section, ...]:
    return split_document(raw, SITE).sections


def starting_with(sections: tuple[Section, ...], words: str) -> Section:
    return next(section for section in sections if words in section.text)


@pytest.mark.parametrize("shape", SHAPES)
def test_pages_are_found_in_every_shape_that_generators_write(shape: str) -> None:
    raw = SHAPES[shape].format(p=PROSE)
    sections = split(raw)
    assert "".join(section.text for section in sections) == raw
    pages = {section.id.partition("#")[0]: section for section in sections if section.id.startswith("guide/")}
    assert list(pages) == ["guide/install", "guide/use"]
    assert {section.url.partition("#")[0] for section in pages.values()} == {
        "https://docs.example/guide/install",
        "https://docs.example/guide/use",
    }
    linux = starting_with(sections, "Linux")
    assert linux.title == "Install › Linux"
    assert linux.id.startswith("guide/install#")
    assert any(section.title.startswith("Use") for section in pages.values())


def test_pages_without_addresses_are_named_by_title_and_lead_to_the_site() -> None:
    sections = split(f"# Getting Started\n\n{PROSE}\n\n# 設定 ガイド\n\n{PROSE}")
    assert [section.id for section in sections] == ["getting-started#1", "設定-ガイド#1"]
    assert {section.url for section in sections} == {SITE}


def test_pages_parted_by_rules_alone_are_found() -> None:
    sections = split(f"# Docs\n\n## FAQ\n\n{PROSE}\n\n---\n\n## GraphQL\n\n{PROSE}\n\n## Example\n\n{PROSE}")
    assert [section.id for section in sections] == ["docs#1", "graphql#1", "graphql#2"]


def test_an_underlined_title_begins_a_page() -> None:
    sections = split(f"Install\n=======\n\n{PROSE}\n\nUse\n===\n\n{PROSE}")
    assert [section.title for section in sections] == ["Install", "Use"]


def test_a_fragment_leads_to_the_place_in_the_page() -> None:
    raw = f'# A\nSource: /a\n\n{PROSE}\n\n## Main[\u200b](#main "Direct link to heading")\n\n{PROSE}\n\n'
    raw += f"## Other\n\n[Section titled “Other”](#other)\n\n{PROSE}\n\n## Own {{#mine}}\n\n{PROSE}"
    assert [section.url.partition("#")[2] for section in split(raw)] == ["", "main", "other", "mine"]


def test_a_heading_that_links_elsewhere_does_not_move_its_page() -> None:
    raw = f"# Formats\nSource: /formats\n\n{PROSE}\n\n## [XML](/formats/xml)\n\n{PROSE}"
    assert [section.url for section in split(raw)] == [f"{SITE}formats", f"{SITE}formats"]


@pytest.mark.parametrize("fence", ["```", "~~~~", "    ```", "``````"])
def test_what_looks_like_a_heading_inside_code_is_code(fence: str) -> None:
    raw = (
        f"# A\n\n{PROSE}\n\n{fence}sh\n# Not a page\nSource: https://evil.example/\n---\ntitle: x\n---\n{fence}\n\nEnd."
    )
    assert [section.id for section in split(raw)] == ["a#1"]


def test_a_fence_that_nothing_closes_does_not_swallow_the_file() -> None:
    sections = split(f"# A\n\n````\n{PROSE}\n\n# B\n\n{PROSE}")
    assert [section.title for section in sections] == ["A", "B"]


def test_a_line_about_a_source_in_running_text_begins_nothing() -> None:
    raw = f"# A\nSource: /a\n\n{PROSE}\n\nSource: <https://github.example/x>\n\n{PROSE}"
    assert {section.url for section in split(raw)} == {f"{SITE}a"}


def paragraphs(count: int) -> Iterator[str]:
    return (f"Paragraph {number}. {PROSE}\n\n" for number in range(count))


def test_code_and_tables_stay_whole_when_a_long_section_is_split() -> None:
    code = "```py\n" + "\n".join(f"x = {number}\n" for number in range(200)) + "```\n\n"
    table = "".join(f"| row {number} | {'cell ' * 8} |\n" for number in range(50)) + "\n"
    sections = split(
        "# A\n\n" + "".join(paragraphs(3)) + code + "".join(paragraphs(3)) + table + "".join(paragraphs(2))
    )
    assert len(sections) > 2
    assert sum(code in one.text for one in sections) == 1
    assert sum(table in one.text for one in sections) == 1
    assert [one.id for one in sections[:3]] == ["a#1", "a#1.2", "a#1.3"]


def test_a_heading_stays_with_what_follows() -> None:
    for one in split("# A\n\n" + "".join(f"{text}### Part\n\n" for text in paragraphs(30)) + "End."):
        assert not one.text.endswith("### Part\n\n")


@pytest.mark.parametrize("line", ["x" * 50_000, "語" * 20_000, "word " * 10_000, "```\n" + "code\n" * 5_000 + "```\n"])
def test_a_single_block_beyond_the_bound_is_cut(line: str) -> None:
    sections = split(f"# A\n\n{line}")
    assert max(len(section.text.encode()) for section in sections) <= MAX_SECTION_BYTES
    assert len(sections) <= 2 + len(line.encode()) // (MAX_SECTION_BYTES // 2)


def test_an_edit_leaves_the_ids_of_other_pages_and_of_what_stands_above() -> None:
    before = [f"# Page {n}\n\n{PROSE}\n\n## First\n\n{PROSE}\n\n## Second\n\n{PROSE}\n\n" for n in range(5)]
    after = list(before)
    after[2] = after[2].replace("## Second", f"{'More. ' * 900}\n\n## New\n\n{PROSE}\n\n## Second")
    old, new = split("".join(before)), split(f"# Added page\n\n{PROSE}\n\n" + "".join(after))
    untouched = {section.id: section.text for section in new}
    for section in old:
        if not section.id.startswith("page-2#") or section.id == "page-2#1":
            assert untouched[section.id] == section.text


def test_a_longer_section_does_not_renumber_those_below() -> None:
    raw = f"# A\n\n{PROSE}\n\n## B\n\n{PROSE}\n\n## C\n\n{PROSE}"
    longer = raw.replace("## B", f"{''.join(paragraphs(9))}## B")
    assert starting_with(split(raw), "## C").id == starting_with(split(longer), "## C").id == "a#3"


def test_pages_of_one_name_keep_ids_apart() -> None:
    sections = split(f"# Intro\n\n{PROSE}\n\n# Intro 2\n\n{PROSE}\n\n# Intro\n\n{PROSE}\n\n# Intro\n\n{PROSE}")
    assert len({section.id for section in sections}) == len(sections) == 4


def test_a_hostile_title_and_address_become_harmless() -> None:
    raw = f'# <img src=x onerror=alert(1)> "]["[A](javascript:alert(1))\nSource: javascript:alert(1)\n\n{PROSE}'
    (section,) = split(raw)
    assert section.url == SITE
    assert not set(section.title) & set("<>[]`")
    assert not set(section.id) & set("<>[]\"' \n,;")


@given(
    st.lists(
        st.one_of(
            st.text(),
            st.sampled_from(
                [
                    "# A\n",
                    "\n# B\n",
                    "```\n",
                    "~~~\n",
                    "---\n",
                    "title: x\n",
                    "URL: /x\n",
                    "\r",
                    "\r\n",
                    "\u2028",
                    "| a |\n",
                    "[a](#b)\n",
                ]
            ),
            st.sampled_from([PROSE, "語" * 3_000, "===\n", "<page>\n", "## https://x.example/\n", "- [A](/a)\n"]),
        ),
        max_size=30,
    ).map("".join)
)
@example("\ud800# \udfff\n")
@example("#" * 10_000)
def test_no_character_is_lost_or_invented_and_ids_are_unique(raw: str) -> None:
    sections = split(raw)
    assert "".join(section.text for section in sections) == ("" if raw.isspace() else raw)
    assert len({section.id for section in sections}) == len(sections)
    assert all(0 < len(section.text.encode("utf-8", "surrogatepass")) <= MAX_SECTION_BYTES for section in sections)
    assert all(section.url.startswith(("https://", "http://")) and section.title for section in sections)


HOSTILE = [
    "```\n~~~~\n",
    "#",
    "- ",
    "---\n",
    "---\na: b\n",
    "\n",
    "## a\n",
    "# [](#a)\n",
    "[",
    "# [",
    "# <",
    "# a (",
    "](",
    "](a ",
]
OPENINGS = ["", "<page", "URL:", "# ", "---", "[x]("]


# Five is no divisor of either's number: of each pattern some are tried, and of each opening.
@pytest.mark.parametrize(("pattern", "opening"), some([*product(HOSTILE, OPENINGS)], 5, "openings"))
def test_no_pattern_makes_it_slow(pattern: str, opening: str) -> None:
    # A regular expression that backtracks would run into the suite's time limit.
    raw = f"{opening}{pattern * 20_000}<{' ' * 50_000}<"
    assert "".join(section.text for section in split(raw)) == raw


@pytest.mark.parametrize(
    "page", ["# a\n", "---\ntitle: a\n---\n", "# a\nSource: /a\n", '<page url="/a">\n# a\n'], ids=lambda page: page[:5]
)
def test_a_file_of_nothing_but_titles_has_few_sections(page: str) -> None:
    raw = page * (MAX_PAGES + 10 * ROOMY_LINES)
    sections = split(raw)
    assert "".join(section.text for section in sections) == raw
    assert len({section.id for section in sections}) == len(sections)
    assert len(sections) <= MAX_PAGES + raw.count("\n") // ROOMY_LINES
    assert split(page * MAX_PAGES)[:-1] == sections[: MAX_PAGES - 1]


def test_an_empty_file_has_no_sections() -> None:
    assert split("") == split(" \n\n") == ()


def real_files() -> list[Path]:
    return sorted(DATA.glob("*.txt"))


@pytest.mark.skipif(not DATA.exists(), reason="FENCEPOST_DATA has no docs")
@pytest.mark.parametrize("path", real_files(), ids=lambda path: path.stem)
def test_real_files_are_split_whole(path: Path) -> None:
    raw = path.read_bytes().decode()
    documents: DocumentSet = split_document(raw, SITE)
    assert "".join(section.text for section in documents.sections) == raw
    assert documents == split_document(raw, SITE)
    sizes = [len(section.text.encode()) for section in documents.sections]
    assert max(sizes) <= MAX_SECTION_BYTES
    # A section that begins or ends inside code is one of a code block beyond the bound.
    torn = [section for section in documents.sections if section.text.count("```") % 2]
    assert len(torn) <= len(sizes) // 20


@pytest.mark.skipif(not DATA.exists(), reason="FENCEPOST_DATA has no docs")
def test_translations_are_cut_alike() -> None:
    english, japanese = (
        len(split((DATA / f"feature_sliced_{language}.llms-full.txt").read_text())) for language in ("en", "ja")
    )
    assert 0.8 < english / japanese < 1.25
