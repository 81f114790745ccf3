"""Program that reads one PDF: the file on standard input, its text on standard output.

Its arguments are the maximum numbers of pages and characters. On any error, it exits with a non-zero status, and its
standard error is empty.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import BytesIO
from typing import Final

from fencepost.documents.readers.bounded_child import TOO_LARGE, bound_resources

_MAX_STREAM_BYTES: Final = 16 * 1024 * 1024
"""Maximum decompressed size of one stream. Pages of text need a thousandth of it."""


def main(most_pages: int, most_characters: int) -> int:
    """Read one file and return the exit status."""
    bound_resources()
    written = 0
    for page in _pages(sys.stdin.buffer.read(), most_pages):
        written += len(page)
        if written > most_characters:
            return TOO_LARGE
        sys.stdout.buffer.write(page.encode(errors="replace"))
    return 0


def _pages(content: bytes, most: int) -> Iterator[str]:
    from pypdf import PdfReader, overwrite_configuration

    overwrite_configuration(
        zlib_maximum_output_length=_MAX_STREAM_BYTES,
        lzw_maximum_output_length=_MAX_STREAM_BYTES,
        run_length_maximum_output_length=_MAX_STREAM_BYTES,
        array_based_stream_maximum_output_length=_MAX_STREAM_BYTES,
        # Only text is read, so no system program is run for images.
        jbig2dec_binary=None,
    )
    reader = PdfReader(BytesIO(content))
    if len(reader.pages) > most:
        sys.exit(TOO_LARGE)
    for page in reader.pages:
        yield page.extract_text() + "\n\n"


if __name__ == "__main__":
    sys.stderr = None  # pypdf's warnings may quote the file.
    sys.exit(main(*map(int, sys.argv[1:])))
