"""Entry point of the API function: everything under `/v1` but `POST /v1/chat`."""

from fencepost.bootstrap.api import api_handler

handler = api_handler()
