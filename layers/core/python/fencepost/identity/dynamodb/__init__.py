"""The directory of organisations, sites and memberships in DynamoDB."""
