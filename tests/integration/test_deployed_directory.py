"""`make site` and `make member` with `PROFILE=`: the first organisation, site and admin of a stack on emulated AWS."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fencepost.identity.domain.scope import Membership, OrgRole
from fencepost.identity.domain.sites import Organisation
from fencepost.identity.dynamodb.directory import DynamoDbDirectory
from local import template
from local.emulator import Emulator
from local.paths import ROOT
from local.profiles import profile

DEPLOYED = profile("prod")


@dataclass(frozen=True)
class Operator:
    """Somebody at a terminal whose AWS credentials lead to the emulator."""

    endpoint_url: str
    folder: Path
    directory: DynamoDbDirectory

    def make(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a target. No local cloud runs in their folder."""
        environment = {**os.environ, "AWS_ENDPOINT_URL": self.endpoint_url, "FENCEPOST_STATE_DIR": str(self.folder)}
        command = ["make", "-s", "--no-print-directory", *arguments]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def operator(emulator: Emulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    """Yield the operator of a stack that has the template's directory, under its output's name."""
    document, client = template.load(), emulator.client("cloudformation")
    kept = {
        "Resources": {"DirectoryTable": document["Resources"]["DirectoryTable"]},
        "Outputs": {"DirectoryTableName": document["Outputs"]["DirectoryTableName"]},
    }
    client.create_stack(StackName=DEPLOYED.stack, TemplateBody=json.dumps(kept))
    client.get_waiter("stack_create_complete").wait(StackName=DEPLOYED.stack, WaiterConfig={"Delay": 1})
    [row] = client.list_stack_resources(StackName=DEPLOYED.stack)["StackResourceSummaries"]
    dynamodb = emulator.client("dynamodb")
    directory = DynamoDbDirectory(row["PhysicalResourceId"], lambda: dynamodb)
    yield Operator(emulator.endpoint_url, tmp_path_factory.mktemp("operator"), directory)
    client.delete_stack(StackName=DEPLOYED.stack)


def test_the_first_organisation_site_and_admin_are_made(operator: Operator) -> None:
    made = operator.make("site", "PROFILE=prod", "ORG=acme", "SITE=docs", "ORIGINS=https://www.acme.example")
    assert (made.stdout, made.returncode) == ("acme-docs\n", 0), made.stderr
    named = operator.make("member", "PROFILE=prod", "ORG=acme", "USER=auth0|5f7c", "ROLE=admin")
    assert (named.stdout, named.returncode) == ("auth0|5f7c has the role admin in acme.\n", 0), named.stderr
    acme = Organisation(id="acme", name="acme", default_site="docs", version=1)
    assert operator.directory.organisation("acme") == acme
    site = operator.directory.site_by_key("acme-docs")
    assert site is not None
    assert (site.org, site.id, list(map(str, site.origins))) == ("acme", "docs", ["https://www.acme.example"])
    granted = Membership("acme", "auth0|5f7c", OrgRole.ADMIN, active=True, version=1)
    assert operator.directory.membership("acme", "auth0|5f7c") == granted


def test_a_stack_that_was_not_deployed_is_named_and_nothing_is_printed(operator: Operator) -> None:
    done = operator.make("member", "PROFILE=dev", "ORG=acme", "USER=u1", "ROLE=admin")
    assert (done.stdout, done.returncode) == ("", 2)
    assert profile("dev").stack in done.stderr
    assert "Traceback" not in done.stderr
