"""The process that reads one PDF: the file on its standard input, its text on its standard output.

Whatever goes wrong in it ends it with a status that is not zero, and says nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import BytesIO
from typing import Final

from fencepost.domain.attachments import MAX_PAGES, MAX_TEXT_CHARACTERS

TOO_LARGE: Final = 3
"""The status of a file with more pages, or more text, than may be."""

_MEMORY_BYTES: Final = 512 * 1024 * 1024
_CPU_SECONDS: Final = 25
_MAX_STREAM_BYTES: Final = 16 * 1024 * 1024
"""What one compressed stream may unfold to: pages of text are a thousandth of it."""


def main() -> int:
    """Read one file."""
    _bound_resources()
    written = 0
    for page in _pages(sys.stdin.buffer.read()):
        written += len(page)
        if written > MAX_TEXT_CHARACTERS:
            return TOO_LARGE
        sys.stdout.buffer.write(page.encode(errors="replace"))
    return 0


def _bound_resources() -> None:
    import resource

    # The kernel ends what takes more: no code in this process has to notice.
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def _pages(content: bytes) -> Iterator[str]:
    from pypdf import PdfReader, overwrite_configuration

    overwrite_configuration(
        zlib_maximum_output_length=_MAX_STREAM_BYTES,
        lzw_maximum_output_length=_MAX_STREAM_BYTES,
        run_length_maximum_output_length=_MAX_STREAM_BYTES,
        array_based_stream_maximum_output_length=_MAX_STREAM_BYTES,
        # Nothing but text is read: no program of the system is run for images.
        jbig2dec_binary=None,
    )
    reader = PdfReader(BytesIO(content))
    if len(reader.pages) > MAX_PAGES:
        sys.exit(TOO_LARGE)
    for page in reader.pages:
        yield page.extract_text() + "\n\n"


if __name__ == "__main__":
    sys.stderr = None  # pypdf's warnings may quote the file.
    sys.exit(main())
