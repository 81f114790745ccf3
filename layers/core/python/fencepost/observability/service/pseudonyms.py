"""Whose data an event is about, without saying whose."""

from __future__ import annotations

from fencepost.identity.domain.scope import Resource, Scope
from fencepost.kernel.ports import Keys
from fencepost.observability.domain.event_parts import Subject
from fencepost.observability.domain.pseudonyms import PURPOSE, Pseudonyms


def pseudonyms(keys: Keys) -> Pseudonyms:
    """Return the maker of pseudonyms, under the key of this moment.

    Raises:
        FencepostError: `misconfigured` when the signing secret cannot be read.
    """
    return Pseudonyms(keys.derive(PURPOSE))


def subject(
    names: Pseudonyms, scope: Scope, conversation_id: str | None = None, message_id: str | None = None
) -> Subject:
    """Return the subject of an event about a scope's data, with an actor where that is somebody else than the owner."""
    return Subject(
        org=names.organisation(scope.org),
        owner=names.owner(scope),
        actor=None if scope.actor == scope.owner else names.of("owner", scope.org, scope.actor),
        conversation=None if conversation_id is None else names.of("conv", scope.org, conversation_id),
        message=None if message_id is None else names.of("msg", scope.org, f"{scope.owner}\0{message_id}"),
    )


def subject_of(names: Pseudonyms, resource: Resource, actor: str | None = None) -> Subject:
    """Return the subject of an event about what no scope was made for: a denial, or a refused job."""
    owner = resource.owner
    return Subject(
        org=names.organisation(resource.org),
        owner=None if owner is None else names.of("owner", resource.org, owner),
        actor=None if actor is None or actor == owner else names.of("owner", resource.org, actor),
    )
