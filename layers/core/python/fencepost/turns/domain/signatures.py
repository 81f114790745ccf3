"""Signatures over the chain of turns, which prove that the answers in a client's history are ours.

An answer's signature is `v1.<previous tag>.<tag>`. The tag is HMAC-SHA256 (RFC 2104) over the previous answer's tag,
the user's turn and the answer. The previous tag is empty if no signed answer precedes. A client may omit the beginning
of a conversation; turns that were changed, moved, inserted or left out after that are detected.
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
        key: 32 bytes, used for this purpose only.
        history: the turns that the client sent before the message, unpruned.
        message: the user's turn, in the form that later histories contain.
        response: the answer, exactly as the client receives it.
    """
    previous = _last_tag(history)
    return f"{_VERSION}.{previous}.{_tag(key, previous, message, response)}"


def verified(key: bytes, history: Sequence[Turn]) -> tuple[bool, ...]:
    """Return for each turn whether it is verified.

    An assistant's turn is verified if its tag is valid for it and the user's turn right before it, and its previous tag
    is the tag of the assistant's turn before, if there is one. A user's turns count as verified, since users may change
    them.
    """
    return tuple(turn.role is Role.USER or _is_ours(key, history, index) for index, turn in enumerate(history))


def apply_policy(policy: Policy, key: bytes, history: Sequence[Turn]) -> tuple[Turn, ...]:
    """Apply the policy for unverified turns to a history, and return the history for the prompt.

    Args:
        policy: `accept` returns the history unchanged; `mark` puts `UNVERIFIED_MARK`, which the system prompt explains,
            before each unverified assistant's turn; `refuse` raises an error if there is one.
        key: the key that `sign` used.
        history: the turns that the client sent, unpruned.

    Raises:
        FencepostError: `history_unsigned`; the policy is `refuse` and a turn is not verified.
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
    """Return the tag of the last answer; empty if there is no answer or it has no tag."""
    last = next((turn for turn in reversed(history) if turn.role is Role.ASSISTANT), None)
    match = _SIGNATURE.fullmatch(last.signature or "") if last else None
    return match[2] if match else ""


def _tag(key: bytes, previous: str, message: str, response: str) -> str:
    # Each part is preceded by its length, so that different chains never have the same bytes.
    parts = [part.encode("utf-8", "surrogatepass") for part in (_VERSION, previous, message, response)]
    framed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return hmac.new(key, framed, hashlib.sha256).hexdigest()
