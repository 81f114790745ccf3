"""Messages of the jobs' queue."""

from fencepost.bootstrap.jobs import jobs_handler

handler = jobs_handler()
