"""Signatures over the chain of turns, so that a client can prove which answers are ours.

An answer's signature is `v1.<previous tag>.<tag>`. The tag is HMAC-SHA256 (RFC 2104) over the previous answer's tag,
the user's turn and the answer; the previous tag is empty where there was no signed answer before. A client may forget
the beginning of a conversation; a turn that was changed, moved, inserted or left out in between is seen.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from fencepost.conversations.domain.messages import Turn
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.model.domain import Role
from fencepost.turns.domain.system_prompt import UNVERIFIED_MARK

Policy = Literal["accept", "mark", "refuse"]

_VERSION = "v1"
_SIGNATURE = re.compile(r"v1\.([0-9a-f]{64})?\.([0-9a-f]{64})")


def sign(key: bytes, history: Sequence[Turn], message: str, response: str) -> str:
    """Return the signature of an answer.

    Args:
        key: 32 bytes for this purpose alone.
        history: what the client sent before the message, unpruned.
        message: the user's turn, in the form in which a later history will hold it.
        response: the answer, exactly as the client gets it.
    """
    previous = _last_tag(history)
    return f"{_VERSION}.{previous}.{_tag(key, previous, message, response)}"


def verified(key: bytes, history: Sequence[Turn]) -> tuple[bool, ...]:
    """Tell for each turn whether it stands as it was signed.

    An assistant's turn does if its tag matches the user's turn right before it, and its previous tag is that of the
    assistant's turn before, where there is one. Turns of the user are never in doubt: they are the user's to change.
    """
    return tuple(turn.role is Role.USER or _is_ours(key, history, index) for index, turn in enumerate(history))


def apply_policy(policy: Policy, key: bytes, history: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return the history as the policy lets it into the prompt.

    Args:
        policy: `accept` takes it as it is; `mark` puts `UNVERIFIED_MARK` before each assistant's turn that is not
            verified, which the system prompt explains.
        key: what `sign` used.
        history: as the client sent it, unpruned.

    Raises:
        FencepostError: `history_unsigned` where `refuse` meets a turn that is not verified.
    """
    if policy == "accept":
        return tuple(history)
    verdicts = verified(key, history)
    if policy == "refuse" and not all(verdicts):
        raise FencepostError(ErrorCode.HISTORY_UNSIGNED)
    return tuple(
        # A blank turn stays blank: the mark alone would make an answer of it.
        turn if ours or not turn.content.strip() else replace(turn, content=f"{UNVERIFIED_MARK} {turn.content}")
        for turn, ours in zip(history, verdicts, strict=True)
    )


def _is_ours(key: bytes, history: Sequence[Turn], index: int) -> bool:
    match = _SIGNATURE.fullmatch(history[index].signature or "")
    if not match or index == 0 or history[index - 1].role is not Role.USER:
        return False
    previous, tag = match[1] or "", match[2]
    earlier = history[: index - 1]
    linked = previous == _last_tag(earlier) or not any(turn.role is Role.ASSISTANT for turn in earlier)
    return linked and hmac.compare_digest(tag, _tag(key, previous, history[index - 1].content, history[index].content))


def _last_tag(history: Sequence[Turn]) -> str:
    """Return the tag of the last answer, empty where it has none."""
    last = next((turn for turn in reversed(history) if turn.role is Role.ASSISTANT), None)
    match = _SIGNATURE.fullmatch(last.signature or "") if last else None
    return match[2] if match else ""


def _tag(key: bytes, previous: str, message: str, response: str) -> str:
    # Lengths go first, so no two chains have the same bytes.
    parts = [part.encode("utf-8", "surrogatepass") for part in (_VERSION, previous, message, response)]
    framed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return hmac.new(key, framed, hashlib.sha256).hexdigest()
