"""Events and pseudonyms, without I/O."""
