"""What the provider was reminded of: the memory layer of prompts on the deployed stack."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fencepost.prompting.domain.fence import TAG
from tests.integration.isolation.town import Somebody, Town
from tests.worlds.api_client import waited_for

QUESTION = "Which word did I ask you to remember?"
_MEMORY = re.compile(rf'<{TAG} nonce="[^"]+" source="(msg:[^"]+)"[^>]*>\n(.*?)\n</{TAG}>', re.DOTALL)


@dataclass(frozen=True)
class Reminded:
    """What one answer's prompt held in its last turn.

    Attributes:
        answer: as the client got it.
        memories: by their sources, what they say.
    """

    answer: Any
    memories: dict[str, str]

    @property
    def text(self) -> str:
        """All memories."""
        return "\n".join(self.memories.values())


def asked(town: Town, somebody: Somebody, conversation_id: str | None = None) -> Reminded:
    """Ask a question until its answer did not have to do without the index, and return what it was reminded of."""

    def ask() -> Reminded:
        town.stack.provider.reset()
        known = {} if conversation_id is None else {"conversationId": conversation_id}
        sent = somebody.send("POST", "/v1/chat", {"message": QUESTION, **known})
        assert sent.status_code == 200, sent.text
        return Reminded(sent.json(), _memories(town))

    return waited_for(ask, lambda reminded: not reminded.answer.get("degraded"))


def remembered(town: Town, conversation_id: str, through: int = 2) -> None:
    """Wait until a conversation's messages are in the index."""

    def done() -> bool:
        row = _work(town, conversation_id)
        return "holder" not in row and int(row.get("through", {"N": "0"})["N"]) >= through

    waited_for(done)


def rows_of(town: Town, conversation_id: str) -> list[dict[str, Any]]:
    """Return the rows of a conversation's own partition."""
    client, table = town.stack.client("dynamodb"), town.stack.physical("ConversationsTable")
    pages = client.get_paginator("scan").paginate(
        TableName=table,
        FilterExpression="contains(pk, :conversation)",
        ExpressionAttributeValues={":conversation": {"S": f"#conv#{conversation_id}"}},
    )
    return [item for page in pages for item in page["Items"]]


def _work(town: Town, conversation_id: str) -> dict[str, Any]:
    rows = rows_of(town, conversation_id)
    return next((row for row in rows if row["sk"]["S"] == "work#remember"), {"holder": {"S": ""}})


def _memories(town: Town) -> dict[str, str]:
    """Return the memories in the prompt that ended with the question; background jobs ask the provider as well."""
    for body in town.stack.provider.bodies():
        *before, last = body["messages"][-1]["content"]
        if last["text"] == QUESTION:
            return dict(_MEMORY.findall("".join(block["text"] for block in before)))
    raise AssertionError("the question was never asked")
