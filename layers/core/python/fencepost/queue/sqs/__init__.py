"""The job queue on SQS."""
