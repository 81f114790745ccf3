"""Stores on DynamoDB."""
