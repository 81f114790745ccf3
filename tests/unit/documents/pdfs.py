"""PDF files as bytes: plain ones, and some that nobody sends in good faith."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache


def pdf(pages: Sequence[str]) -> bytes:
    """Return a file with a line of text on each page."""
    return from_streams([f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode() for text in pages])


def from_streams(streams: Sequence[bytes], filters: str = "") -> bytes:
    """Return a file whose pages have these content streams, already encoded for `filters`."""
    kids = " ".join(f"{4 + 2 * place} 0 R" for place in range(len(streams)))
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(streams)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for place, stream in enumerate(streams):
        resources = "/Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 612 792]"
        bodies.append(f"<< /Type /Page /Parent 2 0 R {resources} /Contents {5 + 2 * place} 0 R >>".encode())
        bodies.append(b"<< /Length %d %s>>\nstream\n%s\nendstream" % (len(stream), filters.encode(), stream))
    return _file(bodies)


@cache
def bomb(unfolded: int = 512 * 1024 * 1024) -> bytes:
    """Return a file whose page is a thousandth of what it unfolds to, twice over."""
    packer = zlib.compressobj()
    block = b" " * 1_048_576
    inner = b"".join(packer.compress(block) for _ in range(unfolded // len(block))) + packer.flush()
    return from_streams([zlib.compress(inner, 9)], "/Filter [/FlateDecode /FlateDecode] ")


def loop() -> bytes:
    """Return a file whose tree of pages is its own branch."""
    return _file([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"])


def _file(bodies: Sequence[bytes]) -> bytes:
    content, places = b"%PDF-1.7\n", []
    for number, body in enumerate(bodies, 1):
        places.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(bodies) + 1, len(content))
    return content + b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(bodies) + 1, table) + end
