"""JSON Web Tokens of visitors and of members."""
