"""Earlier DynamoDB helpers, for stores that `Table` does not serve yet."""
