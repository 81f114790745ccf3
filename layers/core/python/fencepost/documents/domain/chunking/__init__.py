"""Splitting texts into chunks that can be found, embedded and cited, each with its place in the text."""
