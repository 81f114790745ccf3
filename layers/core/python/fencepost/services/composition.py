"""What goes to the model and what comes back, with the secrets and the chance that the pure rules ask for."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fencepost.domain.assembly import Budgets, Nonces, assemble
from fencepost.domain.citations import resolve
from fencepost.domain.conversation import MAX_HISTORY_CHARACTERS, Answer, Question, Turn
from fencepost.domain.documents import DocumentSet
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.fence import NONCE_CHARACTERS, derive_nonce
from fencepost.domain.prompt import Prompt
from fencepost.domain.signatures import Policy, apply_policy, sign, verified
from fencepost.ports import Keys, SectionRanker


@dataclass(frozen=True, slots=True)
class Draft:
    """A turn before its answer, with all that the answer will need: once the model is paid, nothing may be missing."""

    question: Question
    prompt: Prompt
    signing_key: bytes
    nonces: Nonces

    def answer(self, text: str) -> Answer:
        """Turn the model's text into a signed answer that names its sources.

        Raises:
            FencepostError: `provider_failed` when nothing is left of a text made of unknown citations.
        """
        response, cited = resolve(self._without_nonces(text), self.prompt.sources)
        if not response.strip():
            raise FencepostError(ErrorCode.PROVIDER_FAILED)
        signature = sign(self.signing_key, self.question.history, self.question.message, response)
        return Answer(response, cited, signature)

    def _without_nonces(self, text: str) -> str:
        """Drop what fences are forged with, should the model be talked into printing it."""
        return text.replace(self.nonces.cached, "").replace(self.nonces.fresh, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Composer:
    """Writes prompts.

    Attributes:
        unsigned: what happens to answers in a history that do not bear our signature.
    """

    keys: Keys
    ranker: SectionRanker
    budgets: Budgets
    unsigned: Policy

    def draft(self, question: Question, documents: DocumentSet) -> Draft:
        """Put the prompt together.

        Raises:
            FencepostError: `misconfigured`, `history_content_too_long`, `history_unsigned` or `prompt_too_large`.
        """
        signing_key = self.keys.derive("history-signature")
        _require_bounded(signing_key, question.history)
        history = apply_policy(self.unsigned, signing_key, question.history)
        accepted = replace(question, history=history)
        nonces = self._nonces(documents)
        prompt = assemble(accepted, documents, self.ranker.rank, self.budgets, nonces)
        return Draft(question, prompt, signing_key, nonces)

    def _nonces(self, documents: DocumentSet) -> Nonces:
        cached = derive_nonce(self.keys.derive("fence-nonce"), documents.content_hash)
        return Nonces(cached, fresh=secrets.token_hex(NONCE_CHARACTERS // 2))


def _require_bounded(key: bytes, history: Sequence[Turn]) -> None:
    """Refuse long answers that are not ours, whatever the policy: a client may not write at such length."""
    ours = verified(key, history)
    if any(len(turn.content) > MAX_HISTORY_CHARACTERS and not own for turn, own in zip(history, ours, strict=True)):
        raise FencepostError(ErrorCode.HISTORY_CONTENT_TOO_LONG)
