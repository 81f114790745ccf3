"""The real stores under the template's own policy, on an emulator that enforces policies.

It resolves no tags inside policies and knows no leading keys of DynamoDB: each organisation gets a role whose policy is
what AWS makes of the tag, without the condition on leading keys. `infrastructure/test_tenant_sessions.py` checks those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from boto3.session import Session
from botocore.exceptions import ClientError

from fencepost.access.sts import TenantSessions, tenanted
from fencepost.blobs.ports import BlobStore
from fencepost.blobs.s3 import S3BlobStore
from fencepost.conversations.dynamodb.conversations import DynamoDbConversations
from fencepost.conversations.ports import ConversationStore
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.s3 import connect as connect_s3
from fencepost.kernel.errors import FencepostError
from local import emulator, processes
from local.emulator import Emulator
from tests.conformance.samples import visitor_scope
from tests.infrastructure.test_template import properties
from tests.integration.conversation_tables import open_conversation_tables
from tests.worlds.chat import FakeEvents

ACCOUNT, REGION, BUCKET = "000000000000", emulator.REGION, "conversations"
TEMPLATE: dict[str, Any] = properties("AWS::IAM::Role")["OrganisationRole"]


@dataclass(frozen=True)
class Walled:
    """An emulator with a role for each organisation."""

    cloud: Emulator
    conversations: str
    directory: str

    def sessions(self, org: str) -> TenantSessions:
        sts = self.cloud.client("sts")
        return TenantSessions(arn(org), FakeEvents(), lambda: datetime.now(UTC), lambda: sts)

    def blobs(self, org: str) -> BlobStore:
        return tenanted(lambda to: S3BlobStore(BUCKET, to.s3), self.sessions(org))

    def store(self, org: str) -> ConversationStore:
        def make(to: Any) -> DynamoDbConversations:
            return DynamoDbConversations(self.conversations, S3BlobStore(BUCKET, to.s3), to.dynamodb)

        return tenanted(make, self.sessions(org))


def arn(org: str) -> str:
    return f"arn:aws:iam::{ACCOUNT}:role/organisation-{org}"


@pytest.fixture(scope="module")
def walled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walled]:
    cloud = emulator.start(tmp_path_factory.mktemp("walled"), processes.free_port(), enforces_policies=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", cloud.endpoint_url)
        tables = open_conversation_tables(cloud.endpoint_url)
        cloud.client("s3").create_bucket(Bucket=BUCKET)
        yielded = Walled(cloud, tables.conversations, tables.directory)
        for org in ("acme", "zeta"):
            make_role(yielded, org)
        yield yielded
    cloud.stop()


def make_role(walled: Walled, org: str) -> None:
    iam, name = walled.cloud.client("iam"), f"organisation-{org}"
    trust = resolved(TEMPLATE["AssumeRolePolicyDocument"], walled, org)
    (policy,) = TEMPLATE["Policies"]
    iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust))
    document = json.dumps(resolved(policy["PolicyDocument"], walled, org))
    iam.put_role_policy(RoleName=name, PolicyName="organisation", PolicyDocument=document)


def resolved(document: dict[str, Any], walled: Walled, org: str) -> dict[str, Any]:
    """Return a policy as CloudFormation and the session's tag make it."""
    copy = deepcopy(document)
    for statement in copy["Statement"]:
        if "dynamodb:LeadingKeys" in json.dumps(statement):
            del statement["Condition"]
    names = {
        "AWS::Partition": "aws",
        "AWS::AccountId": ACCOUNT,
        "ConversationsTable.Arn": f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{walled.conversations}",
        "DirectoryTable.Arn": f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{walled.directory}",
        "CorpusTable.Arn": f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/corpus",
        "ContentBucket.Arn": f"arn:aws:s3:::{BUCKET}",
        "aws:PrincipalTag/org": org,
        "!aws:PrincipalTag/org": org,
    }
    text = re.sub(r'\{"(?:GetAtt|Sub)": "([^"]+)"\}', lambda found: json.dumps(spelt(found[1])), json.dumps(copy))
    result: dict[str, Any] = json.loads(re.sub(r"\$\{([^}]+)\}", lambda found: names[found[1]], text))
    return result


def spelt(reference: str) -> str:
    return reference if "${" in reference else f"${{{reference}}}"


def test_a_store_reaches_everything_of_its_organisation(walled: Walled) -> None:
    scope, blobs = visitor_scope("acme"), walled.blobs("acme")
    blobs.put(scope, "conv/c1/big/1", b"an answer", "text/plain")
    assert blobs.get(scope, "conv/c1/big/1") == b"an answer"
    assert list(blobs.names(scope, "conv/")) == ["conv/c1/big/1"]
    assert blobs.get(scope, "conv/c1/big/2") is None
    assert blobs.delete(scope, "conv/c1/") == 1
    assert walled.store("acme").get(scope, "c1") is None
    assert walled.store("acme").newest(scope, after=None, limit=10).items == ()


@pytest.mark.parametrize(
    "reach",
    [
        lambda blobs, scope: blobs.put(scope, "x", b"x", "text/plain"),
        lambda blobs, scope: blobs.get(scope, "x"),
        lambda blobs, scope: list(blobs.names(scope, "")),
        lambda blobs, scope: blobs.delete(scope, ""),
    ],
    ids=["put", "get", "names", "delete"],
)
def test_a_key_of_another_organisation_is_refused_whatever_our_code_asks_for(walled: Walled, reach: Any) -> None:
    theirs = visitor_scope("zeta")
    walled.blobs("zeta").put(theirs, "x", b"theirs", "text/plain")
    # A bug of ours: the session is acme's, the key is zeta's.
    session = walled.sessions("acme").client(visitor_scope("acme"), lambda session: session)
    confused = S3BlobStore(BUCKET, lambda: connect_s3(session))
    with pytest.raises(FencepostError, match="conversations_unavailable"):
        reach(confused, theirs)
    assert walled.blobs("zeta").get(theirs, "x") == b"theirs"


def test_the_directory_is_reached_no_further_than_a_turn_needs(walled: Walled) -> None:
    session: Session = walled.sessions("acme").client(visitor_scope("acme"), lambda session: session)
    client = session.client("dynamodb")
    key = {"pk": {"S": "org#acme#"}, "sk": {"S": "member#u1"}}
    client.batch_get_item(RequestItems={walled.directory: {"Keys": [key]}})
    for ask in (
        lambda: client.put_item(TableName=walled.directory, Item=key),
        lambda: client.delete_item(TableName=walled.directory, Key=key),
        lambda: client.scan(TableName=walled.directory),
        lambda: client.scan(TableName=walled.conversations),
    ):
        with pytest.raises(ClientError, match="AccessDenied"):
            ask()


@pytest.mark.parametrize("tags", [[], [("org", "")], [("org", "acme"), ("role", "admin")], [("other", "acme")]])
def test_no_session_is_to_be_had_without_the_tag_or_with_another(walled: Walled, tags: list[tuple[str, str]]) -> None:
    wanted = [{"Key": key, "Value": value} for key, value in tags]
    with pytest.raises(ClientError, match="AccessDenied"):
        walled.cloud.client("sts").assume_role(RoleArn=arn("acme"), RoleSessionName="session", Tags=wanted)


def test_a_role_that_is_not_there_is_told_as_unavailable(walled: Walled) -> None:
    scope: Scope = visitor_scope("nobody")
    with pytest.raises(FencepostError, match="conversations_unavailable"):
        walled.blobs("nobody").get(scope, "x")
