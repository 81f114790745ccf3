"""DynamoDB behind the ports: exact counters and small records."""
