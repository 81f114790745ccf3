"""Prompt tokens against replaying the whole conversation, over recorded conversations.

    python -m benchmarks.replay_tokens

Prompt and baseline are counted by the upper bound with which spend is reserved (`fencepost.model.domain`). The baseline
has the same rules and message, and all earlier turns instead of window and summary. Most recorded conversations are
short, so they are also measured as the days of a returning visitor: twenty in sequence, as one conversation.
Summaries are written by the stand-in.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Iterator, Sequence
from itertools import batched

from benchmarks.report import Row, data_folder, print_table
from benchmarks.talk import MODEL, Talk
from fencepost.documents.domain.sections import DocumentSet
from fencepost.model.domain import Prompt, PromptBlock
from fencepost.prompting.domain.history import stored_exchanges
from local.provider.answers import answer
from local.provider.requests import MessagesRequest, ProviderMessage, TextBlock

DAYS = 20
PLACES = (10, 50, 90)
NO_DOCUMENTS = DocumentSet((), "0" * 64)

type Exchanges = Sequence[tuple[str, str]]
type Measured = list[tuple[int, int]]
"""Tokens of each turn's prompt, and of replaying the whole conversation."""


def main() -> None:
    """Print the table."""
    lines = (data_folder("traffic") / "conversations.jsonl").read_text().splitlines()
    recorded = [list(_exchanges(json.loads(line)["turns"])) for line in lines]
    print_table(_rows(recorded))


def _rows(recorded: Sequence[Exchanges]) -> Iterator[Row]:
    short = [_measured(exchanges) for exchanges in recorded]
    yield _row("prompt of a turn, conversations as recorded", (turn for turns in short for turn in turns))
    days = batched(recorded, DAYS, strict=False)
    long = [_measured([pair for exchanges in together for pair in exchanges]) for together in days]
    yield _row(f"the same, {DAYS} in a row", (turn for turns in long for turn in turns))
    for place in PLACES:
        yield _row(f"of it: turn {place}", (turns[place - 1] for turns in long if len(turns) >= place))


def _row(name: str, measured: Iterable[tuple[int, int]]) -> Row:
    ours, all_of_it = map(statistics.mean, zip(*measured, strict=True))
    return Row(name, f"{ours:,.0f} tokens", f"replaying: {all_of_it:,.0f}", f"{ours / all_of_it:.2f}×")


def _measured(exchanges: Exchanges) -> Measured:
    talk, measured = Talk(NO_DOCUMENTS), []
    for question, reply in exchanges:
        prompt = talk.draft(question).prompt
        measured.append((prompt.input_tokens, _replaying(prompt, talk)))
        talk.settle(question, reply)
        talk.summarise(_notes)
    return measured


def _replaying(prompt: Prompt, talk: Talk) -> int:
    given_way = sum(use.tokens for use in prompt.layers if use.layer in ("summary", "history"))
    everything = sum(exchange.tokens for exchange in stored_exchanges(talk.messages, talk.next_seq))
    return prompt.input_tokens - given_way + everything


def _exchanges(turns: list[dict[str, str]]) -> Iterator[tuple[str, str]]:
    for question, reply in zip(turns[::2], turns[1::2], strict=False):
        if (question["role"], reply["role"]) == ("user", "assistant"):
            yield question["text"], reply["text"]


def _notes(prompt: Prompt) -> str:
    """Return the stand-in's answer, without HTTP."""
    messages = [ProviderMessage(role=turn.role.value, content=_blocks(turn.blocks)) for turn in prompt.turns]
    request = MessagesRequest(
        model=MODEL, max_tokens=prompt.max_output_tokens, system=_blocks(prompt.system), messages=messages
    )
    return answer(request)


def _blocks(blocks: Iterable[PromptBlock]) -> list[TextBlock]:
    return [TextBlock(type="text", text=block.text) for block in blocks]


if __name__ == "__main__":
    main()
