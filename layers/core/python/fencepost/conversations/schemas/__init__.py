"""Request and response models of conversations, messages and attachments."""
