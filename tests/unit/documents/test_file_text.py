"""What is written in files, and files that are not what they say."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fencepost.conversations.domain.attachments import MARKDOWN, MAX_PAGES, MAX_TEXT_CHARACTERS, PDF, PLAIN
from fencepost.documents.readers.file_text import FileText
from fencepost.kernel.errors import ErrorCode, FencepostError
from tests.unit.documents import pdfs


def refusal(content: bytes, content_type: str = PDF) -> ErrorCode:
    with pytest.raises(FencepostError) as caught:
        FileText().text(content, content_type)
    return caught.value.code


@pytest.mark.parametrize("content_type", [PLAIN, MARKDOWN])
def test_text_is_read_as_utf_8_and_normalised(content_type: str) -> None:
    content = "\ufeff# Zäune\r\n\u200bein Pfosten ﬁx 柵 🌿\n".encode()
    assert FileText().text(content, content_type) == "# Zäune\nein Pfosten fix 柵 🌿"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"  \n",
        b"\xff\xfe\x00",
        "Zäune".encode("latin-1"),
        b"a\0b",
        pdfs.pdf(["Why?"]) + b"\xff",
        "\u200b".encode(),
    ],
    ids=["empty", "blank", "bytes", "latin-1", "nul", "pdf", "invisible"],
)
def test_what_is_no_text_is_unreadable(content: bytes) -> None:
    assert refusal(content, PLAIN) == ErrorCode.ATTACHMENT_UNREADABLE


def test_more_text_than_may_be_is_refused_and_not_cut() -> None:
    assert len(FileText().text(b"x" * MAX_TEXT_CHARACTERS, PLAIN)) == MAX_TEXT_CHARACTERS
    assert refusal(b"x" * (MAX_TEXT_CHARACTERS + 1), PLAIN) == ErrorCode.ATTACHMENT_TOO_LARGE
    # One character that normalises to eighteen.
    assert refusal("\ufdfa".encode() * (MAX_TEXT_CHARACTERS // 10), PLAIN) == ErrorCode.ATTACHMENT_TOO_LARGE


def test_the_pages_of_a_pdf_are_read_in_their_order() -> None:
    text = FileText().text(pdfs.pdf(["Posts stand two metres apart.", "Rails are nailed on."]), PDF)
    assert text.split("\n\n") == ["Posts stand two metres apart.", "Rails are nailed on."]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no pdf",
        b"%PDF-1.7\n",
        pdfs.pdf(["Why?"])[:60],
        pdfs.pdf([]),
        pdfs.pdf([""]),
        pdfs.loop(),
        b"%PDF-1.7" * 9_999,
    ],
    ids=["empty", "text", "head", "cut", "no page", "no text", "loop", "heads"],
)
def test_a_pdf_without_text_is_unreadable(content: bytes) -> None:
    assert refusal(content) == ErrorCode.ATTACHMENT_UNREADABLE


def test_a_pdf_bomb_is_not_unfolded() -> None:
    content = pdfs.bomb()
    assert len(content) < 10_000
    assert refusal(content) == ErrorCode.ATTACHMENT_UNREADABLE


def test_a_pdf_with_too_many_pages_or_too_much_text_is_refused() -> None:
    assert refusal(pdfs.pdf(["x"] * (MAX_PAGES + 1))) == ErrorCode.ATTACHMENT_TOO_LARGE
    assert refusal(pdfs.pdf(["x" * 1_000] * MAX_PAGES)) == ErrorCode.ATTACHMENT_TOO_LARGE


def test_a_pdf_that_takes_too_long_is_unreadable() -> None:
    with pytest.raises(FencepostError) as caught:
        FileText(seconds=0.001).text(pdfs.pdf(["Why?"]), PDF)
    assert caught.value.code == ErrorCode.ATTACHMENT_UNREADABLE


def test_the_reader_of_pdfs_has_none_of_our_credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # In the place of Python, a program that shows what it was given.
    shell = tmp_path / "python"
    shell.write_text("#!/bin/sh\nenv\n")
    shell.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(shell))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret-of-ours")
    shown = FileText().text(b"", PDF)
    assert "PYTHONPATH=" in shown
    assert "a-secret-of-ours" not in shown
