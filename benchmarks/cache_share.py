"""Share of a conversation's prompt tokens that the provider reads from its cache, by turn.

    python -m benchmarks.cache_share

Sends twenty turns through the real SDK over HTTP to the stand-in, which implements the provider's caching rules.
Questions and replies are recorded, about 1.3 kB per turn. When the window has moved, the stand-in writes the summary,
as a job would; the tokens of these calls are not counted. The baseline is the same conversation at the stateless
endpoint, where only rules and documents are cached. Shares are of the provider's own input tokens, from the third turn.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import httpx

from benchmarks.report import Row, data_folder, print_table
from benchmarks.talk import KEYS, MODEL, PROMPT_BUILDER, Talk, pinned
from fencepost.conversations.domain.messages import Question, Turn
from fencepost.documents.domain.sections import DocumentSet, split_document
from fencepost.kernel.money import Usage
from fencepost.limits.domain.prices import cost, price_of
from fencepost.model.anthropic.claude import Claude
from fencepost.model.domain import Prompt, Role, count_tokens
from fencepost.prompting.domain.fence import content_hash
from local import processes

TURNS = 20
FIRST_COUNTED = 3
WHOLE_TOKENS = (10_000, 40_000)
"""Tokens of documentation that fits into the prompt as a whole, without fences."""
_START_SECONDS = 20.0

type Exchanges = Sequence[tuple[str, str]]
type Ask = Callable[[Prompt], tuple[str, Usage]]


def main() -> None:
    """Print the table."""
    path = data_folder("docs") / "genaiscript.llms-full.txt"
    large = split_document(path.read_text(), "https://docs.example")
    sites = {f"{tokens // 1_000} kB of documentation": _beginning(large, tokens) for tokens in WHOLE_TOKENS}
    sites[f"{path.stat().st_size // 1_000:,} kB, retrieved"] = large
    exchanges = _recorded()
    with _stand_in() as url:
        model = Claude(KEYS, model=MODEL, base_url=url, connect_seconds=5, total_seconds=30)
        rows = [row for name, site in sites.items() for row in _rows(name, site, exchanges, _asks(model, url))]
    print_table(rows)


def _rows(name: str, documents: DocumentSet, exchanges: Exchanges, ask: Ask) -> Iterator[Row]:
    stored, stateless = _stored(documents, exchanges, ask), _stateless(documents, exchanges, ask)
    ours, theirs = (_share(usages[FIRST_COUNTED - 1 :]) for usages in (stored, stateless))
    yield Row(f"cache-read share, {name}", f"{ours:.1%}", f"stateless: {theirs:.1%}", f"{ours / theirs:.2f}×")
    lowest = min(_share([usage]) for usage in stored[FIRST_COUNTED - 1 :])
    yield Row("of it: the turn with the least", f"{lowest:.1%}")
    paid, plain = (sum(_paid(usage, cached=cached) for usage in stored) for cached in (True, False))
    yield Row(f"input of {TURNS} turns", f"{paid:,} µ$", f"without a cache: {plain:,} µ$", f"{paid / plain:.2f}×")


def _stored(documents: DocumentSet, exchanges: Exchanges, ask: Ask) -> list[Usage]:
    talk = Talk(documents, pinned("We run GenAIScript on Debian 12.", "Our team writes TypeScript.", "Answer briefly."))
    usages = []
    for question, reply in exchanges:
        usages.append(ask(talk.draft(question).prompt)[1])
        talk.settle(question, reply)
        talk.summarise(lambda prompt: ask(prompt)[0])
    return usages


def _stateless(documents: DocumentSet, exchanges: Exchanges, ask: Ask) -> list[Usage]:
    history: list[Turn] = []
    usages = []
    for question, reply in exchanges:
        usages.append(ask(PROMPT_BUILDER.draft(Question(question, tuple(history)), documents).prompt)[1])
        history += [Turn(Role.USER, question), Turn(Role.ASSISTANT, reply)]
    return usages


def _recorded() -> Exchanges:
    """Return recorded questions, each with its reply."""
    lines = (data_folder("traffic") / "conversations.jsonl").read_text().splitlines()
    talks = [json.loads(line) for line in lines]
    texts = [[turn["text"] for turn in talk["turns"]] for talk in talks if talk["source"].startswith("oasst")]
    return [(question, reply) for question, reply, *_ in texts][:TURNS]


def _asks(model: Claude, url: str) -> Ask:
    httpx.delete(f"{url}/control", trust_env=False).raise_for_status()

    def ask(prompt: Prompt) -> tuple[str, Usage]:
        completion = model.complete(prompt)
        assert completion.usage is not None
        return completion.text, completion.usage

    return ask


def _share(usages: list[Usage]) -> float:
    return sum(usage.cache_read_tokens for usage in usages) / sum(map(_input, usages))


def _input(usage: Usage) -> int:
    return usage.input_tokens + usage.cache_write_tokens + usage.cache_read_tokens


def _paid(usage: Usage, *, cached: bool) -> int:
    return cost(price_of(MODEL), replace(usage, output_tokens=0) if cached else Usage(_input(usage)))


def _beginning(documents: DocumentSet, tokens: int) -> DocumentSet:
    """Return the first sections, up to this number of tokens in total."""
    left, kept = tokens, []
    for section in documents.sections:
        left -= count_tokens(section.text)
        if left < 0:
            break
        kept.append(section)
    return DocumentSet(tuple(kept), content_hash("".join(section.text for section in kept)))


@contextlib.contextmanager
def _stand_in() -> Iterator[str]:
    port = processes.free_port()
    command = [sys.executable, "-m", "local.provider", "--port", str(port), "--pace", "0"]
    with subprocess.Popen(command, cwd=Path(__file__).parent.parent) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url)
            yield url
        finally:
            process.terminate()


def _wait(url: str) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx.TransportError):
            httpx.get(f"{url}/health", trust_env=False)
            return
        time.sleep(0.05)
    raise SystemExit("the stand-in did not start")


if __name__ == "__main__":
    main()
