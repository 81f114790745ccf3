"""UUIDv7: the example of RFC 9562, order by time, and the random bits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.kernel.ids import RANDOM_BITS, uuid7

moments = st.datetimes(datetime(1970, 1, 2), datetime(2500, 1, 1), timezones=st.just(UTC))
chance = st.integers(0, 2**RANDOM_BITS - 1)


def test_the_example_of_the_standard() -> None:
    # RFC 9562, appendix A.6: rand_a is 0xCC3, rand_b is 0x18C4DC0C0C07398F.
    moment = datetime(2022, 2, 22, 19, 22, 22, tzinfo=UTC)
    assert uuid7(moment, 0xCC3 << 62 | 0x18C4DC0C0C07398F) == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"


@given(moments, chance)
def test_every_id_is_a_uuid_of_version_7(moment: datetime, bits: int) -> None:
    made = UUID(uuid7(moment, bits))
    assert (made.version, made.variant) == (7, "specified in RFC 4122")
    assert abs((made.int >> 80) - moment.timestamp() * 1_000) <= 1


@given(moments, chance, chance)
def test_ids_sort_by_time_and_differ_by_chance(moment: datetime, one: int, two: int) -> None:
    assert uuid7(moment, one) < uuid7(moment + timedelta(milliseconds=2), two)
    assert (uuid7(moment, one) == uuid7(moment, two)) == (one == two)


@pytest.mark.parametrize("bits", [-1, 2**RANDOM_BITS])
def test_other_chance_is_refused(bits: int) -> None:
    with pytest.raises(ValueError, match="74 random bits"):
        uuid7(datetime(2026, 3, 1, tzinfo=UTC), bits)
