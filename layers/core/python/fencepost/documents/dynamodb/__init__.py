"""DynamoDB adapter of the document store."""
