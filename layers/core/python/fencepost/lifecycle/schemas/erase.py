"""Response model of erasures."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fencepost.http.schemas import Sent
from fencepost.lifecycle.domain.erasures import Receipt


class ReceiptBody(Sent):
    """Receipt of an erasure. The erased data cannot be read any more, also while it is `running`."""

    receipt_id: str = Field(description="Id for `GET /v1/erasures/{id}`.")
    status: Literal["running", "done"] = Field(
        description="While `running`, a job will check again, once no write that began before can still arrive."
    )
    counts: dict[str, int] = Field(
        description="Removed so far, by kind: rows, objects, and index entries as `vectors`."
    )
    verified: bool = Field(description="A repeated check found nothing left.")


def receipt_body(receipt: Receipt) -> ReceiptBody:
    """Return the body of an erasure's receipt."""
    return ReceiptBody(
        receipt_id=receipt.id, status=receipt.status, counts=dict(receipt.counts), verified=receipt.verified
    )
