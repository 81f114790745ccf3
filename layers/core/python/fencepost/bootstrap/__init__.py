"""The composition root: the only package where adapters meet services.

`chat`, `api`, `jobs`, `relay` and `schedule` each build the handler of the function of that name, once per process.
Wiring that several functions share stands in a module named after its room (`turns`, `documents`, `retrieval`, …);
wiring that one function alone needs stands in that function's module. A module imports only the adapters that it
builds, so that a function loads no other function's code: `tests/unit/bootstrap/test_import_budget.py` counts.
"""
