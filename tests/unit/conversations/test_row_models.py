"""A row model declares every attribute of the dataclass that its rows hold."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from fencepost.conversations.domain.archives import ArchiveBlock
from fencepost.conversations.domain.attachments import Attachment
from fencepost.conversations.domain.messages import Conversation, Message, MessagePointer
from fencepost.conversations.rows.models import BlockRow, ConversationRow, FileRow, MessageRow, PointerRow
from fencepost.kernel.aws.rows import Row


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        (ConversationRow, Conversation),
        (MessageRow, Message),
        (PointerRow, MessagePointer),
        (BlockRow, ArchiveBlock),
        (FileRow, Attachment),
    ],
)
def test_a_row_model_declares_the_fields_of_its_dataclass(row: type[Row], kind: Any) -> None:
    assert {field.name for field in fields(kind)} <= row.get_attributes().keys()
