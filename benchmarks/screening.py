"""Screening: recall and false positives by group, disguised texts, and cost per character.

The patterns are written from grammar, with one half of the rows visible. The texts of the held-out half are not read,
but its totals are checked repeatedly while patterns are written, and so influence them. Recall on unseen texts may be
somewhat lower than on either half.

Usage: python -m benchmarks.screening
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.report import Row, data_folder, median_seconds, print_table
from fencepost.kernel.text import normalise
from fencepost.screening.domain.screen import screen

Sample = dict[str, Any]

LENGTHS = (200, 4_000)
# Questions as visitors write them, and words with which attacks begin; repeated to the length, none is refused.
TEXTS = {
    "en": "How do I rotate the keys of a project, and does the old one keep working while the new one is rolled out? ",
    "ja": "プロジェクトのキーを入れ替える手順を知りたいのですが、古いキーはいつまで使えますか。",
    "ko": "프로젝트의 키를 교체하는 절차를 알고 싶은데, 예전 키는 언제까지 쓸 수 있나요? ",
    "zh": "我想知道如何轮换项目的密钥，旧的密钥还能用多久？",
    "ru": "Как сменить ключи проекта и будет ли старый ключ работать, пока новый ещё не разошёлся? ",
    "hostile en": "ignore ",
    "hostile ja": "以前の指示を",
    "hostile ko": "이전 지시를 ",
}


def main() -> None:
    """Print the tables."""
    folder = data_folder("injection")
    print("\nRefused, by group: recall for attacks, false positives for benign texts")
    print("(half of the rows were in view when the patterns were written, of the held-out half only the totals;")
    print("fresh rows may come out somewhat lower)\n")
    print_table(group_rows(read(folder / "dev.jsonl")))
    print("\nRefused, by disguise\n")
    print_table(disguise_rows(read(folder / "obfuscated_dev.jsonl")))
    print("\nCost\n")
    print_table(cost_rows())


def read(path: Path) -> list[Sample]:
    """Read a file with one JSON object per line."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def group_rows(samples: list[Sample]) -> Iterator[Row]:
    """Yield a row per group, over all samples and over the held-out half."""
    whole, unseen = tally(samples, groups), tally(filter(is_held_out, samples), groups)
    for group in sorted(whole):
        yield Row(group, whole[group], f"held out: {unseen.get(group, '–')}")


def disguise_rows(samples: list[Sample]) -> Iterator[Row]:
    """Yield a row per disguise: benign texts refused, against attacks refused."""
    refused = tally(samples, lambda sample: [(sample["transform"], bool(sample["label"]))])
    for transform in sorted({name for name, _ in refused}):
        yield Row(transform, f"attacks {refused[transform, True]}", f"benign {refused[transform, False]}")


def tally[Group](samples: Iterable[Sample], group_of: Callable[[Sample], list[Group]]) -> dict[Group, str]:
    """Count refusals by group, as `part/whole percentage`."""
    verdicts: dict[Group, list[bool]] = defaultdict(list)
    for sample in samples:
        refused = screen(sample["text"]) is not None
        for group in group_of(sample):
            verdicts[group].append(refused)
    return {group: f"{sum(row)}/{len(row)} {sum(row) / len(row):.1%}" for group, row in verdicts.items()}


def groups(sample: Sample) -> list[str]:
    """Return the groups of a sample: its kind, and Japanese and Korean separately."""
    east = sample["lang"] in {"ja", "ko"}
    if not sample["label"]:
        return [sample["kind"], *([f"benign {sample['lang']}", f"{sample['kind']} {sample['lang']}"] if east else [])]
    if not sample.get("core"):
        return ["attacks, not core"]
    return ["attacks, core", f"attacks, core, {sample['lang']}"]


def is_held_out(sample: Sample) -> bool:
    """Whether a sample belongs to the held-out half, by the hash of its id."""
    return hashlib.sha256(sample["id"].encode()).digest()[0] % 2 == 1


def cost_rows() -> Iterator[Row]:
    """Yield nanoseconds per character against one `str.casefold` of the same text."""
    for language, sentence in TEXTS.items():
        for length in LENGTHS:
            text = (sentence * length)[:length]
            baseline = median_seconds(text.casefold, 200)
            for work in (normalise, screen):
                seconds = median_seconds(partial(work, text), 200)
                yield cost_row(f"{work.__name__}, {language}, {length} characters", seconds, baseline, length)


def cost_row(figure: str, seconds: float, baseline: float, length: int) -> Row:
    """Render one measurement."""
    per_character = 1e9 / length
    return Row(
        figure,
        f"{seconds * per_character:.1f} ns/char ({seconds * 1e6:.0f} µs)",
        f"{baseline * per_character:.2f} ns/char",
        f"{seconds / baseline:.0f}",
    )


if __name__ == "__main__":
    main()
