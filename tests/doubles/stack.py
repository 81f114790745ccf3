"""The deployed stack as tests meet it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import httpx

from fencepost.identity.domain.scope import OrgRole
from fencepost.identity.domain.sites import Site
from fencepost.web.admin.service import Administration
from local.cloud import Cloud
from local.directory import administration, operator
from local.logs import Tail
from local.parameters import ISSUER_PATH
from tests.doubles.stand_in import StandIn
from tests.worlds.api_client import ApiClient, waited_for

_JOB_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Stack:
    """The real template, deployed on the emulator by what `make dev` runs.

    Attributes:
        cloud: the local cloud.
        http: a client of the front door.
        provider: the stand-in that the functions talk to.
    """

    cloud: Cloud
    http: httpx.Client
    provider: StandIn

    @property
    def url(self) -> str:
        """The front door."""
        return self.cloud.url

    def ask(self, message: str, **headers: str) -> httpx.Response:
        """Send one question."""
        return self.http.post("/api/ai-chat", json={"message": message}, headers=headers)

    def client(self, service: str) -> Any:
        """Return a boto3 client of the emulator."""
        return self.cloud.emulator.client(service)

    def physical(self, logical: str) -> str:
        """Return the physical name of a resource of the template."""
        row = self.client("cloudformation").describe_stack_resource(StackName="fencepost", LogicalResourceId=logical)
        return str(row["StackResourceDetail"]["PhysicalResourceId"])

    def logs(self) -> list[str]:
        """Return every line that the functions have written, oldest first."""
        return [entry.message for entry in Tail(self.cloud.emulator).read()]

    def site(self, org: str, site_id: str, **fields: Any) -> Site:
        """Make or change a site."""
        return self._directory.put_site(operator(org), Site(org=org, id=site_id, key=f"{org}-{site_id}", **fields))

    def allow_carry(self, org: str) -> None:
        """Let approved summaries leave an organisation, and come into it."""
        scope = operator(org)
        self._directory.put_organisation(scope, replace(self._directory.organisation(scope), allows_carry=True))

    def grant(self, org: str, user: str, role: OrgRole | None = OrgRole.MEMBER) -> None:
        """Make somebody a member of an organisation; None ends it."""
        scope = operator(org)
        self._directory.ensure_organisation(scope)
        self._directory.put_member(scope, user, role)

    def visitor(self, site_key: str) -> ApiClient:
        """Return a new visitor of a site."""
        token = self.http.post("/v1/visitors", json={"site": site_key}).raise_for_status().json()["token"]
        return self.bearer(token)

    def member(self, user: str, org: str) -> ApiClient:
        """Return somebody with a token of the local issuer, in an organisation, whether they are a member or not."""
        answer = self.http.post(f"{ISSUER_PATH}/token", json={"user": user}).raise_for_status()
        return self.bearer(answer.json()["access_token"], org)

    def bearer(self, token: str, org: str | None = None) -> ApiClient:
        """Return whoever has this token."""
        chosen = {"X-Org-Id": org} if org else {}
        return ApiClient(self.http, {"Authorization": f"Bearer {token}", **chosen})

    def settle(self) -> None:
        """Wait until no job is queued or under way, for as long as jobs take that do not fail."""
        queue = self.physical("JobsQueue")
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]

        def waiting() -> list[str]:
            counts = self.client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=names)
            return list(counts["Attributes"].values())

        # One that was put off is no reason to wait for it.
        with suppress(TimeoutError):
            waited_for(waiting, lambda counts: set(counts) == {"0"}, _JOB_SECONDS)

    def invoke(self, logical: str, event: object) -> Any:
        """Invoke a function behind the API, as its event source would, and return its answer."""
        answer = self.client("lambda").invoke(FunctionName=self.physical(logical), Payload=json.dumps(event))
        content = answer["Payload"].read()
        assert "FunctionError" not in answer, content
        return json.loads(content)

    @property
    def _directory(self) -> Administration:
        return administration(self.cloud.emulator.endpoint_url)

    @contextmanager
    def parameters(self, **changes: str) -> Iterator[None]:
        """Redeploy with other parameters of the template, and with the old ones afterwards."""
        before = {name: self.cloud.chosen.get(name) for name in changes}
        self.cloud.deploy(_silent, **changes)
        try:
            yield
        finally:
            for name, value in before.items():
                self.cloud.chosen.pop(name) if value is None else self.cloud.chosen.update({name: value})
            self.cloud.deploy(_silent)


def _silent(_: str) -> None:
    """Say nothing."""
