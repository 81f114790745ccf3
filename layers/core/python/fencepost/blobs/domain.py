"""Names of objects in S3, below an owner's own prefix.

    conv/<id>/big/<seq>-<hash>      a content that is too big for a row
    conv/<id>/block/<seq>-<hash>    a block of archived messages, named by its first number
    exports/<job id>.zip            a bundle that was exported
    imports/<job id>.zip            a bundle that is imported
    files/<id>/raw                  an attachment as it was uploaded
    files/<id>/text                 what is written in it

and, below an organisation's own, what belongs to nobody in it:

    corpus/<id>/given               a document as an admin sent it
    corpus/<id>/upload              a document as it was uploaded
    corpus/<id>/v<version>/raw      a version of it as it was read
    corpus/<id>/v<version>/text     what is written in that version

What may be written by two processes at once has its content's hash in its name: neither overwrites the other's.
"""

from __future__ import annotations

import hashlib
from urllib.parse import quote

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.ids import quoted

BIG_BYTES = 32 * 1024
"""UTF-8 bytes above which a content stands in S3 and not in its row."""

EXPORTS = "exports/"
"""The prefix of all bundles that were exported."""

FILES = "files/"
"""The prefix of all attachments."""

PASSING_DAYS = 7
"""Days after which S3 removes what `is_passing` by itself. The template's lifecycle rule says the same."""

UPLOAD_SECONDS = 600
"""How long the form for an upload holds: an erasure looks again minutes after the last one has ended, so that an upload
which began within its time has ended as well (`fencepost.queue.domain.DELAYS`).
"""

_CORPUS = "corpus/"
_HASH_CHARACTERS = 16
_SEQ_DIGITS = 12


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
    """Return the prefix of a conversation's blocks, or of those that begin with one message."""
    prefix = f"{conversation(conversation_id)}block/"
    return prefix if first_seq is None else f"{prefix}{first_seq:0{_SEQ_DIGITS}d}-"


def block(conversation_id: str, first_seq: int, content: bytes) -> str:
    """Return the name of a block."""
    return f"{blocks(conversation_id, first_seq)}{_hash(content)}.jsonl.gz"


def export_bundle(job_id: str) -> str:
    """Return the name of an exported bundle."""
    return f"{EXPORTS}{_safe(job_id)}.zip"


def import_bundle(job_id: str) -> str:
    """Return the name of a bundle to import."""
    return f"imports/{_safe(job_id)}.zip"


def attachment(attachment_id: str) -> str:
    """Return the name of an attachment as it was uploaded."""
    return f"{FILES}{_safe(attachment_id)}/raw"


def attachment_text(attachment_id: str) -> str:
    """Return the name of what is written in an attachment."""
    return f"{FILES}{_safe(attachment_id)}/text"


def document(document_id: str) -> str:
    """Return the prefix of all objects of a document."""
    return f"{_CORPUS}{_safe(document_id)}/"


def document_given(document_id: str) -> str:
    """Return the name of a document as an admin sent it."""
    return f"{document(document_id)}given"


def document_upload(document_id: str) -> str:
    """Return the name of a document as it was uploaded."""
    return f"{document(document_id)}upload"


def document_versions(document_id: str) -> str:
    """Return the prefix of all versions of a document."""
    return f"{document(document_id)}v"


def document_version(document_id: str, version: int) -> str:
    """Return the prefix of a document's version."""
    return f"{document_versions(document_id)}{version}/"


def version_of(name: str) -> int:
    """Return the version that an object below `document_versions` belongs to."""
    return int(name.split("/")[2].removeprefix("v"))


def document_raw(document_id: str, version: int) -> str:
    """Return the name of a version as it was read."""
    return f"{document_version(document_id, version)}raw"


def document_text(document_id: str, version: int) -> str:
    """Return the name of what is written in a version."""
    return f"{document_version(document_id, version)}text"


def seq_of(name: str) -> int:
    """Return the number that a big content's or a block's name begins with.

    Raises:
        ValueError: it is the name of something else.
    """
    return int(name.rsplit("/", 1)[-1][:_SEQ_DIGITS])


def is_uploaded(name: str) -> bool:
    """Tell whether a client may have written the object: then no hash of ours goes along with it."""
    if name.startswith(_CORPUS):
        return name.endswith("/upload")
    return name.startswith("imports/") or (name.startswith(FILES) and name.endswith("/raw"))


def is_passing(name: str) -> bool:
    """Tell whether an object is needed for days alone: a bundle, or an upload, of which what is written in it stays."""
    return name.startswith(EXPORTS) or is_uploaded(name)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_HASH_CHARACTERS]


def _safe(part: str) -> str:
    return quote(part, safe="")


def object_prefix(scope: Scope) -> str:
    """Return the prefix of an owner's objects in S3."""
    return f"{quoted(scope.org)}/{quoted(scope.owner)}/"
