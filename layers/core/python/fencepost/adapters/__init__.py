"""The world behind the ports: one adapter for each."""
