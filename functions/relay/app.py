"""Entry point of the relay function: records of the conversations table's stream."""

from fencepost.bootstrap.relay import relay_handler

handler = relay_handler()
