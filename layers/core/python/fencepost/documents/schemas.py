"""Request and response models of `/v1/documents…`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from fencepost.blobs.ports import UploadForm
from fencepost.documents.domain.documents import (
    MAX_DOCUMENT_BYTES,
    MAX_REFRESH_HOURS,
    MAX_TITLE_CHARACTERS,
    MAX_USERS,
    Document,
    DocumentKind,
    DocumentOrigin,
    DocumentState,
    origin_at,
)
from fencepost.documents.service.documents import UPLOAD_KINDS, DocumentChanges, NewDocument
from fencepost.http.body import AdminBody, Query
from fencepost.http.schemas import DEFAULT_PAGE, Cursor, Limit, Sent, UploadBody, Whole, upload_body
from fencepost.identity.domain.scope import ORG_ID, Acl, Audience, OrgRole
from fencepost.kernel.errors import ErrorCode
from fencepost.kernel.links import MAX_ADDRESS_CHARACTERS, is_web_address
from fencepost.kernel.text import normalise

_LANGUAGE = r"^([A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4})?$"


def _shown(title: str) -> str:
    return " ".join(normalise(title).split())[:MAX_TITLE_CHARACTERS]


def _address(value: str) -> str:
    if value and not is_web_address(value):
        raise PydanticCustomError("address", "no http(s) address")
    return value


Title = Annotated[
    str,
    Field(max_length=MAX_TITLE_CHARACTERS, description="If empty, it is taken from the document."),
    AfterValidator(_shown),
]
Url = Annotated[
    str,
    Field(max_length=MAX_ADDRESS_CHARACTERS, description="Address that answers link to."),
    AfterValidator(_address),
]
SourceUrl = Annotated[
    str,
    Field(min_length=1, max_length=MAX_ADDRESS_CHARACTERS, description="The http(s) address to fetch."),
    AfterValidator(_address),
]
Language = Annotated[str, Field(pattern=_LANGUAGE, description="BCP 47 tag. If empty, it is taken from the document.")]
RefreshHours = Annotated[
    Whole, Field(ge=0, le=MAX_REFRESH_HOURS, description="Hours between fetches of the source; 0 for never.")
]
Text = Annotated[str, Field(min_length=1, pattern=r"\S", description="Content of the document.")]


class AclSettings(AdminBody):
    """Access rights of a document: all visitors of its site, all members, members with a role, or named users."""

    audience: Literal["site", "organisation", "role", "users"] = "site"
    role: Literal["admin", "member"] | None = Field(
        None, description="Required with the audience `role`; not allowed otherwise."
    )
    users: list[Annotated[str, Field(pattern=r"^[!-~]{1,255}$")]] = Field(
        [], max_length=MAX_USERS, description="Subjects. Required with the audience `users`; not allowed otherwise."
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.role is not None) != (self.audience == "role") or bool(self.users) != (self.audience == "users"):
            raise PydanticCustomError("acl", "a role or users that do not go with the audience")
        return self

    def acl(self) -> Acl:
        """Return the access control list."""
        role = OrgRole(self.role) if self.role else None
        return Acl(audience=Audience(self.audience), role=role, users=tuple(dict.fromkeys(self.users)))


class _Described(AdminBody):
    """Base of new documents."""

    title: Title = ""
    site: str = Field(
        "", pattern=f"^({ORG_ID.pattern})?$", description="Id of the site that it belongs to; empty for all sites."
    )
    url: Url = ""
    language: Language = ""
    acl: AclSettings = AclSettings()


class DocumentRequest(_Described):
    """A new document, either with its `text` or with a `source` to fetch it from."""

    text: Text | None = None
    kind: Literal["text", "markdown", "html"] = Field("markdown", description="Format of `text`.")
    source: SourceUrl | None = None
    origin: Literal["page", "llms_full", "sitemap"] | None = Field(
        None, description="Kind of `source`; if null, it is derived from the address."
    )
    refresh_hours: RefreshHours = 0

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.text is None) == (self.source is None):
            raise PydanticCustomError("source", "text or source is needed, and not both")
        if self.source is None and (self.origin or self.refresh_hours):
            raise PydanticCustomError("source", "what is sent along is not fetched")
        return self

    def document(self) -> NewDocument:
        """Return the new document that the request describes."""
        return NewDocument(
            title=self.title,
            site=self.site,
            url=self.url,
            source=self.source or "",
            language=self.language,
            kind=DocumentKind(self.kind),
            origin=self._origin(),
            acl=self.acl.acl(),
            refresh_hours=self.refresh_hours,
        )

    def _origin(self) -> DocumentOrigin:
        if self.source is None:
            return DocumentOrigin.INLINE
        return DocumentOrigin(self.origin) if self.origin else origin_at(self.source)


class UploadRequest(_Described):
    """A document to upload."""

    content_type: str = Field(max_length=100, description=f"One of {', '.join(UPLOAD_KINDS)}.")
    size: Whole = Field(ge=1, description=f"Bytes, at most {MAX_DOCUMENT_BYTES:,}; the upload may not be larger.")

    def document(self) -> NewDocument:
        """Return the new document that the request describes."""
        return NewDocument(title=self.title, site=self.site, url=self.url, language=self.language, acl=self.acl.acl())


class DocumentPatch(AdminBody):
    """Changes of a document. Fields that are left out stay as they are."""

    title: Title | None = None
    url: Url | None = None
    language: Language | None = None
    acl: AclSettings | None = None
    refresh_hours: RefreshHours | None = None
    text: Text | None = Field(None, description="New text. Only for a document that was added with `text`.")

    def changes(self) -> DocumentChanges:
        """Return the changes; None for each field that stays."""
        return DocumentChanges(
            title=self.title,
            url=self.url,
            language=self.language,
            acl=self.acl.acl() if self.acl else None,
            refresh_hours=self.refresh_hours,
        )


class DocumentsQuery(Query):
    """Parameters of a list of documents."""

    limit: Limit = DEFAULT_PAGE
    cursor: Cursor | None = None


class AclBody(Sent):
    """Who may read a document."""

    audience: Audience
    role: OrgRole | None = None
    users: list[str] | None = None


class DocumentBody(Sent):
    """A document."""

    id: str
    title: str
    site: str
    kind: DocumentKind
    origin: DocumentOrigin
    acl: AclBody
    state: DocumentState
    url: str
    source: str | None = Field(None, description="Address that it is fetched from.")
    parent: str | None = Field(None, description="The sitemap that lists it.")
    language: str
    version: int = Field(description="Version that is currently found; 0 before the first is complete.")
    chunks: int
    size_bytes: int
    refresh_hours: int
    created_at: datetime
    updated_at: datetime
    checked_at: datetime | None = Field(None, description="When it was last read.")
    error: ErrorCode | None = Field(None, description="Error of the last attempt to read it; it may be retried.")
    upload: UploadBody | None = None
    expires_at: datetime | None = Field(None, description="When the upload form expires.")


class DocumentList(Sent):
    """A page of documents, newest first."""

    items: list[DocumentBody]
    next_cursor: str | None = Field(None, description="Cursor of the next page. Absent on the last page.")


def document_body(
    document: Document, *, form: UploadForm | None = None, expires_at: datetime | None = None
) -> DocumentBody:
    """Return the body of a document, with the upload form and when it ends where one was just issued."""
    acl = document.acl
    return DocumentBody(
        id=document.id,
        title=document.title,
        site=document.site,
        kind=document.kind,
        origin=document.origin,
        acl=AclBody(audience=acl.audience, role=acl.role, users=list(acl.users) or None),
        state=document.state,
        url=document.url,
        source=document.source or None,
        parent=document.parent or None,
        language=document.language,
        version=document.version,
        chunks=document.chunks,
        size_bytes=document.size_bytes,
        refresh_hours=document.refresh_hours,
        created_at=document.created_at,
        updated_at=document.updated_at,
        checked_at=document.checked_at,
        error=ErrorCode(document.error) if document.error else None,
        upload=upload_body(form) if form else None,
        expires_at=expires_at,
    )
