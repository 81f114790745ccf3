"""Data sets: chats, English sections and Japanese passages, with questions whose answers are known."""

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
"""Every fourth of the many chat questions is a stranger for the sections."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit that a search can find: a section, a passage or a turn.

    Attributes:
        place: the session of a turn, or the address of a section.
        speaker, day: set for turns only.
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
class DataSet:
    """The units of one owner, in order, and the questions about them.

    Attributes:
        strangers: questions about other subjects in the same language, which no unit answers.
    """

    name: str
    kind: EntryKind
    units: Sequence[Unit]
    cases: Sequence[Case]
    strangers: Sequence[str] = ()


def data_sets() -> Mapping[str, Sequence[DataSet]]:
    """Return the parts of each data set. The two English sets use each other's questions as strangers."""
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


def _chats(folder: Path) -> tuple[DataSet, ...]:
    return tuple(_chat(row) for row in _rows(folder / "locomo_dev.jsonl"))


def _chat(row: dict[str, Any]) -> DataSet:
    units = tuple(map(_turn, row["turns"]))
    known = {unit.id for unit in units}
    cases = (
        Case(asked["question"], frozenset(asked["evidence"]) & known, asked["category_name"])
        for asked in row["questions"]
    )
    return DataSet(row["sample_id"], "message", units, tuple(case for case in cases if case.gold))


def _turn(turn: dict[str, Any]) -> Unit:
    photo = f" [photo: {turn['image_caption']}]" if turn["image_caption"] else ""
    return Unit(
        id=turn["id"],
        text=f"{turn['text']}{photo}",
        place=f"session {turn['session']}",
        speaker=turn["speaker"],
        day=datetime.fromisoformat(turn["date"]).date(),
    )


def _documents(folder: Path) -> DataSet:
    gold = defaultdict[str, set[str]](set)
    with (folder / "qrels.tsv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            gold[row["query-id"]].add(row["corpus-id"])
    units = tuple(_section(row) for row in _rows(folder / "corpus.jsonl"))
    cases = tuple(Case(row["text"], frozenset(gold[row["_id"]])) for row in _rows(folder / "queries.jsonl"))
    return DataSet(folder.name, "document", units, cases)


def _section(row: dict[str, Any]) -> Unit:
    address = row["_id"] if row["_id"].startswith("https://") else ""
    return Unit(id=row["_id"], text=row["text"], title=row["title"], place=address)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
