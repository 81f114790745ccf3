"""The patterns, one module a language."""
