"""Wiring of each package, shared by the functions that use it."""
