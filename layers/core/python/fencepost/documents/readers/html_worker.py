"""The process that reads one HTML page: its UTF-8 on standard input, JSON of `Page`'s fields on standard output.

A process of its own, since a tree of HTML takes quadratic time in the depth that a page nests to, and its parser is
written in C. Its argument is the most characters of Markdown that may be in it. Whatever goes wrong ends it with a
status that is not zero, and says nothing.
"""

from __future__ import annotations

import json
import sys

from fencepost.documents.readers.bounded_child import TOO_LARGE, bound_resources


def main(most_characters: int) -> int:
    """Read one page."""
    from fencepost.documents.readers.html_page import read_page

    bound_resources()
    page = read_page(sys.stdin.buffer.read().decode(errors="replace"))
    if len(page.text) > most_characters:
        return TOO_LARGE
    sys.stdout.write(json.dumps(page._asdict()))
    return 0


if __name__ == "__main__":
    sys.stderr = None
    sys.exit(main(*map(int, sys.argv[1:])))
