"""Models that the schemas of several packages share."""

from __future__ import annotations

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
from fencepost.kernel.errors import ErrorCode
from fencepost.kernel.paging import MAX_CURSOR_CHARACTERS
from fencepost.kernel.text import normalise


def shown(text: str) -> str:
    """Return the text as the model gets it. It may be longer: NFKC makes up to 18 characters of one."""
    return normalise(text).strip()


class Health(BaseModel):
    """What is up, and which version."""

    status: Literal["ok"]
    version: str


class ErrorBody(BaseModel):
    """What every error answers."""

    error: str = Field(description="One sentence that a visitor may read.")
    code: ErrorCode = Field(description="For programs. A code never changes its meaning.")
    requestId: str = Field(description="To be quoted to the operator.")  # noqa: N815 - the wire's name
    retryAfter: int | None = Field(  # noqa: N815 - the wire's name
        None, ge=1, description="Seconds until the daily caps begin anew. Present with these only."
    )
    fields: list[str] | None = Field(
        None, description="Which settings are not what they may be. Present with `admin_input_invalid` only."
    )


def _whole(value: object) -> object:
    """Take `12.0` for 12: the reader of bodies makes a float of every number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
Whole = Annotated[int, WHOLE]


MAX_PAGE = 100
DEFAULT_PAGE = 20
Limit = Annotated[int, Field(ge=1, le=MAX_PAGE, description="Most items of one page."), BeforeValidator(digits)]
Cursor = Annotated[
    str, Field(min_length=1, max_length=MAX_CURSOR_CHARACTERS, description="The `nextCursor` of the page before.")
]


class Sent(BaseModel):
    """What is sent to a client: camelCase; what there is none of is left out."""

    # Built when it is first used: a process serves many models and a request needs two.
    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, populate_by_name=True, from_attributes=True, defer_build=True
    )

    def wire(self) -> dict[str, object]:
        """Return the JSON values."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class UploadBody(Sent):
    """A form to be posted as `multipart/form-data`: these fields first, the file last, as `file`."""

    url: str
    fields: dict[str, str]


def upload_body(form: UploadForm) -> UploadBody:
    """Return a form as the API's JSON."""
    return UploadBody(url=form.url, fields=form.fields)
