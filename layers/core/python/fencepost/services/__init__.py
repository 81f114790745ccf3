"""Use cases, one a module. They talk to the world through `fencepost.ports` only."""
