"""Concurrency of queue consumers on this machine.

The template's number suits AWS. A template parameter cannot lower it here: the emulator reads a parameter's number as
text and then receives no messages. This module sets it through the Lambda API.
"""

from __future__ import annotations

from typing import Any

AT_ONCE = 2
"""The minimum that AWS allows. More cold starts at once import the SDKs so slowly that jobs time out."""


def limit(client: Any) -> None:
    """Lower the concurrency of every event source that has a limit."""
    pages = client.get_paginator("list_event_source_mappings").paginate()
    for mapping in (mapping for page in pages for mapping in page["EventSourceMappings"]):
        if mapping.get("ScalingConfig"):
            client.update_event_source_mapping(UUID=mapping["UUID"], ScalingConfig={"MaximumConcurrency": AT_ONCE})
