"""Fencepost: a chat backend with a capped bill, private conversations and answers that name their sources."""

__version__ = "0.1.0"
