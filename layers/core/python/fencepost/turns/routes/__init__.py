"""HTTP routes of the stateless chat and of turns."""
