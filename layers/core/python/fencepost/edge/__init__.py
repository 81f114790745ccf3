"""The HTTP edge: request models, the error table, CORS, the client's address, logs and metrics."""
