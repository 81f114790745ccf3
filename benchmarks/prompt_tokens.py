"""Prompt tokens against sending the whole file, on real documentation.

    python -m benchmarks.prompt_tokens

Prompt and baseline are counted by the upper bound with which spend is reserved (`fencepost.model.domain`). Questions
are titles of sections spread over the file, so that each has an answer in it.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import Row, data_folder, median_seconds, print_table
from fencepost.conversations.domain.messages import Question
from fencepost.documents.domain.sections import DocumentSet, split_document
from fencepost.documents.sqlite import FullTextRanker
from fencepost.identity.domain.sites import LayerBudgets
from fencepost.model.domain import count_tokens
from fencepost.turns.domain.assembly import Nonces, assemble
from fencepost.turns.domain.prompt_inputs import stateless_inputs

SITE = "https://docs.example"
QUESTIONS = 40
BUDGETS = LayerBudgets(documents_tokens=60_000, history_tokens=16_000, max_output_tokens=1_024)
NONCES = Nonces(documents="d" * 32, facts="a" * 32, summary="b" * 32, fresh="f" * 32)


def main() -> None:
    """Print the table."""
    print_table(row for path in sorted(data_folder("docs").glob("*.txt")) for row in _rows(path))


def _rows(path: Path) -> Iterator[Row]:
    raw = path.read_bytes().decode()
    documents = split_document(raw, SITE)
    name = path.name.partition(".")[0]
    tokens = statistics.median(_prompt_tokens(documents))
    whole = count_tokens(raw)
    yield Row(f"prompt, {name}", f"{tokens:,.0f} tokens", f"whole file: {whole:,}", f"{tokens / whole:.3f}")
    seconds = median_seconds(lambda: split_document(raw, SITE), repeats=5)
    yield Row(f"splitting, {name}", f"{seconds * 1_000:.0f} ms", f"{len(documents.sections)} sections")


def _prompt_tokens(documents: DocumentSet) -> list[int]:
    ranker = FullTextRanker()
    step = max(1, len(documents.sections) // QUESTIONS)
    questions = [Question(section.title) for section in documents.sections[::step]]
    layers = (stateless_inputs(question, documents) for question in questions)
    return [assemble(each, ranker.rank, BUDGETS, NONCES).input_tokens for each in layers]


if __name__ == "__main__":
    main()
