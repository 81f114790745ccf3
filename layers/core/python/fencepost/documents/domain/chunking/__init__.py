"""Splits texts into chunks to embed, search and cite, each with its span in the text.

Read in this order:

    chunks.py   `chunk`: the whole way from a text to its chunks
    blocks.py   Markdown blocks of a text, and sections of blocks under their headings
    units.py    units of a section: the smallest spans that a chunk may begin or end at
    noise.py    lines without content for readers, such as front matter and imports
    bounds.py   lengths of chunks, and the ruler that measures them
"""
