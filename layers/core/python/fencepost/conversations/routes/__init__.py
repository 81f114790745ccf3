"""HTTP routes of conversations, messages and attachments."""
