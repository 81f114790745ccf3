"""Fixtures of the suites whose stores share the conversations' tables."""

from __future__ import annotations

import pytest

from tests.integration.conformance.table_backdrop import TableBackdrop
from tests.integration.conversation_tables import ConversationTables


@pytest.fixture
def backdrop(tables: ConversationTables) -> TableBackdrop:
    """Return the rows around the store under test."""
    return TableBackdrop(tables)
