"""Entry point of the jobs function: messages of the job queue."""

from fencepost.bootstrap.jobs import jobs_handler

handler = jobs_handler()
