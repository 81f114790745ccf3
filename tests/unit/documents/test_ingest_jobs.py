"""Documents' jobs as the worker runs them: the operator's, whatever becomes of the admin who asked."""

from __future__ import annotations

import pytest

from fencepost.documents.service.document_jobs import document_job
from fencepost.identity.domain.scope import Action, Scope
from fencepost.jobs.handlers.consumer import read_job
from fencepost.jobs.service.runner import action_of
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.queue.domain import Job, Purpose
from fencepost.queue.sqs import message
from tests.worlds.corpus import CorpusWorld
from tests.worlds.jobs import JobsWorld


@pytest.mark.parametrize("purpose", [Purpose.INGEST, Purpose.REMOVE_DOCUMENT])
def test_a_job_is_authorised_for_its_organisation_alone(purpose: Purpose) -> None:
    world, corpus, scopes = JobsWorld(), CorpusWorld(), list[Scope]()
    job = document_job(corpus.scope, "d1", purpose, world.clock)

    world.runner(**{purpose.name: lambda scope, _job: scopes.append(scope)}).run(job)

    (scope,) = scopes
    assert (scope.org, scope.actor, scope.action) == ("acme", "operator", Action.ADMINISTER)
    assert world.events.jobs == [("done", None)]
    assert action_of(purpose) is Action.ADMINISTER


def test_a_job_travels_with_its_document() -> None:
    job = document_job(CorpusWorld().scope, "d1", Purpose.INGEST, JobsWorld().clock)

    assert read_job(message(job)) == job


@pytest.mark.parametrize("code", [ErrorCode.DOCUMENT_BUSY, ErrorCode.INDEX_UNAVAILABLE, ErrorCode.EMBEDDER_UNAVAILABLE])
def test_what_passes_brings_the_job_again(code: ErrorCode) -> None:
    world = JobsWorld()

    def fail(_scope: Scope, _job: Job) -> None:
        raise FencepostError(code)

    job = document_job(CorpusWorld().scope, "d1", Purpose.INGEST, world.clock)
    with pytest.raises(FencepostError):
        world.runner(INGEST=fail).run(job)

    assert world.events.jobs == [("retried", code)]
