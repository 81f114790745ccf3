"""What a site keeps for some days: its rows end by themselves, and nobody reads them late."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from fencepost.identity import rows as keys
from fencepost.observability.service import Trace
from fencepost.queue.domain import JobState
from local.emulator import Emulator
from tests.integration.retention_town import DAY, DAYS, Town, days_of, missing
from tests.integration.storage_stores import ALICE, Stores, exported, open_stores, talk
from tests.integration.turn_stores import stored_turns
from tests.worlds.turn import ANN, Killed, Process


@pytest.fixture
def town(emulator: Emulator) -> Town:
    return Town(stored_turns(emulator.endpoint_url))


@pytest.fixture
def stores(emulator: Emulator) -> Stores:
    return open_stores(emulator)


def test_a_turns_rows_end_with_the_days_of_its_site(town: Town) -> None:
    first = town.world.say()
    town.world.clock.advance(2 * DAY.total_seconds())
    town.world.say(message_id="m2", conversation_id=first.conversation_id)
    assert town.ends(first.conversation_id) == [DAYS, DAYS, DAYS + 2, DAYS + 2]
    assert [days_of(town.pointer(one)) for one in ("m1", "m2")] == [DAYS, DAYS + 2]


def test_without_a_number_of_days_nothing_ends(town: Town) -> None:
    town.keep(0)
    first = town.world.say()
    town.world.clock.advance(10_000 * DAY.total_seconds())
    assert town.expire() == []
    assert "expires_at" not in town.pointer()
    assert len(town.world.messages(first.conversation_id)) == 2


def test_a_pointer_lasts_as_long_as_the_newest_answer(town: Town) -> None:
    town.world.say()
    town.world.clock.advance(DAY.total_seconds())
    town.world.service().regenerate(ANN, "m1", Trace())
    assert days_of(town.pointer()) == DAYS + 1
    town.keep(0)
    town.world.service().regenerate(ANN, "m1", Trace())
    assert "expires_at" not in town.pointer()


def test_a_question_that_was_put_aside_ends_as_well(town: Town) -> None:
    first = town.world.say()
    with pytest.raises(Killed):
        town.world.say(
            message_id="m2", conversation_id=first.conversation_id, process=Process(("turns.load", "before"))
        )
    town.world.clock.advance(DAY.total_seconds())
    town.world.say(message_id="m3", conversation_id=first.conversation_id)
    assert town.ends(first.conversation_id) == [DAYS, DAYS, DAYS, DAYS + 1, DAYS + 1]
    assert days_of(town.pointer("m2")) == DAYS


def test_what_is_too_old_is_seen_nowhere_before_it_is_removed(town: Town) -> None:
    first = town.world.say("The first one?")
    town.world.clock.advance(20 * DAY.total_seconds())
    town.world.say("The second one?", "m2", first.conversation_id)
    town.world.clock.advance(15 * DAY.total_seconds())
    assert [one.id for one in town.world.messages(first.conversation_id)] == ["m2", "m2.1"]
    assert missing(lambda: town.service.context(town.scope, "m1"))
    assert missing(lambda: town.service.rate(town.scope, "m1.1", "up"))
    assert missing(lambda: town.world.service().regenerate(ANN, "m1", Trace()))
    assert missing(lambda: town.world.say("The first one?", "m1", first.conversation_id))
    town.world.say("The third one?", "m3", first.conversation_id)
    prompt = str(town.world.model.prompts[-1])
    assert "The second one?" in prompt
    assert "The first one?" not in prompt


def test_a_conversation_that_is_too_old_is_none(town: Town) -> None:
    first = town.world.say()
    town.world.clock.advance(31 * DAY.total_seconds())
    conversation_id = first.conversation_id
    assert missing(lambda: town.service.get(town.scope, conversation_id))
    assert missing(lambda: town.service.rename(town.scope, conversation_id, "Another"))
    assert town.service.newest(town.scope, after=None, limit=10).items == ()
    assert missing(lambda: town.world.say(message_id="m2", conversation_id=conversation_id))
    assert len(town.world.model.prompts) == 1


def test_pages_go_on_over_what_is_too_old(town: Town) -> None:
    conversation = town.world.say(message_id="m0").conversation_id
    for number in range(1, 4):
        town.world.say(message_id=f"m{number}", conversation_id=conversation)
    town.world.clock.advance(20 * DAY.total_seconds())
    town.world.say(message_id="m4", conversation_id=conversation)
    town.world.clock.advance(15 * DAY.total_seconds())
    page = town.world.conversations.messages(town.scope, conversation, after=None, limit=2, newest_first=False)
    assert [one.id for one in page.items] == ["m4", "m4.1"]


def test_what_is_imported_ends_as_what_was_said_here(stores: Stores) -> None:
    stores.write(ALICE, talk(3, every=DAY))
    bundle = exported(stores)
    began = stores.clock()
    forget(stores, began + timedelta(seconds=1))
    stores.clock.advance(4 * DAY.total_seconds())
    importing = stores.importing(days=DAYS)
    importing.run(ALICE, importing.take(ALICE, "docs", bundle).job)
    rows = stores.tables.rows(keys.conversation(ALICE, "c1")) + stores.tables.rows(keys.owner(ALICE))
    ends = {row["sk"]["S"]: days_of(row, began) for row in rows if row["sk"]["S"].startswith(("m#", "msg#"))}
    assert list(ends.values()) == [30, 30, 31, 31, 32, 32, 30, 31, 32]
    assert exported(stores) == bundle
    stores.clock.advance(27 * DAY.total_seconds())
    assert [one.seq for one in stores.said(ALICE)] == [3, 4, 5, 6]


def forget(stores: Stores, at: datetime) -> None:
    """Erase everything of the owner."""
    stores.eraser.forget_owner(ALICE, at)
    while stores.eraser.sweep(ALICE, None, 10_000):
        pass


def test_a_finished_export_is_there_for_a_week(stores: Stores) -> None:
    stores.write(ALICE, talk(1))
    service = stores.exporting()
    record = service.ask(ALICE, "docs")
    service.run(ALICE, record.job)
    made = stores.jobs.job(ALICE, record.id)
    assert made is not None
    assert made.state is JobState.DONE
    stores.clock.now = made.updated_at + timedelta(days=7) - timedelta(seconds=1)
    assert service.state(ALICE, record.id).link
    stores.clock.advance(1)
    assert missing(lambda: service.state(ALICE, record.id))
