"""The local cloud that `make dev` starts. Nothing in here is deployed."""
