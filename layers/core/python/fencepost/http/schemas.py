"""Models and field types that the schemas of several rooms share.

    Sent, done               base of response bodies, and the response of one
    ErrorBody, Health        bodies of every error and of `GET /health`
    Limit, Cursor            query parameters of paged lists
    Whole                    an integer in a JSON body
    UploadBody               a form that a browser uploads a file with
    shown                    a text as the model reads it

Docstrings and descriptions of the models are published in the OpenAPI document.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
)
from pydantic.alias_generators import to_camel

from fencepost.blobs.ports import UploadForm
from fencepost.http.body import digits
from fencepost.http.proxy import Response, json_response
from fencepost.kernel.errors import ErrorCode
from fencepost.kernel.paging import MAX_CURSOR_CHARACTERS
from fencepost.kernel.text import normalise

MAX_PAGE = 100
DEFAULT_PAGE = 20
Limit = Annotated[
    int, Field(ge=1, le=MAX_PAGE, description="Maximum number of items on the page."), BeforeValidator(digits)
]
Cursor = Annotated[
    str, Field(min_length=1, max_length=MAX_CURSOR_CHARACTERS, description="The `nextCursor` of the previous page.")
]


def _whole(value: object) -> object:
    """Return `12.0` as 12: `fencepost.http.body` parses every number as a float."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
Whole = Annotated[int, WHOLE]


def shown(text: str) -> str:
    """Return the text as the model reads it. It may be longer: NFKC expands one character to up to 18."""
    return normalise(text).strip()


class Sent(BaseModel):
    """Base of response bodies: camelCase names; fields that are None are left out."""

    # Schemas are built on first use: a process declares many models, and a request needs two.
    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, populate_by_name=True, from_attributes=True, defer_build=True
    )

    def wire(self) -> dict[str, object]:
        """Return the JSON values."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def done(body: Sent, status: HTTPStatus = HTTPStatus.OK) -> Response:
    """Return a successful response with a body."""
    return json_response("done", status, body.wire())


class Health(BaseModel):
    """Status and version of the deployment."""

    status: Literal["ok"]
    version: str


class ErrorBody(BaseModel):
    """The body of every error."""

    error: str = Field(description="One sentence that a visitor may read.")
    code: ErrorCode = Field(description="Machine-readable. A code never changes its meaning.")
    requestId: str = Field(description="Quote it when contacting the operator.")  # noqa: N815 - the wire's name
    retryAfter: int | None = Field(  # noqa: N815 - the wire's name
        None, ge=1, description="Seconds until the daily caps reset. Only present when one is exhausted."
    )
    fields: list[str] | None = Field(
        None, description="Paths of the invalid settings. Only present with errors about settings."
    )


class UploadBody(Sent):
    """A form to post as `multipart/form-data`: these fields first, then the file as `file`."""

    url: str
    fields: dict[str, str]


def upload_body(form: UploadForm) -> UploadBody:
    """Return the body of an upload form."""
    return UploadBody(url=form.url, fields=form.fields)
