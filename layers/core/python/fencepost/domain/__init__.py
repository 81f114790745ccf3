"""Rules without I/O: plain typed values and pure functions. Nothing in here knows AWS, HTTP or the clock."""
