"""`make migrate-index PROFILE=prod`: create the index on OpenSearch, or migrate it to another mapping or model.

Searches are served during the migration (`fencepost.retrieval.indexes.opensearch.migration`). An interrupted migration
continues when it is started again.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, get_args

from fencepost.bootstrap.wiring.retrieval import embedder_of
from fencepost.documents.domain.chunking.noise import without_noise
from fencepost.retrieval.domain.search import EmbedderUnavailable, IndexEntry, IndexUnavailable
from fencepost.retrieval.indexes.opensearch.bulk import Bulk
from fencepost.retrieval.indexes.opensearch.cluster import Cluster, Generation, Limits
from fencepost.retrieval.indexes.opensearch.mapping import IndexPlan
from fencepost.retrieval.indexes.opensearch.migration import Convert, Migration, Moved
from fencepost.retrieval.indexes.opensearch.setup import Indices
from fencepost.retrieval.ports import Embedder
from fencepost.settings import Settings
from local.deployment import connected
from local.trouble import Trouble

EMBEDDERS: Final = get_args(Settings.model_fields["embedder"].annotation)
VISIBLE_SECONDS: Final[Mapping[Generation, float]] = MappingProxyType({"classic": 65, "next": 15, "node": 2})
"""Seconds until a search finds a written entry, with a margin."""
LIMITS: Final = Limits(connect=5, search=60, write=60, writes=300)
"""Longer than in a request: no visitor waits, and an idle collection may have to start first."""
_AGAIN: Final = "Started again, the move goes on."

type Pause = Callable[[float], None]


def main() -> int:
    """Migrate the index, print the outcome, and return the exit code."""
    try:
        print(run(os.environ))
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return trouble.exit_code
    except KeyboardInterrupt:
        print("\nStopped. Searches go on; the next `make migrate-index` goes on with the move.", file=sys.stderr)
        return 1
    return 0


def run(environment: Mapping[str, str]) -> str:
    """Migrate the index that the environment names, and return a sentence about it.

    Args:
        environment: `DEPLOYED` names the profile of the stack; `EMBEDDER` the model to migrate to (optional).

    Raises:
        Trouble: a variable is wrong, the stack has no index on OpenSearch, or something did not answer.
    """
    wanted = environment.get("EMBEDDER", "")
    if wanted and wanted not in EMBEDDERS:
        raise Trouble(f"EMBEDDER must be one of {', '.join(EMBEDDERS)}.", exit_code=2)
    settings = connected(environment.get("DEPLOYED", ""))
    cluster = cluster_of(settings)
    embedder = embedder_of(settings.model_copy(update={"embedder": wanted}) if wanted else settings)
    try:
        return migrate(cluster, embedder, time.sleep)
    except IndexUnavailable as error:
        refused = error.reason.startswith(("401", "403"))
        rights = " May these credentials? The parameter IndexOperator names who may." if refused else ""
        raise Trouble(f"The index did not answer ({error.reason}).{rights} {_AGAIN}") from None
    except EmbedderUnavailable as error:
        raise Trouble(f"The model did not answer ({error.reason}). {_AGAIN}") from None


def cluster_of(settings: Settings) -> Cluster:
    """Return the OpenSearch of a deployment.

    Raises:
        Trouble: it has none.
    """
    if settings.index not in ("classic", "next") or not settings.opensearch_endpoint:
        raise Trouble(
            f"This deployment has no index on OpenSearch (Index is {settings.index}): there is nothing to move."
        )
    region = os.environ.get("AWS_REGION", "")
    return Cluster(endpoint=settings.opensearch_endpoint, generation=settings.index, region=region, limits=LIMITS)


def migrate(cluster: Cluster, embedder: Embedder, pause: Pause) -> str:
    """Create or migrate the index, and return a sentence about it.

    Args:
        pause: sleeps for a number of seconds.

    Raises:
        IndexUnavailable: the cluster did not answer.
        EmbedderUnavailable: the model did not answer.
    """
    plan = IndexPlan(embedder.model, cluster.engine)
    before = Indices(cluster, plan.alias).all()
    moved = Migration(
        plan=plan,
        bulk=Bulk(cluster, pause=pause),
        convert=converter(embedder),
        settle=lambda: pause(VISIBLE_SECONDS[cluster.generation]),
    ).run()
    return _sentence(plan.name, before, moved)


def converter(embedder: Embedder) -> Convert:
    """Return a function that embeds the entries of other models again and leaves the others unchanged."""

    def convert(entries: Sequence[IndexEntry]) -> Sequence[IndexEntry]:
        name = embedder.model.name
        foreign = [entry for entry in entries if entry.model != name]
        vectors = iter(embedder.passages([passage(entry) for entry in foreign]) if foreign else ())
        return [
            entry if entry.model == name else replace(entry, model=name, vector=next(vectors), context_vector=())
            for entry in entries
        ]

    return convert


def passage(entry: IndexEntry) -> str:
    """Return the text to embed for an entry, approximately.

    An entry lacks its chunk's overlap and its neighbours' vectors; the next ingestion of the document restores both.
    """
    if entry.kind == "message":
        return entry.text.partition("\n")[2] or entry.text
    return "\n".join(filter(None, (entry.context, without_noise(entry.text))))


def _sentence(name: str, before: Sequence[str], moved: Moved) -> str:
    if not before:
        return f"Made the index {name}; it is empty."
    if list(before) == [name]:
        return f"The index {name} is up to date: nothing was moved."
    return f"Moved to the index {name}: {moved.copied:,} entries copied, {moved.removed:,} copies removed again."


if __name__ == "__main__":
    sys.exit(main())
