"""What the clock asks for."""

from fencepost.bootstrap.schedule import schedule_handler

handler = schedule_handler()
