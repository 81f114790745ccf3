"""What goes to the model and what comes back, with the secrets and the chance that the pure rules ask for."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fencepost.conversations.domain.attachments import AttachedText
from fencepost.conversations.domain.messages import Answer, Question, Turn
from fencepost.documents.domain.sections import DocumentSet
from fencepost.documents.ports import SectionRanker
from fencepost.identity.domain.sites import LayerBudgets, Site
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.input_limits import MAX_HISTORY_CHARACTERS
from fencepost.kernel.ports import Keys
from fencepost.memory.domain.excerpts import facts_hash, summary_hash
from fencepost.model.domain import LayerUse, Prompt, Source
from fencepost.prompting.domain.citations import resolve
from fencepost.prompting.domain.fence import NONCE_CHARACTERS, derive_nonce
from fencepost.retrieval.domain.search import NOTHING_RECALLED, Recalled
from fencepost.turns.domain.assembly import Nonces, assemble
from fencepost.turns.domain.prompt_inputs import PromptInputs, stateless_inputs, turn_inputs
from fencepost.turns.domain.signatures import Policy, apply_policy, sign, verified
from fencepost.turns.domain.turns import TurnMaterial, TurnRequest


@dataclass(frozen=True, slots=True)
class Draft:
    """A turn before its answer."""

    prompt: Prompt
    nonces: Nonces

    @property
    def layers(self) -> tuple[LayerUse, ...]:
        """What went into the prompt: the audit view of its answer."""
        return self.prompt.layers

    def answer(self, text: str) -> tuple[str, tuple[Source, ...]]:
        """Turn the model's text into an answer, and name the sources that it cites, `[1]` first.

        Raises:
            FencepostError: `provider_failed` when nothing is left of a text made of unknown citations.
        """
        response, cited = resolve(self._without_nonces(text), self.prompt.sources)
        if not response.strip():
            raise FencepostError(ErrorCode.PROVIDER_FAILED)
        return response, cited

    def _without_nonces(self, text: str) -> str:
        """Drop what fences are forged with, should the model be talked into printing it."""
        for nonce in self.nonces.all:
            text = text.replace(nonce, "")
        return text


@dataclass(frozen=True, slots=True)
class SignedDraft:
    """A turn of the stateless chat, with all that its answer will need: once the model is paid, nothing may be
    missing.
    """

    draft: Draft
    question: Question
    signing_key: bytes

    @property
    def prompt(self) -> Prompt:
        """What goes to the model."""
        return self.draft.prompt

    def answer(self, text: str) -> Answer:
        """Turn the model's text into a signed answer that names its sources.

        Raises:
            FencepostError: as `Draft.answer` does.
        """
        response, cited = self.draft.answer(text)
        signature = sign(self.signing_key, self.question.history, self.question.message, response)
        return Answer(response, cited, signature)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptBuilder:
    """Writes prompts.

    Attributes:
        budgets: the stateless chat's; a conversation's are its site's.
        unsigned: what happens to answers in a history that do not bear our signature.
    """

    keys: Keys
    ranker: SectionRanker
    budgets: LayerBudgets
    unsigned: Policy

    def draft(self, question: Question, documents: DocumentSet) -> SignedDraft:
        """Put the prompt of the stateless chat together.

        Raises:
            FencepostError: `misconfigured`, `history_content_too_long`, `history_unsigned` or `prompt_too_large`.
        """
        signing_key = self.keys.derive("history-signature")
        _require_bounded(signing_key, question.history)
        history = apply_policy(self.unsigned, signing_key, question.history)
        layers = stateless_inputs(replace(question, history=history), documents)
        return SignedDraft(self._draft(layers, self.budgets), question, signing_key)

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
        """Put the prompt of a stored conversation's turn together.

        Args:
            request: the message.
            material: what was loaded after the claim; its open turn is this one.
            documents: the site's.
            site: its product prompt and budgets.
            attachments: what is written in the message's files.
            recalled: what an index found for it.

        Raises:
            FencepostError: `misconfigured` or `prompt_too_large`.
        """
        layers = turn_inputs(request, material, documents, site, attachments, recalled=recalled)
        return self._draft(layers, site.budgets)

    def _draft(self, layers: PromptInputs, budgets: LayerBudgets) -> Draft:
        nonces = self._nonces(layers)
        return Draft(assemble(layers, self.ranker.rank, budgets, nonces), nonces)

    def _nonces(self, layers: PromptInputs) -> Nonces:
        key = self.keys.derive("fence-nonce")
        return Nonces(
            documents=derive_nonce(key, layers.documents.content_hash),
            facts=derive_nonce(key, facts_hash(layers.facts)),
            summary=derive_nonce(key, summary_hash(layers.summary)),
            fresh=secrets.token_hex(NONCE_CHARACTERS // 2),
        )


def _require_bounded(key: bytes, history: Sequence[Turn]) -> None:
    """Refuse long answers that are not ours, whatever the policy: a client may not write at such length."""
    ours = verified(key, history)
    if any(len(turn.content) > MAX_HISTORY_CHARACTERS and not own for turn, own in zip(history, ours, strict=True)):
        raise FencepostError(ErrorCode.HISTORY_CONTENT_TOO_LONG)
