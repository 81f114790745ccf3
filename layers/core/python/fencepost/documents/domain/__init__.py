"""Rules without I/O."""
