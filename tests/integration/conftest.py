"""Fixtures of what runs on the emulated DynamoDB."""

from __future__ import annotations

import pytest

from local.emulator import Emulator
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables


@pytest.fixture(scope="module")
def tables(emulator: Emulator) -> ConversationTables:
    """Return both tables, empty at the beginning of a module."""
    return open_conversation_tables(emulator.endpoint_url)
