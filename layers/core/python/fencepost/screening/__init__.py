"""A cheap filter that refuses texts which plainly try to turn the assistant against its owner.

**Screening is no security boundary.** It saves the cost of answering obvious attempts; a determined attacker gets past
it. Permissions are enforced where actions happen (`authorize_tool`, scopes), never by how a text looks.

    domain/screen.py         `screen(text)`: the category that a text attempts, or None
    domain/rules.py          the rules, read from domain/patterns/*.toml (one file for each language)
    domain/views.py          the readings of a text that are searched: folded, decoded, reversed
    domain/lexicon.py        which of the rules' literals occur in a text

A new pattern is a `[[rules]]` table in the file of its language; its `hit` and `miss` are tested.
Screening reads comparison forms only: they are never stored, shown or sent to the model.
Tests: `tests/unit/screening`; recall, false positives and cost: `benchmarks/screening.py`.
"""
