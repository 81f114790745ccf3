"""The local cloud that `make dev` starts, and the tools around it. Nothing in this package is deployed."""
