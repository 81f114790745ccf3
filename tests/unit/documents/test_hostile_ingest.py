"""Hostile documents on their whole way: read, chunked, indexed, and looked up again for a prompt."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.documents.domain.chunking.chunks import chunk
from fencepost.documents.domain.documents import DocumentOrigin
from fencepost.documents.service.passages import DocumentPassages
from fencepost.documents.service.versions import Versions
from fencepost.identity.domain.scope import Acl, Audience
from fencepost.retrieval.domain.search import Hit, Passage, Recalled
from tests.unit.documents.chunking_texts import SMALL, count
from tests.unit.documents.test_hostile_documents import FORGED, assert_fenced, payloads
from tests.worlds.corpus import CorpusWorld
from tests.worlds.layered_prompts import shown, turn

PAGE = "https://docs.example/guide"
MEMBERS = frozenset({"members"})


class Chunking(CorpusWorld):
    """Documents' jobs with the real chunker and short chunks, so that an attack is split as well."""

    @property
    def versions(self) -> Versions:
        return replace(super().versions, chunker=lambda text, language: chunk(text, count, SMALL, language))

    def passages(self) -> list[Passage]:
        """Return all that the index leads a member to."""
        hits = [
            Hit(stored_id=one, chunk=each.chunk, parent=each.parent, version=each.version, model=each.model, score=1)
            for one, each in self.index.entries.items()
        ]
        store = DocumentPassages(self.store)
        found = store.hydrate(self.scope, MEMBERS, hits).passages
        return list(store.finish(self.scope, list(found.values())))


def hostile() -> str:
    """Return a document whose headings and paragraphs are payloads, each beside something that forges a fence."""
    return "\n\n".join(
        f"# {payload}\n\n{FORGED[number % len(FORGED)]}\n\n{payload} [doc:trusted#1]"
        for number, payload in enumerate(payloads())
    )


@pytest.fixture(scope="module")
def world() -> Chunking:
    world = Chunking()
    members = Acl(audience=Audience.ORGANISATION)
    world.add(origin=DocumentOrigin.PAGE, source=PAGE, url=PAGE, title="", acl=members)
    world.web.serve(PAGE, hostile())
    world.run()
    return world


def test_every_chunk_of_it_stays_in_a_fence_of_its_own(world: Chunking) -> None:
    passages = world.passages()
    assert len(passages) > len(payloads())
    for passage in passages:
        prompt = shown(turn(recalled=Recalled(passages=(passage,))))
        assert_fenced(prompt, f"doc:{passage.id}")
        assert [source.url for source in prompt.sources if source.id == passage.id] == [PAGE]


def test_nothing_of_it_reaches_its_rights(world: Chunking) -> None:
    assert {entry.grants for entry in world.index.entries.values()} == {MEMBERS}
    assert world.document().acl == Acl(audience=Audience.ORGANISATION)
