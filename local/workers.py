"""How many workers of a queue run at once on this machine.

The template's number is for a cloud. A parameter could not lower it here: the emulator takes a parameter's number for
text, and then takes no message at all. So it is set here, by the same API that a cloud has for it.
"""

from __future__ import annotations

from typing import Any

AT_ONCE = 2
"""The fewest that AWS allows. More cold ones at once import the SDKs so slowly that jobs run out of time."""


def limit(client: Any) -> None:
    """Let each event source whose workers are limited at all have no more than this machine bears."""
    pages = client.get_paginator("list_event_source_mappings").paginate()
    for mapping in (mapping for page in pages for mapping in page["EventSourceMappings"]):
        if mapping.get("ScalingConfig"):
            client.update_event_source_mapping(UUID=mapping["UUID"], ScalingConfig={"MaximumConcurrency": AT_ONCE})
