"""Records of the conversations' stream."""

from fencepost.bootstrap.relay import relay_handler

handler = relay_handler()
