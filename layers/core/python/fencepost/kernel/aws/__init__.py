"""AWS: sessions, tables, S3 and secrets."""
