"""Every route that clients may use, as the OpenAPI document tells of it."""

from __future__ import annotations

from fencepost.edge.catalogue_data import ADMINISTRATION, DIAGNOSES, STORED
from fencepost.edge.catalogue_documents import DOCUMENTS
from fencepost.edge.catalogue_talk import CHAT, CONVERSATIONS, FACTS
from fencepost.edge.operations import Operation

OPERATIONS: tuple[Operation, ...] = (*CHAT, *CONVERSATIONS, *FACTS, *STORED, *DOCUMENTS, *ADMINISTRATION, *DIAGNOSES)
"""In the order of the document."""
