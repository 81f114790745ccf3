"""Request and response models of `POST /v1/visitors`."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from fencepost.http.body import Body
from fencepost.http.schemas import Sent


class VisitorRequest(Body):
    """The site that the visitor is on."""

    site: str = Field(min_length=1, max_length=128, description="Public key of the site.")


class VisitorBody(Sent):
    """A visitor's token."""

    token: str = Field(description="Send it as `Authorization: Bearer …`.")
    visitor_id: str = Field(description="Stays the same when the token is renewed.")
    expires_at: datetime = Field(description="Renew the token before then: `POST /v1/visitors` with the old one.")
