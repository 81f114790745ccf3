"""What every prompt is made of: the fence around untrusted text, history windows, citations.

    domain/fence.py        the fence and its nonce
    domain/history.py      earlier turns as exchanges, and the window that fits a budget
    domain/citations.py    markers that a model writes, resolved to numbered sources
    domain/section.py      a citable section
    domain/excerpt.py      fenced text with its sources and token count

The prompt of a turn is assembled in `fencepost.turns`. Tests: `tests/unit/prompting`.
"""
