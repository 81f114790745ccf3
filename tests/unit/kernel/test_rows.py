"""Every dataclass that is stored comes back as it was, and its times sort as text."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message, MessagePointer
from fencepost.conversations.rows.messages import AnswerEntry
from fencepost.identity.domain.scope import Membership
from fencepost.identity.domain.sites import Fact, Organisation, Site
from fencepost.kernel.aws.rows import from_item, timestamp, to_item
from fencepost.kernel.money import Usage
from fencepost.memory.domain.summaries import Summary
from fencepost.queue.domain import JobRecord

STORED = (
    AnswerContext,
    AnswerEntry,
    Conversation,
    Fact,
    JobRecord,
    Membership,
    Message,
    MessagePointer,
    Organisation,
    Site,
    Summary,
)
moments = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
st.register_type_strategy(datetime, moments)
st.register_type_strategy(int, st.integers(0, 10**12))
st.register_type_strategy(Usage, st.builds(Usage))


@pytest.mark.parametrize("kind", STORED, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_what_is_stored_comes_back(kind: type, data: st.DataObject) -> None:
    value = data.draw(st.from_type(kind))
    item = to_item(value)
    assert from_item(kind, item) == value
    assert from_item(kind, {**item, "pk": {"S": "p"}, "sk": {"S": "s"}}) == value
    assert set(item) == {field.name for field in fields(kind) if getattr(value, field.name) is not None}


@given(moments, moments)
def test_times_sort_as_text(one: datetime, two: datetime) -> None:
    assert (timestamp(one) < timestamp(two)) == (one < two)


def test_a_time_is_written_in_utc() -> None:
    noon = datetime(2026, 3, 1, 13, 0, tzinfo=timezone(timedelta(hours=1)))
    assert timestamp(noon) == "2026-03-01T12:00:00.000000Z"


def test_what_is_no_row_of_that_kind_is_refused() -> None:
    with pytest.raises(ValidationError):
        from_item(MessagePointer, {"message_id": {"S": "m"}, "seq": {"S": "many"}})
