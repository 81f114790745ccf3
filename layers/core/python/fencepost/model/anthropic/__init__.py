"""The adapter of Anthropic's Messages API."""
