"""Program that reads one HTML page: UTF-8 on standard input, the fields of `HtmlPage` as JSON on standard output.

It runs in its own process because an HTML tree takes quadratic time in its nesting depth, and its parser is written in
C. Its argument is the maximum number of characters of Markdown. On any error, it exits with a non-zero status and
without output.
"""

from __future__ import annotations

import json
import sys

from fencepost.documents.readers.bounded_child import TOO_LARGE, bound_resources


def main(most_characters: int) -> int:
    """Read one page and return the exit status."""
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
