"""Ledgers in front of other ledgers, and the address guard."""
