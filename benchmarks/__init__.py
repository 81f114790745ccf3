"""Benchmarks. Every figure in the README comes from a script in this package."""
