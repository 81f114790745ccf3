"""Building blocks of prompts: the fence around untrusted text, history windows and citations.

    domain/fence.py        citable sections, the fence around them and its nonce; excerpts with their token count
    domain/history.py      earlier turns as exchanges, and the window that fits a budget
    domain/citations.py    resolves the markers that a model writes to numbered sources

The prompt of a turn is assembled in `fencepost.turns`. Tests: `tests/unit/prompting`.
"""
