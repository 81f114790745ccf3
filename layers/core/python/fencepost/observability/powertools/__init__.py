"""Logs and metrics by Powertools."""
