"""`make ingest`: files, folders and addresses over stores in memory, and the bar that shows it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.documents.domain.documents import Document, DocumentKind, DocumentOrigin, DocumentState
from fencepost.documents.service.documents import DocumentService
from fencepost.queue.domain import Purpose
from local import ingest
from local.ingest import Ingest, Waiting
from local.ingest_sources import SourceItem, items
from local.progress import ProgressLine
from local.trouble import Trouble
from tests.worlds.corpus import CorpusWorld

SITEMAP = "https://docs.example/sitemap.xml"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Bench:
    """What `make ingest` works with, over fakes."""

    def __init__(self) -> None:
        self.world, self.waiting, self.out = CorpusWorld(), Waiting(), io.StringIO()
        self.progress = ProgressLine(1, self.out)

    @property
    def work(self) -> Ingest:
        world = self.world
        service = DocumentService(store=world.store, blobs=world.blobs, queue=self.waiting, clock=world.clock)
        sitemaps = replace(world.sitemaps, queue=self.waiting)
        reading = replace(world.ingest, queue=self.waiting, sitemaps=sitemaps, report_progress=self.progress.part)
        handlers = {Purpose.INGEST: reading.run, Purpose.REMOVE_DOCUMENT: world.removal.run}
        return Ingest(service, handlers, self.waiting, self.progress)

    def add(self, found: Sequence[SourceItem]) -> list[bool]:
        return [self.work.add(self.world.scope, item) for item in found]

    def documents(self) -> list[Document]:
        return list(self.world.store.documents.values())

    def lines(self) -> list[str]:
        return self.out.getvalue().splitlines()


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def guide(tmp_path: Path) -> Path:
    path = tmp_path / "guide.md"
    path.write_text("# Guide\n\nFirst part.\n\nSecond part.")
    return path


def test_a_file_becomes_a_document_that_is_found(bench: Bench, guide: Path) -> None:
    assert bench.add(items(str(guide), "docs")) == [True]
    (document,) = bench.documents()
    assert (document.state, document.site, document.title) == (DocumentState.READY, "docs", "Guide")
    assert len(bench.world.index.entries) == document.chunks == 3
    assert bench.lines() == [f"{guide}: ready, version 1, 3 chunks"]


def test_the_same_file_again_takes_the_place_of_what_was_there(bench: Bench, guide: Path) -> None:
    bench.add(items(str(guide), "docs"))
    embedded = len(bench.world.embedder.embedded)
    bench.add(items(str(guide), "docs"))
    assert len(bench.world.embedder.embedded) == embedded
    guide.write_text(guide.read_text() + "\n\nThird part.")
    bench.add(items(str(guide), "docs"))
    (document,) = bench.documents()
    assert (document.version, document.chunks) == (2, 4)


def test_for_another_site_it_is_another_document(guide: Path) -> None:
    assert items(str(guide), "docs")[0].id != items(str(guide), "")[0].id


def test_a_folder_is_read_with_what_is_in_it_and_without_what_is_hidden_or_unreadable(tmp_path: Path) -> None:
    for name in ("b/c.mdx", "a.MD", "page.html", "file.pdf", "notes.txt", "code.py", ".git/x.md", "b/.hidden.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    found = items(str(tmp_path), "")
    assert [Path(item.name).name for item in found] == ["a.MD", "c.mdx", "file.pdf", "notes.txt", "page.html"]
    assert [item.new.kind for item in found] == [
        DocumentKind.MARKDOWN,
        DocumentKind.MARKDOWN,
        DocumentKind.PDF,
        DocumentKind.TEXT,
        DocumentKind.HTML,
    ]
    assert len({item.id for item in found}) == len(found)


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("https://docs.example/llms-full.txt", DocumentOrigin.LLMS_FULL),
        (SITEMAP, DocumentOrigin.SITEMAP),
        ("https://docs.example/guide", DocumentOrigin.PAGE),
    ],
)
def test_an_address_tells_what_stands_there(address: str, origin: DocumentOrigin) -> None:
    (item,) = items(address, "docs")
    assert (item.new.source, item.new.origin, item.content()) == (address, origin, None)


def test_a_sitemaps_pages_are_ingested_with_it(bench: Bench) -> None:
    pages = [f"https://docs.example/{number}" for number in range(3)]
    locations = "".join(f"<url><loc>{page}</loc></url>" for page in pages)
    bench.world.web.serve(SITEMAP, f"<urlset>{locations}</urlset>", media_type="application/xml")
    for page in pages:
        bench.world.web.serve(page, f"# Page\n\nOf {page}.")
    assert bench.add(items(SITEMAP, "docs")) == [True]
    assert {document.state for document in bench.documents()} == {DocumentState.READY}
    assert [line.partition(": ")[0] for line in bench.lines()] == [SITEMAP, *pages]
    assert (bench.progress.finished, bench.progress.of) == (4, 4)


def test_a_document_that_cannot_be_read_fails_and_says_why(bench: Bench, guide: Path) -> None:
    guide.write_bytes(b"\xff\xfe\x00broken")
    assert bench.add(items(str(guide), "docs")) == [False]
    assert bench.lines() == [f"{guide}: document_unreadable"]


def test_a_store_that_is_silent_is_reported_and_the_next_document_tried(bench: Bench, guide: Path) -> None:
    bench.world.faults.at(0, "before")
    found = items(str(guide), "docs")
    assert bench.add([*found, *found]) == [False, True]
    assert bench.lines()[0].endswith("is `make dev` still running?")


@pytest.mark.parametrize("source", ["", "no/such/file.md", "ftp://docs.example/x", "https://"])
def test_a_source_that_is_none_is_refused(source: str) -> None:
    with pytest.raises(Trouble) as raised:
        items(source, "")
    assert raised.value.exit_code == 2


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("x")
    with pytest.raises(Trouble, match="Nothing in"):
        items(str(tmp_path), "")


def test_a_file_that_is_too_large_is_refused(guide: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local.ingest_sources.MAX_DOCUMENT_BYTES", 10)
    with pytest.raises(Trouble, match="larger than 10 bytes"):
        items(str(guide), "")[0].content()


@pytest.mark.parametrize("changes", [{"ORG": "Acme Inc"}, {"SITE": "no site!"}, {"SRC": ""}])
def test_a_variable_that_is_wrong_is_named(changes: dict[str, str], guide: Path) -> None:
    with pytest.raises(Trouble, match=next(iter(changes))):
        ingest.run({"SRC": str(guide), "ORG": "acme", "SITE": "docs"} | changes)


def test_what_nothing_runs_for_is_not_ingested(guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FENCEPOST_STATE_DIR", str(tmp_path))
    with pytest.raises(Trouble, match="make dev"):
        ingest.run({"SRC": str(guide)})


# The bar.


def test_the_bar_fills_with_items_and_their_parts() -> None:
    out = Terminal()
    progress = ProgressLine(2, out)
    progress.begin("guide.md")
    progress.part(1, 2)
    progress.finish("ready")
    progress.begin("other.md")
    shown = [frame for frame in out.getvalue().split("\r\x1b[2K") if "░" in frame or "█" in frame]
    assert [frame.count("█") for frame in shown] == [0, 6, 12]
    assert "0/2  guide.md  1/2" in shown[1]
    assert "guide.md: ready\n" in out.getvalue()


def test_what_is_no_terminal_gets_lines_alone() -> None:
    out = io.StringIO()
    progress = ProgressLine(1, out)
    progress.begin("guide.md")
    progress.part(1, 2)
    progress.finish("ready")
    assert out.getvalue() == "guide.md: ready\n"


def test_a_frame_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    out = Terminal()
    ProgressLine(1, out).begin("a/very/long/name/" * 10 + "end.md")
    frame = out.getvalue().rpartition("\x1b[2K")[2]
    assert len(frame) < 60
    assert "…" in frame
    assert frame.endswith("end.md")
