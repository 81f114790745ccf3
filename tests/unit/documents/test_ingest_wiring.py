"""What a deployment reads documents with: whatever an address names, nothing inside a network is ever asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.bootstrap.stores import tenant_stores
from fencepost.bootstrap.wiring.ingestion import ingestion
from fencepost.documents.service.sources import Sources
from fencepost.kernel.errors import DocumentsUnreachable
from fencepost.kernel.ports import Validators
from fencepost.retrieval.indexes.embedded.index import EmbeddedIndex
from fencepost.settings import load_settings
from tests.fakes.corpus import FakeJobQueue
from tests.worlds.chat import FakeEvents


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    settings = load_settings({"FENCEPOST_INDEX": "embedded", "FENCEPOST_INDEX_PATH": str(tmp_path / "index.db")})
    index = EmbeddedIndex(tmp_path / "index.db")
    return ingestion(settings, tenant_stores(settings, FakeEvents()), index, FakeJobQueue()).ingest.sources


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "10.0.0.1", "169.254.169.254", "[fd00:ec2::254]"])
def test_pages_files_and_sitemaps_are_read_from_public_addresses_alone(sources: Sources, host: str) -> None:
    for fetcher in (sources.pages, sources.files, sources.sitemaps):
        with pytest.raises(DocumentsUnreachable) as raised:
            fetcher.fetch(f"http://{host}/", Validators())
        assert raised.value.reason == "address_refused"
