"""The turns of conversations, for the functions that answer."""

from __future__ import annotations

import time
from dataclasses import replace

from fencepost.bootstrap.answers import Answers
from fencepost.bootstrap.front import Front
from fencepost.bootstrap.stores import Stores
from fencepost.conversations.service.attachments import AttachmentService
from fencepost.documents.readers.file_text import FileText
from fencepost.kernel.clock import utc_now
from fencepost.observability.ports import Events
from fencepost.turns.service.claiming import ConversationLeases
from fencepost.turns.service.turn_retrieval import TurnRetrieval
from fencepost.turns.service.turns import Attached, TurnService


def turn_service(
    reached: Stores, before: Front, made_with: Answers, log: Events, recall: TurnRetrieval | None = None
) -> TurnService:
    """Build it. Nothing is connected to."""
    store = reached.turns
    return TurnService(
        store=store,
        leases=ConversationLeases(store=store, events=log, keys=before.keys, clock=utc_now, pause=time.sleep),
        prompt_builder=made_with.composer,
        documents=made_with.documents,
        paid=made_with.paid,
        attached=_attached(reached),
        conversations=reached.conversations,
        directory=before.directory,
        sites=before.sites,
        keys=before.keys,
        clock=utc_now,
        decide=before.decide,
        decide_again=replace(before.decide, at="turn"),
        recall=recall,
    )


def _attached(reached: Stores) -> Attached:
    return AttachmentService(
        store=reached.attachments,
        blobs=reached.blobs,
        jobs=reached.jobs,
        extractor=FileText(),
        clock=utc_now,
    ).texts
