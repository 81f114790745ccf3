"""What a prompt can be made of, before budgets choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.conversations.domain.attachments import AttachedText
from fencepost.conversations.domain.messages import Message
from fencepost.conversations.domain.question import Question
from fencepost.documents.domain.document_set import DocumentSet
from fencepost.identity.domain.facts import Fact
from fencepost.identity.domain.sites import Site
from fencepost.memory.domain.summary import Summary
from fencepost.prompting.domain.history import Exchange, client_exchanges, stored_exchanges
from fencepost.prompting.domain.section import Section
from fencepost.retrieval.domain.search import NOTHING_RECALLED, Passage, Recalled
from fencepost.turns.domain.turns import TurnMaterial, TurnRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptInputs:
    """What a prompt can be made of. A stateless chat has a message, documents and exchanges alone.

    Attributes:
        documents: all sections of the site.
        product_prompt: the site's own, written by an admin; it follows the rules.
        facts: the site's, then the owner's.
        exchanges: what was said before the message, oldest first.
        begins: the number before which nothing was looked for; 1 where `exchanges` are all there are.
        attachments: what is written in files that came with the message.
        stored: the exchanges come from our own store: they are vouched for, and cached for the turns to come.
        passages: what an index found in documents, the best first; None where the site's own sections are ranked.
        memories: what it found in the owner's other conversations, the best first.
    """

    message: str
    documents: DocumentSet
    product_prompt: str = ""
    facts: tuple[Fact, ...] = ()
    summary: Summary | None = None
    exchanges: tuple[Exchange, ...] = ()
    begins: int = 1
    attachments: tuple[Section, ...] = ()
    stored: bool = False
    passages: tuple[Section, ...] | None = None
    memories: tuple[Section, ...] = ()


def stateless_inputs(question: Question, documents: DocumentSet) -> PromptInputs:
    """Return the layers of a chat that remembers nothing. Its history is the client's."""
    return PromptInputs(message=question.message, documents=documents, exchanges=client_exchanges(question.history))


def turn_inputs(
    request: TurnRequest,
    material: TurnMaterial,
    documents: DocumentSet,
    site: Site,
    attachments: Sequence[AttachedText] = (),
    *,
    recalled: Recalled = NOTHING_RECALLED,
) -> PromptInputs:
    """Return the layers of a stored conversation's turn: what was said before its question, and nothing after it."""
    most, kept, seq = site.budgets.messages, _kept(material), _asked_at(material)
    recent = kept[-most:] if most else []
    summary = material.summary
    return PromptInputs(
        message=request.message,
        documents=documents,
        product_prompt=site.product_prompt,
        facts=(*site.pinned_facts, *material.facts),
        # A question that is answered anew may stand within the summary's range: its old answer would give itself away.
        summary=summary if summary and summary.last_seq < seq else None,
        exchanges=stored_exchanges(recent, before=seq),
        begins=recent[0].seq if recent else 1,
        attachments=tuple(Section(file.source, file.name, "", file.text) for file in attachments),
        stored=True,
        passages=None if recalled.passages is None else tuple(map(_section, recalled.passages)),
        memories=tuple(map(_section, recalled.memories)),
    )


def said_before(material: TurnMaterial) -> tuple[Exchange, ...]:
    """Return what was said in a conversation before the question of its open turn, as far as it was loaded."""
    return stored_exchanges(_kept(material), before=_asked_at(material))


def _kept(material: TurnMaterial) -> list[Message]:
    return [message for message in material.recent if message.seq >= material.conversation.kept_from]


def _asked_at(material: TurnMaterial) -> int:
    turn = material.conversation.open_turn
    return turn.seq if turn else material.conversation.next_seq


def _section(passage: Passage) -> Section:
    return Section(passage.id, passage.title, passage.url, passage.text, passage.span)
