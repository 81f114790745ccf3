"""Prompts for the model, and answers made from its text: the pure rules of `assembly`, with keys and random nonces."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fencepost.conversations.domain.attachments import AttachedText
from fencepost.conversations.domain.messages import Answer, Question
from fencepost.documents.domain.sections import DocumentSet
from fencepost.documents.ports import SectionRanker
from fencepost.identity.domain.sites import LayerBudgets, Site
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.input_limits import MAX_HISTORY_CHARACTERS
from fencepost.kernel.ports import Keys
from fencepost.memory.domain.excerpts import facts_hash, summary_hash
from fencepost.model.domain import Prompt, Source
from fencepost.observability.domain.event_parts import Fetched
from fencepost.prompting.domain.citations import resolve
from fencepost.prompting.domain.fence import NONCE_CHARACTERS, derive_nonce, marker_id
from fencepost.retrieval.domain.search import NOTHING_RECALLED, Recalled
from fencepost.turns.domain.assembly import Nonces, assemble
from fencepost.turns.domain.prompt_inputs import PromptInputs, stateless_inputs, turn_inputs
from fencepost.turns.domain.signatures import Policy, apply_policy, sign, verified
from fencepost.turns.domain.turns import TurnMaterial, TurnRequest


@dataclass(frozen=True, slots=True)
class Draft:
    """A prompt whose answer is still to come.

    Attributes:
        nonces: of the prompt's fences.
        fetched: how many items were read for the prompt.
    """

    prompt: Prompt
    nonces: Nonces
    fetched: Fetched = Fetched()  # noqa: RUF009 - frozen

    def answer(self, text: str) -> tuple[str, tuple[Source, ...]]:
        """Return the model's text as an answer, with the sources that it cites, `[1]` first.

        Raises:
            FencepostError: `provider_failed`; the text consists of unknown citations alone.
        """
        # A nonce would let a reader forge a fence, should a visitor talk the model into printing one.
        for nonce in self.nonces.all:
            text = text.replace(nonce, "")
        response, cited = resolve(text, self.prompt.sources)
        if not response.strip():
            raise FencepostError(ErrorCode.PROVIDER_FAILED)
        return response, cited


@dataclass(frozen=True, slots=True)
class SignedDraft:
    """A prompt of the stateless chat, with everything that signing its answer needs.

    The signing key is read before the model is paid, so that nothing can be missing afterwards.
    """

    draft: Draft
    question: Question
    signing_key: bytes

    @property
    def prompt(self) -> Prompt:
        """The prompt for the model."""
        return self.draft.prompt

    def answer(self, text: str) -> Answer:
        """Return the model's text as a signed answer with its sources.

        Raises:
            FencepostError: as `Draft.answer`.
        """
        response, cited = self.draft.answer(text)
        signature = sign(self.signing_key, self.question.history, self.question.message, response)
        return Answer(response, cited, signature)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptBuilder:
    """Builds prompts.

    Attributes:
        ranker: ranks a site's sections where not all of them fit.
        budgets: of the stateless chat; a conversation uses its site's budgets.
        unsigned: what happens to answers in a client's history that do not carry a valid signature.
    """

    keys: Keys
    ranker: SectionRanker
    budgets: LayerBudgets
    unsigned: Policy

    def draft(self, question: Question, documents: DocumentSet) -> SignedDraft:
        """Build the prompt of the stateless chat.

        Raises:
            FencepostError: `misconfigured`, `history_content_too_long`, `history_unsigned` or `prompt_too_large`.
        """
        signing_key, history = self.keys.derive("history-signature"), question.history
        # Unsigned answers have a shorter limit whatever the policy: a client may not make up long ones.
        for turn, ours in zip(history, verified(signing_key, history), strict=True):
            if len(turn.content) > MAX_HISTORY_CHARACTERS and not ours:
                raise FencepostError(ErrorCode.HISTORY_CONTENT_TOO_LONG)
        allowed = apply_policy(self.unsigned, signing_key, history)
        inputs = stateless_inputs(replace(question, history=allowed), documents)
        prompt, nonces = self._assembled(inputs, self.budgets)
        return SignedDraft(Draft(prompt, nonces), question, signing_key)

    def draft_turn(
        self,
        request: TurnRequest,
        material: TurnMaterial,
        documents: DocumentSet,
        site: Site,
        attachments: Sequence[AttachedText] = (),
        *,
        recalled: Recalled = NOTHING_RECALLED,
    ) -> Draft:
        """Build the prompt of a stored conversation's turn.

        Args:
            request: the message.
            material: loaded after the claim, so its open turn is this one.
            documents: the site's sections.
            site: gives the product prompt, its pinned facts and the budgets.
            attachments: texts of the message's files.
            recalled: passages that were retrieved from an index.

        Raises:
            FencepostError: `misconfigured` or `prompt_too_large`.
        """
        inputs = turn_inputs(request, material, documents, site, attachments, recalled=recalled)
        prompt, nonces = self._assembled(inputs, site.budgets)
        # An index tells how many passages it found, not how many it holds.
        indexed = 0 if recalled.passages is None else max(1, len(recalled.passages))
        fetched = Fetched(
            messages=len(material.recent),
            facts=len(inputs.facts),
            summary_lines=len(material.summary.lines) if material.summary else 0,
            attachments=len(attachments),
            sections=sum(marker_id(source.id).startswith("doc:") for source in prompt.sources),
            sections_available=max(len(documents.sections), indexed),
        )
        return Draft(prompt, nonces, fetched)

    def _assembled(self, inputs: PromptInputs, budgets: LayerBudgets) -> tuple[Prompt, Nonces]:
        key = self.keys.derive("fence-nonce")
        nonces = Nonces(
            documents=derive_nonce(key, inputs.documents.content_hash),
            facts=derive_nonce(key, facts_hash(inputs.facts)),
            summary=derive_nonce(key, summary_hash(inputs.summary)),
            fresh=secrets.token_hex(NONCE_CHARACTERS // 2),
        )
        return assemble(inputs, self.ranker.rank, budgets, nonces), nonces
