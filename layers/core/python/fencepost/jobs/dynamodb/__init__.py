"""The outbox of the conversations' table, and the reconciler's state in DynamoDB."""
