"""Response model of erasures."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fencepost.http.schemas import Sent
from fencepost.lifecycle.domain.erasures import Receipt


class ReceiptBody(Sent):
    """What an erasure removed. What was erased cannot be read any more, whatever the status."""

    receipt_id: str = Field(description="For `GET /v1/erasures/{id}`.")
    status: Literal["running", "done"] = Field(
        description="While it runs, a job will look anew, once nothing can arrive any more that was begun before."
    )
    counts: dict[str, int] = Field(
        description="What was removed so far, by kind: rows, objects, and as `vectors` entries of the index."
    )
    verified: bool = Field(description="It was looked for anew, and nothing was left.")


def receipt_body(receipt: Receipt) -> ReceiptBody:
    """Return the body of an erasure's receipt."""
    return ReceiptBody(
        receipt_id=receipt.id, status=receipt.status, counts=dict(receipt.counts), verified=receipt.verified
    )
