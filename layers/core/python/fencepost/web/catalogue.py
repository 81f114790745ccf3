"""Every route that clients may use, as the OpenAPI document tells of it."""

from __future__ import annotations

from fencepost.http.operations import Operation
from fencepost.web.catalogue_data import ADMINISTRATION, DIAGNOSES, STORED
from fencepost.web.catalogue_documents import DOCUMENTS
from fencepost.web.catalogue_talk import CHAT, CONVERSATIONS, FACTS

OPERATIONS: tuple[Operation, ...] = (*CHAT, *CONVERSATIONS, *FACTS, *STORED, *DOCUMENTS, *ADMINISTRATION, *DIAGNOSES)
"""In the order of the document."""
