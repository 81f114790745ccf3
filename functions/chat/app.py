"""Entry point of the chat function: `POST /api/ai-chat` and `POST /v1/chat`."""

from fencepost.bootstrap.chat import chat_handler

handler = chat_handler()
