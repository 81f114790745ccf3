"""`make migrate-index`: on a double of OpenSearch Serverless, from the first deployment to another model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from fencepost.retrieval.domain.search import IndexUnavailable
from fencepost.retrieval.indexes.opensearch.cluster import Cluster
from fencepost.retrieval.indexes.opensearch.index import OpenSearchIndex
from fencepost.settings import Settings, load_settings
from local import deployment, migrate_index
from local.migrate_index import VISIBLE_SECONDS, cluster_of, converter, migrate, passage
from local.profiles import DeployProfile
from local.trouble import Trouble
from tests.conformance.index_entries import DOCUMENTS, MESSAGES, Owner, chunks
from tests.doubles import opensearch as opensearch_double
from tests.doubles.opensearch import OpenSearchDouble
from tests.fakes.index import FakeEmbedder, vector_of

REGION = "eu-west-1"
OLD, NEW = FakeEmbedder(name="fake/16"), FakeEmbedder(name="other/16")


@dataclass
class Bench:
    """A collection, and the command on it.

    Attributes:
        waited: seconds, each time.
    """

    double: OpenSearchDouble
    cluster: Cluster
    waited: list[float] = field(default_factory=list)

    def pause(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.double.advance(seconds)

    def migrate(self, embedder: FakeEmbedder) -> str:
        return migrate(self.cluster, embedder, self.pause)

    def index(self, embedder: FakeEmbedder) -> OpenSearchIndex:
        return OpenSearchIndex(self.cluster, embedder.model)


@pytest.fixture
def bench() -> Iterator[Bench]:
    with opensearch_double.running("classic") as (url, double):
        yield Bench(double, Cluster(endpoint=url, generation="classic", region=REGION))


def test_the_first_deployments_index_is_made_and_then_up_to_date(bench: Bench) -> None:
    assert bench.migrate(OLD).startswith("Made the index fencepost-v")
    assert bench.index(OLD).lexical(Owner().scope, DOCUMENTS, "words") == ()
    assert "nothing was moved" in bench.migrate(OLD)


def test_another_models_index_holds_the_same_entries_found_by_the_new_vectors(bench: Bench) -> None:
    owner = Owner()
    old = [
        owner.entry(name, f"words of {name}", model=OLD.model.name, vector=vector_of(f"words of {name}"))
        for name in ("c1", "c2")
    ]
    said = owner.entry("m1", "3 May 2026\nhello", kind="message", grants=frozenset(), model=OLD.model.name)
    bench.index(OLD).upsert(owner.scope, [*old, replace(said, vector=vector_of("hello"))])
    bench.double.advance()
    assert bench.migrate(NEW).endswith("3 entries copied, 0 copies removed again.")
    index = bench.index(NEW)
    assert chunks(index.lexical(owner.scope, DOCUMENTS, "words")) == ["c1", "c2"]
    (nearest, _) = index.nearest(owner.scope, DOCUMENTS, vector_of("c2"), NEW.model.name)
    assert (nearest.chunk, nearest.model) == ("c2", NEW.model.name)
    assert chunks(index.nearest(owner.scope, MESSAGES, vector_of("hello"), NEW.model.name)) == ["m1"]
    assert len(bench.double.indices) == 1
    # Whoever looks finds what was written last: each round waits until the collection shows it.
    assert set(bench.waited) == {VISIBLE_SECONDS["classic"]}


def test_what_is_the_new_models_already_is_not_embedded_again() -> None:
    owner, embedder = Owner(), FakeEmbedder(name="other/16")
    own = owner.entry("c1", model="other/16", vector=vector_of("kept"))
    foreign = owner.entry("c2", "import X from 'y'\n\nSaid.", model="fake/16", context="Guide")
    converted = converter(embedder)([own, foreign])
    assert converted[0] == own
    assert (converted[1].model, converted[1].text) == ("other/16", foreign.text)
    assert embedder.embedded == ["Guide\nSaid."]


def test_a_message_is_embedded_without_the_line_that_says_when() -> None:
    said = Owner().entry("m1", "3 May 2026\nhello", kind="message", grants=frozenset())
    assert passage(said) == "hello"


def settings(**variables: str) -> Settings:
    return load_settings(variables)


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"FENCEPOST_INDEX": "embedded", "FENCEPOST_INDEX_PATH": "/tmp/index"},
        {"FENCEPOST_INDEX": "next"},
    ],
)
def test_a_deployment_without_opensearch_is_refused(variables: dict[str, str]) -> None:
    with pytest.raises(Trouble, match="no index on OpenSearch"):
        cluster_of(settings(**variables))


class Aws:
    """Implements what is asked of CloudFormation and Lambda."""

    def __init__(self, variables: dict[str, str]) -> None:
        self._variables = variables
        self.meta = type("Meta", (), {"region_name": REGION})

    def describe_stacks(self, **_: str) -> Any:
        return {"Stacks": [{"Outputs": [{"OutputKey": "JobsFunctionName", "OutputValue": "jobs-1"}]}]}

    def get_function_configuration(self, FunctionName: str) -> Any:  # noqa: N803 - as AWS names it
        assert FunctionName == "jobs-1"
        return {"Environment": {"Variables": self._variables}}


@pytest.fixture
def deployed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Deploy a stack under the profile `prod`; return its worker's environment."""
    variables = {
        "FENCEPOST_INDEX": "classic",
        "FENCEPOST_OPENSEARCH_ENDPOINT": bench.cluster.endpoint,
        "FENCEPOST_TENANT_ROLE": "arn:aws:iam::1:role/tenant",
        "FENCEPOST_EMBEDDER": "titan-v2",
    }
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(DeployProfile, "client", lambda _self, _service: Aws(variables))
    monkeypatch.setattr("time.sleep", bench.pause)
    return variables


def test_a_profiles_stack_is_reached_as_its_worker_reaches_it(bench: Bench, deployed: dict[str, str]) -> None:
    assert migrate_index.run({"DEPLOYED": "prod"}).startswith("Made the index fencepost-v")
    (name,) = bench.double.indices
    assert "titan" in name
    assert migrate_index.run({"DEPLOYED": "prod", "EMBEDDER": "cohere-v4"}).startswith("Moved to the index")
    (name,) = bench.double.indices
    assert "cohere" in name


def test_the_caller_does_not_take_the_functions_role(deployed: dict[str, str]) -> None:
    assert deployment.connected("prod").tenant_role == ""


def test_a_cluster_that_refuses_is_explained(bench: Bench, deployed: dict[str, str]) -> None:
    bench.double.failing = 403
    with pytest.raises(Trouble, match="IndexOperator"):
        migrate_index.run({"DEPLOYED": "prod"})


def test_a_cluster_that_is_down_is_named_and_the_move_goes_on(bench: Bench, deployed: dict[str, str]) -> None:
    bench.double.failing = 503
    with pytest.raises(Trouble, match="Started again"):
        migrate_index.run({"DEPLOYED": "prod"})
    with pytest.raises(IndexUnavailable):
        bench.migrate(NEW)


@pytest.mark.parametrize("environment", [{"EMBEDDER": "gpt"}, {"DEPLOYED": "version"}])
def test_a_variable_that_is_wrong_is_refused(environment: dict[str, str]) -> None:
    with pytest.raises(Trouble) as trouble:
        migrate_index.run(environment)
    assert trouble.value.exit_code == 2
