"""Questions whose answers are known, and what they are asked of: chats, English sections, Japanese passages."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.report import data_folder
from fencepost.retrieval.domain.search import EntryKind

UNANSWERABLE: Final = "adversarial_unanswerable"
STRANGERS_EACH: Final = 4
"""Of the many questions to the chats, each fourth is asked of the sections."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What is to be found: a section, a passage or a turn.

    Attributes:
        place: of a turn, its session; of a section, its address.
        speaker, day: of a turn.
    """

    id: str
    text: str
    title: str = ""
    place: str = ""
    speaker: str = ""
    day: date = date.min


@dataclass(frozen=True, slots=True)
class Case:
    """A question, and the units that answer it."""

    question: str
    gold: frozenset[str]
    category: str = ""


@dataclass(frozen=True, slots=True)
class Shelf:
    """What one owner has, in order, and the questions that are asked of it.

    Attributes:
        strangers: questions about other things, in the same language; none of the units answers them.
    """

    name: str
    kind: EntryKind
    units: Sequence[Unit]
    cases: Sequence[Case]
    strangers: Sequence[str] = ()


def shelves() -> Mapping[str, Sequence[Shelf]]:
    """Return the shelves of each data set. The two in English are asked each other's questions."""
    folder = data_folder("retrieval")
    chats = _chats(data_folder("memory"))
    english, japanese = (_documents(folder / name) for name in ("anthropic_docs_en", "jaquad_dev_ja"))
    of_chats = [case.question for chat in chats for case in chat.cases if case.category != UNANSWERABLE]
    of_sections = [case.question for case in english.cases]
    return {
        "locomo_dev": tuple(replace(chat, strangers=of_sections) for chat in chats),
        english.name: (replace(english, strangers=of_chats[::STRANGERS_EACH]),),
        japanese.name: (japanese,),
    }


def _chats(folder: Path) -> tuple[Shelf, ...]:
    return tuple(_chat(row) for row in _rows(folder / "locomo_dev.jsonl"))


def _chat(row: dict[str, Any]) -> Shelf:
    units = tuple(map(_turn, row["turns"]))
    known = {unit.id for unit in units}
    cases = (
        Case(asked["question"], frozenset(asked["evidence"]) & known, asked["category_name"])
        for asked in row["questions"]
    )
    return Shelf(row["sample_id"], "message", units, tuple(case for case in cases if case.gold))


def _turn(turn: dict[str, Any]) -> Unit:
    photo = f" [photo: {turn['image_caption']}]" if turn["image_caption"] else ""
    return Unit(
        id=turn["id"],
        text=f"{turn['text']}{photo}",
        place=f"session {turn['session']}",
        speaker=turn["speaker"],
        day=datetime.fromisoformat(turn["date"]).date(),
    )


def _documents(folder: Path) -> Shelf:
    gold = defaultdict[str, set[str]](set)
    with (folder / "qrels.tsv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            gold[row["query-id"]].add(row["corpus-id"])
    units = tuple(_section(row) for row in _rows(folder / "corpus.jsonl"))
    cases = tuple(Case(row["text"], frozenset(gold[row["_id"]])) for row in _rows(folder / "queries.jsonl"))
    return Shelf(folder.name, "document", units, cases)


def _section(row: dict[str, Any]) -> Unit:
    address = row["_id"] if row["_id"].startswith("https://") else ""
    return Unit(id=row["_id"], text=row["text"], title=row["title"], place=address)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
