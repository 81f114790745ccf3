"""Use cases of background work."""
