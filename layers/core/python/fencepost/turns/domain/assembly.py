"""Assembly of a prompt: layers within exact token budgets, always in the same order.

The order is: rules (and the whole documentation where it fits), facts, summary, earlier turns, messages of other
conversations, retrieved context, the message. When the context window is too small for all of them, retrieved context
gives way first, then the oldest turns, then the oldest lines of the summary; facts and message never do. As much as
possible of what stands before the message is identical from turn to turn, byte by byte, so that the provider's cache
hits (docs/adr/0009).
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
    """Nonces for the fences of each kind.

    All but `fresh` are derived from a secret and their content's hash. `fresh` is drawn for one request, and is for
    retrieved context.
    """

    documents: str
    facts: str
    summary: str
    fresh: str

    @property
    def all(self) -> tuple[str, ...]:
        """All nonces. None of them may stand in a text other than our own tags."""
        return self.documents, self.facts, self.summary, self.fresh


def assemble(inputs: PromptInputs, rank: Rank, budgets: LayerBudgets, nonces: Nonces) -> Prompt:
    """Assemble a prompt. The same arguments give the same prompt.

    Args:
        inputs: everything that the prompt may contain.
        rank: orders sections by relevance to a text; called only where not all of them fit.
        budgets: tokens of each layer. Facts never give way: too many are refused when they are written.
        nonces: for the fences.

    Raises:
        FencepostError: `prompt_too_large`; rules, facts and message alone leave no room for an answer.
    """
    chosen = _chosen(inputs, rank, budgets, nonces)
    excerpts = (chosen.documents, chosen.facts, chosen.summary, chosen.memory, *chosen.context)
    uses = tuple(_uses(chosen))
    return Prompt(
        system=tuple(_system(chosen)),
        turns=tuple(_turns(chosen, inputs.stored)),
        sources=tuple(dict.fromkeys(source for excerpt in excerpts for source in excerpt.sources)),
        input_tokens=sum(use.tokens for use in uses),
        max_output_tokens=budgets.max_output_tokens,
        layers=uses,
    )


def most_tokens(budgets: LayerBudgets, product_prompt: str) -> int:
    """Return an upper bound on the input tokens of a site's turn: all layers full, and the longest message.

    The whole documentation and the retrieved context, which includes files, each stay within the documents' budget.
    """
    rules = (SYSTEM_PROMPT, product_rules(product_prompt), STORED_TURNS)
    framed = REQUEST_TOKENS + sum(map(block_tokens, rules))
    message = TURN_TOKENS + BLOCK_TOKENS + MAX_MESSAGE_CHARACTERS * CHARACTER_TOKENS
    documents = budgets.documents_tokens + max(budgets.documents_tokens, NOTICE.tokens)
    remembered = budgets.facts_tokens + budgets.summary_tokens + budgets.history_tokens + budgets.memory_tokens
    return min(framed + message + documents + remembered, budgets.context_tokens - budgets.max_output_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """The contents of a prompt's layers.

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
    history_tokens: int = 0
    memory: Excerpt = NOTHING
    context: tuple[Excerpt, ...] = ()


