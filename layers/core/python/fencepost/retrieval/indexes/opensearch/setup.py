"""The indices of an alias: which there are, and making one."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.retrieval.domain.search import IndexUnavailable
from fencepost.retrieval.indexes.opensearch.cluster import Cluster, ClusterAnswer
from fencepost.retrieval.indexes.opensearch.mapping import IndexPlan

_EXISTS = "400 resource_already_exists_exception"


@dataclass(slots=True)
class Indices:
    """The indices of one alias. Threads may share it.

    Args:
        alias: what the current one is found under.
    """

    cluster: Cluster
    alias: str
    _known: bool = False

    def ensure(self, plan: IndexPlan) -> None:
        """Make the index where the alias stands for none. Asked once a process."""
        if self._known:
            return
        if self.current() is None:
            self.create(plan)
            self.point_to(plan.name)
        self._known = True

    def all(self) -> list[str]:
        """Return the names of those that there are: more than one while one is filled from another."""
        return list(self._described())

    def current(self) -> str | None:
        """Return the one that the alias stands for."""
        return next(iter(self._holders()), None)

    def dimensions(self) -> int:
        """Return those of the vectors in the current index; 0 where there is none."""
        for index in self._holders().values():
            return int(index["mappings"]["properties"]["vector"]["dimension"])
        return 0

    def create(self, plan: IndexPlan) -> None:
        """Make an index, unless it is there: with as much of the plan as the cluster takes."""
        *better, least = plan.bodies()
        if not any(self._is_created(plan.name, body) for body in better):
            self._create(plan.name, least)

    def point_to(self, name: str) -> None:
        """Let the alias stand for an index, and in the same step for no other."""
        removed = [{"remove": {"index": other, "alias": self.alias}} for other in self._holders() if other != name]
        actions = [*removed, {"add": {"index": name, "alias": self.alias}}]
        self.cluster.request("POST", "/_aliases", {"actions": actions})

    def drop(self, name: str) -> None:
        """Remove an index with all that is in it."""
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
