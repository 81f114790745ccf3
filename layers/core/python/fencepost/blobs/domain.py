"""Names of objects in S3. Under an owner's prefix:

    conv/<id>/big/<seq>-<hash>      a message content that is too big for a row
    conv/<id>/block/<seq>-<hash>    a block of archived messages, named by its first sequence number
    exports/<job id>.zip            an exported bundle
    imports/<job id>.zip            a bundle to import
    files/<id>/raw                  an attachment as uploaded
    files/<id>/text                 the attachment's text

Under an organisation's prefix, objects without an owner:

    corpus/<id>/given               a document as an admin sent it
    corpus/<id>/upload              a document as uploaded
    corpus/<id>/v<version>/raw      a version of the document as read
    corpus/<id>/v<version>/text     the version's text

Names of objects that two processes may write at once hold a hash of the content, so neither overwrites the other.
"""

from __future__ import annotations

import hashlib
from urllib.parse import quote

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.ids import quoted

BIG_BYTES = 32 * 1024
"""UTF-8 bytes above which a content is stored in S3 instead of its row."""

EXPORTS = "exports/"
"""Prefix of all exported bundles."""

FILES = "files/"
"""Prefix of all attachments."""

PASSING_DAYS = 7
"""Days after which S3 removes objects that are `is_passing`, by a lifecycle rule of the template."""

UPLOAD_SECONDS = 600
"""How long a form for an upload is valid. An erasure scans again minutes after the last form has expired, when uploads
that began in time have ended (`fencepost.queue.domain.DELAYS`).
"""

_CORPUS = "corpus/"
_HASH_CHARACTERS = 16
_SEQ_DIGITS = 12


def object_prefix(scope: Scope) -> str:
    """Return the prefix of an owner's objects in S3."""
    return f"{quoted(scope.org)}/{quoted(scope.owner)}/"


def conversation(conversation_id: str) -> str:
    """Return the prefix of all objects of a conversation."""
    return f"conv/{_safe(conversation_id)}/"


def big_contents(conversation_id: str, seq: int | None = None) -> str:
    """Return the prefix of a conversation's big contents, or of those of one message."""
    prefix = f"{conversation(conversation_id)}big/"
    return prefix if seq is None else f"{prefix}{seq:0{_SEQ_DIGITS}d}-"


def big_content(conversation_id: str, seq: int, content: bytes) -> str:
    """Return the name of one message's big content."""
    return f"{big_contents(conversation_id, seq)}{_hash(content)}"


def blocks(conversation_id: str, first_seq: int | None = None) -> str:
    """Return the prefix of a conversation's blocks, or of those that begin with one sequence number."""
    prefix = f"{conversation(conversation_id)}block/"
    return prefix if first_seq is None else f"{prefix}{first_seq:0{_SEQ_DIGITS}d}-"


def block(conversation_id: str, first_seq: int, content: bytes) -> str:
    """Return the name of an archived block."""
    return f"{blocks(conversation_id, first_seq)}{_hash(content)}.jsonl.gz"


def export_bundle(job_id: str) -> str:
    """Return the name of an exported bundle."""
    return f"{EXPORTS}{_safe(job_id)}.zip"


def import_bundle(job_id: str) -> str:
    """Return the name of a bundle to import."""
    return f"imports/{_safe(job_id)}.zip"


def attachment(attachment_id: str) -> str:
    """Return the name of an attachment as uploaded."""
    return f"{FILES}{_safe(attachment_id)}/raw"


def attachment_text(attachment_id: str) -> str:
    """Return the name of an attachment's text."""
    return f"{FILES}{_safe(attachment_id)}/text"


def document(document_id: str) -> str:
    """Return the prefix of all objects of a document."""
    return f"{_CORPUS}{_safe(document_id)}/"


def document_given(document_id: str) -> str:
    """Return the name of a document as an admin sent it."""
    return f"{document(document_id)}given"


def document_upload(document_id: str) -> str:
    """Return the name of a document as uploaded."""
    return f"{document(document_id)}upload"


def document_versions(document_id: str) -> str:
    """Return the prefix of all versions of a document."""
    return f"{document(document_id)}v"


def document_version(document_id: str, version: int) -> str:
    """Return the prefix of a document's version."""
    return f"{document_versions(document_id)}{version}/"


def version_of(name: str) -> int:
    """Return the version of an object under `document_versions`."""
    return int(name.split("/")[2].removeprefix("v"))


def document_raw(document_id: str, version: int) -> str:
    """Return the name of a version as read."""
    return f"{document_version(document_id, version)}raw"


def document_text(document_id: str, version: int) -> str:
    """Return the name of a version's text."""
    return f"{document_version(document_id, version)}text"


def seq_of(name: str) -> int:
    """Return the sequence number in the name of a big content or a block.

    Raises:
        ValueError: it is the name of another kind of object.
    """
    return int(name.rsplit("/", 1)[-1][:_SEQ_DIGITS])


def is_uploaded(name: str) -> bool:
    """Tell whether clients upload the object themselves, so that it has no digest of ours."""
    if name.startswith(_CORPUS):
        return name.endswith("/upload")
    return name.startswith("imports/") or (name.startswith(FILES) and name.endswith("/raw"))


def is_passing(name: str) -> bool:
    """Tell whether an object is needed for days only: exported bundles, and uploads, whose text is kept separately."""
    return name.startswith(EXPORTS) or is_uploaded(name)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_HASH_CHARACTERS]


def _safe(part: str) -> str:
    return quote(part, safe="")
