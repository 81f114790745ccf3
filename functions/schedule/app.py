"""Entry point of the schedule function: timed events."""

from fencepost.bootstrap.schedule import schedule_handler

handler = schedule_handler()
