"""Lambda handlers of queue, stream and schedule."""
