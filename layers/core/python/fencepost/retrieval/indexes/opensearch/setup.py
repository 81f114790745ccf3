"""The indices behind an alias: listing, creating, switching and removing them."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.retrieval.domain.search import IndexUnavailable
from fencepost.retrieval.indexes.opensearch.cluster import Cluster, ClusterAnswer
from fencepost.retrieval.indexes.opensearch.mapping import IndexPlan

_EXISTS = "400 resource_already_exists_exception"


@dataclass(slots=True)
class Indices:
    """The indices of one alias. Safe to share between threads.

    Args:
        cluster: the cluster that holds them.
        alias: points to the current index.
    """

    cluster: Cluster
    alias: str
    _known: bool = False

    def ensure(self, plan: IndexPlan) -> None:
        """Create the index if the alias points to none. Checked once per process."""
        if self._known:
            return
        if self.current() is None:
            self.create(plan)
            self.point_to(plan.name)
        self._known = True

    def all(self) -> list[str]:
        """Return the names of all indices: more than one during a migration."""
        return list(self._described())

    def current(self) -> str | None:
        """Return the index that the alias points to; None if there is none."""
        return next(iter(self._holders()), None)

    def dimensions(self) -> int:
        """Return the dimensions of the vectors in the current index; 0 if there is none."""
        for index in self._holders().values():
            return int(index["mappings"]["properties"]["vector"]["dimension"])
        return 0

    def create(self, plan: IndexPlan) -> None:
        """Create an index unless it exists, with as many features of the plan as the cluster supports."""
        *better, least = plan.bodies()
        if not any(self._is_created(plan.name, body) for body in better):
            self._create(plan.name, least)

    def point_to(self, name: str) -> None:
        """Point the alias at an index, and away from all others, in one step."""
        removed = [{"remove": {"index": other, "alias": self.alias}} for other in self._holders() if other != name]
        actions = [*removed, {"add": {"index": name, "alias": self.alias}}]
        self.cluster.request("POST", "/_aliases", {"actions": actions})

    def drop(self, name: str) -> None:
        """Delete an index with its entries."""
        self.cluster.request("DELETE", f"/{name}")

    def _holders(self) -> dict[str, ClusterAnswer]:
        return {name: index for name, index in self._described().items() if self.alias in index["aliases"]}

    def _is_created(self, name: str, body: ClusterAnswer) -> bool:
        try:
            self._create(name, body)
        except IndexUnavailable as error:
            if error.retriable:
                raise
            return False
        return True

    def _create(self, name: str, body: ClusterAnswer) -> None:
        try:
            self.cluster.request("PUT", f"/{name}", body)
        except IndexUnavailable as error:
            if error.reason != _EXISTS:
                raise

    def _described(self) -> ClusterAnswer:
        return self.cluster.request("GET", f"/{self.alias}-v*")
