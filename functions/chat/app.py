"""`POST /api/ai-chat`."""

from fencepost.bootstrap.chat import chat_handler

handler = chat_handler()
