"""Objects in plain memory, and what is kept beside them, with faults on demand."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fencepost.blobs.ports import UploadForm
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from tests.fakes.answers import Fault

type Place = tuple[str, str, str]
"""Organisation, owner, and the name of the object."""


class Faults:
    """What goes wrong with the next calls, in order; None lets one pass.

    Attributes:
        calls: names of all calls that were made, in order.
    """

    def __init__(self) -> None:
        self.due: deque[Fault | None] = deque()
        self.calls: list[str] = []

    def at(self, call: int, fault: Fault) -> None:
        """Let the call with this index, counted from here, fail."""
        self.due = deque([*([None] * call), fault])

    @contextmanager
    def write(self, name: str) -> Iterator[None]:
        """Stand around one call of a store."""
        self.calls.append(name)
        fault = self.due.popleft() if self.due else None
        if fault == "before":
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
        yield
        if fault == "after":
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)


class FakeBlobs:
    """Implements `BlobStore`.

    Attributes:
        objects: what is stored, to be looked at and damaged.
        types: the media type of each object.
        faults: shared with other fakes, they count calls of all of them.
        corrupt: objects that cannot be read.
        on_put: called once after an object was stored, as another writer would be.
    """

    def __init__(self, faults: Faults | None = None) -> None:
        self.objects: dict[Place, bytes] = {}
        self.types: dict[Place, str] = {}
        self.faults = faults or Faults()
        self.corrupt: set[Place] = set()
        self.on_put: Callable[[], object] | None = None

    def put(self, scope: Scope, name: str, content: bytes, content_type: str) -> None:
        with self.faults.write("put"):
            self.objects[_place(scope, name)] = content
            self.types[_place(scope, name)] = content_type
        if self.on_put:
            on_put, self.on_put = self.on_put, None
            on_put()

    def get(self, scope: Scope, name: str) -> bytes | None:
        with self.faults.write("get"):
            if _place(scope, name) in self.corrupt:
                raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
            return self.objects.get(_place(scope, name))

    def delete(self, scope: Scope, prefix: str) -> int:
        with self.faults.write("delete"):
            names = list(self._names(scope, prefix))
            for name in names:
                del self.objects[_place(scope, name)]
            return len(names)

    def names(self, scope: Scope, prefix: str) -> Iterator[str]:
        with self.faults.write("names"):
            return self._names(scope, prefix)

    def link(self, scope: Scope, name: str, seconds: int) -> str:
        with self.faults.write("link"):
            return f"https://objects.example/{scope.org}/{scope.owner}/{name}?expires={seconds}"

    def upload_form(self, scope: Scope, name: str, content_type: str, max_bytes: int, seconds: int) -> UploadForm:
        with self.faults.write("upload_form"):
            fields = {"key": name, "Content-Type": content_type, "max": str(max_bytes), "expires": str(seconds)}
            return UploadForm("https://objects.example/", fields)

    def _names(self, scope: Scope, prefix: str) -> Iterator[str]:
        places = sorted(place for place in self.objects if place[:2] == (scope.org, scope.owner))
        return iter([name for *_, name in places if name.startswith(prefix)])


def _place(scope: Scope, name: str) -> Place:
    return scope.org, scope.owner, name
