"""`POST /api/ai-chat`."""

from fencepost.bootstrap import chat_handler

handler = chat_handler()