def _chosen(inputs: PromptInputs, rank: Rank, budgets: LayerBudgets, nonces: Nonces) -> _Chosen:
    """Fill the layers: first those that never give way, then the others, the last to give way first."""
    fixed = _fixed(inputs, nonces)
    # The last turn holds the notice that nothing matches, at least.
    left = budgets.context_tokens - budgets.max_output_tokens - NOTICE.tokens
    left -= fixed.rules_tokens + fixed.facts.tokens + fixed.message_tokens
    if left < 0:
        raise FencepostError(ErrorCode.PROMPT_TOO_LARGE)
    summary = summary_lines(inputs.summary, min(budgets.summary_tokens, left), nonces.summary)
    left -= summary.tokens
    history = _history(inputs, min(budgets.history_tokens, left), nonces)
    history_tokens = sum(exchange.tokens for exchange in history)
    left -= history_tokens
    documents = whole_documents(inputs.documents, nonces.documents, min(budgets.documents_tokens, left)) or NOTHING
    left -= documents.tokens
    room = min(budgets.documents_tokens, left)
    ranked = _ranked(inputs, documents, history, rank)
    files = attached_files(inputs.attachments, room if ranked is None else room // 2, nonces.fresh)
    sections = NOTHING if ranked is None else best_sections(ranked, room - files.tokens, nonces.fresh)
    left -= files.tokens + sections.tokens
    return replace(
        fixed,
        summary=summary,
        history=history,
        history_tokens=history_tokens,
        documents=documents,
        context=(files, sections),
        memory=memories(inputs.memories, min(budgets.memory_tokens, left), nonces.fresh),
    )


def _fixed(inputs: PromptInputs, nonces: Nonces) -> _Chosen:
    """Return the layers that never give way."""
    rules = [SYSTEM_PROMPT]
    if inputs.product_prompt.strip():
        rules.append(product_rules(neutralise_fence_tags(inputs.product_prompt, *nonces.all)))
    notice = STORED_TURNS if inputs.stored else ""
    message = neutralise_fence_tags(inputs.message, *nonces.all)
    return _Chosen(
        rules=tuple(rules),
        notice=notice,
        rules_tokens=REQUEST_TOKENS + sum(map(block_tokens, filter(None, (*rules, notice)))),
        facts=pinned_facts(inputs.facts, nonces.facts),
        message=message,
        message_tokens=TURN_TOKENS + block_tokens(message),
    )


def _history(inputs: PromptInputs, budget: int, nonces: Nonces) -> tuple[Exchange, ...]:
    exchanges = [
        replace(
            exchange,
            question=neutralise_fence_tags(exchange.question, *nonces.all),
            answer=neutralise_fence_tags(exchange.answer, *nonces.all),
        )
        for exchange in inputs.exchanges
    ]
    # A client's exchanges have no numbers, and no later prompt reads them from the cached prefix.
    return window(exchanges, budget, begins=inputs.begins) if inputs.stored else newest(exchanges, budget)


def _ranked(
    inputs: PromptInputs, documents: Excerpt, history: Sequence[Exchange], rank: Rank
) -> Sequence[Section] | None:
    """Return the sections to choose from, best first; None where the prompt shows the whole documentation."""
    if inputs.passages:
        return inputs.passages
    if documents.text:
        return None
    if inputs.passages is not None:
        return ()
    # A follow-up leaves out what the question before it was about.
    topic = [*(exchange.question for exchange in history[-1:]), inputs.message]
    return rank("\n".join(topic), inputs.documents)


def _system(chosen: _Chosen) -> Iterator[PromptBlock]:
    """Yield the blocks before the turns: first those that all visitors share, up to the first cache breakpoint."""
    public = [*chosen.rules, *filter(None, [chosen.documents.text])]
    yield from (PromptBlock(text) for text in public[:-1])
    yield PromptBlock(public[-1], cached=True)
    if chosen.notice:
        yield PromptBlock(chosen.notice)
    yield from (PromptBlock(layer.text, cached=True) for layer in (chosen.facts, chosen.summary) if layer.text)


def _turns(chosen: _Chosen, stored: bool) -> Iterator[PromptTurn]:
    for number, exchange in enumerate(chosen.history, start=1):
        yield PromptTurn(Role.USER, (PromptBlock(exchange.question),))
        # A cache breakpoint: a later prompt begins with everything up to here.
        yield PromptTurn(
            Role.ASSISTANT, (PromptBlock(exchange.answer, cached=stored and number == len(chosen.history)),)
        )
    context = (PromptBlock(excerpt.text) for excerpt in (chosen.memory, *chosen.context) if excerpt.text)
    yield PromptTurn(Role.USER, (*context, PromptBlock(chosen.message)))


def _uses(chosen: _Chosen) -> Iterator[LayerUse]:
    """Yield the tokens of each layer, framing included, and its sources, in the order of the layers."""
    said = tuple(source for exchange in chosen.history for source in exchange.sources)
    yield _use("rules", chosen.rules_tokens, chosen.documents)
    yield _use("facts", 0, chosen.facts)
    yield _use("summary", 0, chosen.summary)
    yield LayerUse("history", chosen.history_tokens, said)
    if chosen.memory.text:
        yield _use("memory", 0, chosen.memory)
    yield _use("context", 0, *chosen.context)
    yield LayerUse("message", chosen.message_tokens)


def _use(layer: LayerName, tokens: int, *excerpts: Excerpt) -> LayerUse:
    sources = (marker_id(source.id) for excerpt in excerpts for source in excerpt.sources)
    return LayerUse(layer, tokens + sum(excerpt.tokens for excerpt in excerpts), tuple(sources))
