"""The prompt of a turn: six layers within exact budgets, always in the same order.

Rules (and the whole documentation where it fits) · facts · summary · earlier turns · what was said elsewhere, where
something of it was found · retrieved context · the message.
Where they are too much together, retrieved context gives way first, then the oldest turns, then the oldest lines of the
summary; facts and message never do. What stands before the message is the same from turn to turn as far as it can be,
byte by byte, so that the provider's cache hits (docs/adr/0009).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from fencepost.documents.domain.sections import DocumentSet
from fencepost.identity.domain.sites import LayerBudgets
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.input_limits import MAX_MESSAGE_CHARACTERS
from fencepost.memory.domain.excerpts import pinned_facts, summary_lines
from fencepost.model.domain import (
    BLOCK_TOKENS,
    CHARACTER_TOKENS,
    REQUEST_TOKENS,
    TURN_TOKENS,
    LayerName,
    LayerUse,
    Prompt,
    PromptBlock,
    PromptTurn,
    Role,
)
from fencepost.prompting.domain.fence import NOTHING, Excerpt, Section, block_tokens, marker_id, neutralise_fence_tags
from fencepost.prompting.domain.history import Exchange, newest, window
from fencepost.turns.domain.prompt_inputs import (
    NOTICE,
    PromptInputs,
    attached_files,
    best_sections,
    memories,
    whole_documents,
)
from fencepost.turns.domain.system_prompt import STORED_TURNS, SYSTEM_PROMPT, product_rules

type Rank = Callable[[str, DocumentSet], Sequence[Section]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Nonces:
    """Of the fences of each kind. All but `fresh`, which is drawn for one request and for retrieved context, are
    derived from a secret and their content's hash.
    """

    documents: str
    facts: str
    summary: str
    fresh: str

    @property
    def all(self) -> tuple[str, ...]:
        """Every nonce. None may stand in any text but our own tags."""
        return self.documents, self.facts, self.summary, self.fresh


def assemble(layers: PromptInputs, rank: Rank, budgets: LayerBudgets, nonces: Nonces) -> Prompt:
    """Put a prompt together. The same arguments give the same prompt.

    Args:
        layers: what there is.
        rank: orders the sections by relevance to a text; called only where not all of them fit.
        budgets: what each layer may take. Facts never give way: they are refused where they are written.
        nonces: for the fences.

    Raises:
        FencepostError: `prompt_too_large` if rules, facts and message alone leave no room for an answer.
    """
    shown = _chosen(layers, rank, budgets, nonces)
    uses = tuple(_uses(shown))
    return Prompt(
        system=tuple(_system(shown)),
        turns=tuple(_turns(shown, layers.stored)),
        sources=tuple(dict.fromkeys(source for excerpt in shown.excerpts for source in excerpt.sources)),
        input_tokens=sum(use.tokens for use in uses),
        max_output_tokens=budgets.max_output_tokens,
        layers=uses,
    )


def most_tokens(budgets: LayerBudgets, product_prompt: str) -> int:
    """Return an upper bound on the input of a site's turn: all layers full, and the longest message.

    The whole documentation and what was retrieved, files among it, each stay within the budget of documents.
    """
    rules = (SYSTEM_PROMPT, product_rules(product_prompt), STORED_TURNS)
    framed = REQUEST_TOKENS + sum(map(block_tokens, rules))
    message = TURN_TOKENS + BLOCK_TOKENS + MAX_MESSAGE_CHARACTERS * CHARACTER_TOKENS
    documents = budgets.documents_tokens + max(budgets.documents_tokens, NOTICE.tokens)
    remembered = budgets.facts_tokens + budgets.summary_tokens + budgets.history_tokens + budgets.memory_tokens
    return min(framed + message + documents + remembered, budgets.context_tokens - budgets.max_output_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """What the prompt shows of its layers.

    Attributes:
        rules_tokens: of rules and notice, with what a provider adds around a request.
        documents: the whole documentation, or nothing.
    """

    rules: tuple[str, ...]
    notice: str
    rules_tokens: int
    facts: Excerpt
    message: str
    message_tokens: int
    documents: Excerpt = NOTHING
    summary: Excerpt = NOTHING
    history: tuple[Exchange, ...] = ()
    memory: Excerpt = NOTHING
    context: tuple[Excerpt, ...] = ()

    @property
    def excerpts(self) -> tuple[Excerpt, ...]:
        return self.documents, self.facts, self.summary, self.memory, *self.context

    @property
    def tokens(self) -> int:
        history = sum(exchange.tokens for exchange in self.history)
        return self.rules_tokens + self.message_tokens + history + sum(excerpt.tokens for excerpt in self.excerpts)


def _chosen(layers: PromptInputs, rank: Rank, budgets: LayerBudgets, nonces: Nonces) -> _Shown:
    """Choose what is shown: first what never gives way, then the others, the last to give way first."""
    shown = _always(layers, nonces)
    # The notice that nothing matches is the least that the last turn holds besides the message.
    limit = budgets.context_tokens - budgets.max_output_tokens - NOTICE.tokens
    if shown.tokens > limit:
        raise FencepostError(ErrorCode.PROMPT_TOO_LARGE)
    room = min(budgets.summary_tokens, limit - shown.tokens)
    shown = replace(shown, summary=summary_lines(layers.summary, room, nonces.summary))
    room = min(budgets.history_tokens, limit - shown.tokens)
    shown = replace(shown, history=_history(layers, room, nonces))
    room = min(budgets.documents_tokens, limit - shown.tokens)
    whole = whole_documents(layers.documents, nonces.documents, room)
    shown = replace(shown, documents=whole or NOTHING)
    room = min(budgets.documents_tokens, limit - shown.tokens)
    ranked = _ranked(layers, shown, rank)
    files = attached_files(layers.attachments, room if ranked is None else room // 2, nonces.fresh)
    sections = NOTHING if ranked is None else best_sections(ranked, room - files.tokens, nonces.fresh)
    shown = replace(shown, context=(files, sections))
    room = min(budgets.memory_tokens, limit - shown.tokens)
    return replace(shown, memory=memories(layers.memories, room, nonces.fresh))


def _ranked(layers: PromptInputs, shown: _Shown, rank: Rank) -> Sequence[Section] | None:
    """Return what may be shown of the documentation, the best first; None where all of it is shown already."""
    if layers.passages:
        return layers.passages
    if shown.documents.text:
        return None
    return rank(_topic(layers.message, shown.history), layers.documents) if layers.passages is None else ()


def _always(layers: PromptInputs, nonces: Nonces) -> _Shown:
    product = (
        (product_rules(neutralise_fence_tags(layers.product_prompt, *nonces.all)),)
        if layers.product_prompt.strip()
        else ()
    )
    rules, notice = (SYSTEM_PROMPT, *product), STORED_TURNS if layers.stored else ""
    message = neutralise_fence_tags(layers.message, *nonces.all)
    return _Shown(
        rules=rules,
        notice=notice,
        rules_tokens=REQUEST_TOKENS + sum(map(block_tokens, filter(None, (*rules, notice)))),
        facts=pinned_facts(layers.facts, nonces.facts),
        message=message,
        message_tokens=TURN_TOKENS + block_tokens(message),
    )


def _history(layers: PromptInputs, budget: int, nonces: Nonces) -> tuple[Exchange, ...]:
    exchanges = [
        replace(
            exchange,
            question=neutralise_fence_tags(exchange.question, *nonces.all),
            answer=neutralise_fence_tags(exchange.answer, *nonces.all),
        )
        for exchange in layers.exchanges
    ]
    # A client's turns carry no numbers, and stand in no prefix that a later prompt could read.
    return window(exchanges, budget, begins=layers.begins) if layers.stored else newest(exchanges, budget)


def _topic(message: str, history: Sequence[Exchange]) -> str:
    """Return what to look for: the message, with the question before it, which a follow-up leaves out."""
    return "\n".join([*(exchange.question for exchange in history[-1:]), message])


def _system(shown: _Shown) -> Iterator[PromptBlock]:
    """Yield the blocks before the turns. What is the same for all visitors comes first, up to the first breakpoint."""
    public = [*shown.rules, *filter(None, [shown.documents.text])]
    yield from (PromptBlock(text) for text in public[:-1])
    yield PromptBlock(public[-1], cached=True)
    if shown.notice:
        yield PromptBlock(shown.notice)
    yield from (PromptBlock(layer.text, cached=True) for layer in (shown.facts, shown.summary) if layer.text)


def _turns(shown: _Shown, stored: bool) -> Iterator[PromptTurn]:
    for number, exchange in enumerate(shown.history, start=1):
        yield PromptTurn(Role.USER, (PromptBlock(exchange.question),))
        # The last stable answer: a later prompt begins with everything up to here.
        yield PromptTurn(
            Role.ASSISTANT, (PromptBlock(exchange.answer, cached=stored and number == len(shown.history)),)
        )
    context = (PromptBlock(excerpt.text) for excerpt in (shown.memory, *shown.context) if excerpt.text)
    yield PromptTurn(Role.USER, (*context, PromptBlock(shown.message)))


def _uses(shown: _Shown) -> Iterator[LayerUse]:
    """Yield what each layer takes, framing included, in the order of the layers."""
    said = tuple(source for exchange in shown.history for source in exchange.sources)
    yield _use("rules", shown.rules_tokens, shown.documents)
    yield _use("facts", 0, shown.facts)
    yield _use("summary", 0, shown.summary)
    yield LayerUse("history", sum(exchange.tokens for exchange in shown.history), said)
    if shown.memory.text:
        yield _use("memory", 0, shown.memory)
    yield _use("context", 0, *shown.context)
    yield LayerUse("message", shown.message_tokens)


def _use(layer: LayerName, tokens: int, *excerpts: Excerpt) -> LayerUse:
    sources = (marker_id(source.id) for excerpt in excerpts for source in excerpt.sources)
    return LayerUse(layer, tokens + sum(excerpt.tokens for excerpt in excerpts), tuple(sources))
