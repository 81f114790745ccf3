"""`FakeArchive`, `FakeImports` and `FakeAttachments` against the conformance tests of their ports."""

from __future__ import annotations

import pytest

from tests.conformance.archives import ArchiveConformance
from tests.conformance.imports import AttachmentConformance, ImportConformance
from tests.fakes.archives import FakeArchive, FakeAttachments, FakeImports
from tests.fakes.blobs import FakeBlobs
from tests.fakes.conversations import FakeConversations
from tests.unit.conformance.fake_backdrop import FakeBackdrop


@pytest.fixture
def backdrop() -> FakeBackdrop:
    return FakeBackdrop()


@pytest.fixture
def blobs() -> FakeBlobs:
    return FakeBlobs()


@pytest.fixture
def conversations(backdrop: FakeBackdrop) -> FakeConversations:
    return FakeConversations(backdrop.shelf)


class TestFakeArchive(ArchiveConformance):
    @pytest.fixture
    def subject(self, backdrop: FakeBackdrop, blobs: FakeBlobs) -> FakeArchive:
        return FakeArchive(backdrop.shelf, blobs, files=backdrop.files)

    @pytest.fixture
    def broken(self, subject: FakeArchive) -> FakeArchive:
        subject.faults.at(0, "before")
        return subject


class TestFakeImports(ImportConformance):
    @pytest.fixture
    def subject(self, backdrop: FakeBackdrop, blobs: FakeBlobs) -> FakeImports:
        return FakeImports(backdrop.shelf, blobs, erased=backdrop.erased)

    @pytest.fixture
    def broken(self, subject: FakeImports) -> FakeImports:
        subject.faults.at(0, "before")
        return subject


class TestFakeAttachments(AttachmentConformance):
    @pytest.fixture
    def attachments(self) -> FakeAttachments:
        return FakeAttachments()

    @pytest.fixture
    def broken_attachments(self, attachments: FakeAttachments) -> FakeAttachments:
        attachments.faults.at(0, "before")
        return attachments
