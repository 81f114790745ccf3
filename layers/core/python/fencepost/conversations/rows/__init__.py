"""Keys and rows of the tables."""
