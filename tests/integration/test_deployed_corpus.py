"""Documents on the deployed stack: from the API into the index, from the command line, and by the clock."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fencepost.documents.domain.documents import SETTLES
from fencepost.documents.dynamodb.documents import DynamoDbDocuments
from fencepost.identity.domain.scope import OrgRole
from fencepost.jobs.handlers.schedule import RECONCILE
from fencepost.retrieval.domain.search import IndexEntry
from fencepost.retrieval.indexes.embedded.index import EmbeddedIndex
from fencepost.retrieval.ports import Stored
from local.directory import operator
from local.paths import ROOT
from tests.doubles.stack import Stack
from tests.worlds.api_client import ApiClient, waited_for

GUIDE = "# Ladders\n\nA ladder leans at seventy-five degrees.\n\n## Care\n\nWooden ladders are oiled each spring.\n"


def admin(stack: Stack, org: str) -> ApiClient:
    """Return an admin of an organisation that has the site `docs`."""
    stack.site(org, "docs")
    stack.grant(org, "jane", OrgRole.ADMIN)
    return stack.member("jane", org)


def entries(stack: Stack, org: str, document_id: str) -> Sequence[Stored]:
    """Return what the index has of a document."""
    index = EmbeddedIndex(stack.cloud.chosen["IndexPath"])
    return index.listed(operator(org), None, 100, parent=document_id).items


def test_a_document_of_an_admin_comes_into_the_index(stack: Stack) -> None:
    jane = admin(stack, "ladders")
    sent = jane.send("POST", "/v1/documents", {"text": GUIDE, "site": "docs", "url": "https://docs.example/ladders"})
    assert sent.status_code == 202, sent.text
    document_id = sent.json()["id"]

    def ready() -> Any:
        document = jane.get(f"/v1/documents/{document_id}")
        assert document["state"] != "failed", document
        return document if document["state"] == "ready" else None

    document = waited_for(ready)
    assert (document["title"], document["version"]) == ("Ladders", 1)
    found = entries(stack, "ladders", document_id)
    assert len(found) == document["chunks"] > 0
    assert {entry.model for entry in found} == {"multilingual-e5-small-q4/384"}


def test_a_file_is_ingested_from_the_command_line(stack: Stack, tmp_path: Path) -> None:
    admin(stack, "ropes")
    (tmp_path / "ropes.md").write_text(GUIDE.replace("ladder", "rope").replace("Ladders", "Ropes"))
    environment = {**os.environ, "FENCEPOST_STATE_DIR": str(stack.cloud.folder.path)}
    command = ["make", "-s", "--no-print-directory", "ingest", f"SRC={tmp_path}", "ORG=ropes", "SITE=docs"]
    for _ in range(2):
        run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert (run.stdout, run.returncode) == ("1 document up to date.\n", 0), run.stderr
        assert "ropes.md: ready, version 1" in run.stderr
    (document,) = stack.member("jane", "ropes").get("/v1/documents")["items"]
    assert (document["title"], document["state"], document["site"]) == ("Ropes", "ready", "docs")
    assert len(entries(stack, "ropes", document["id"])) == document["chunks"]


def test_the_clock_starts_the_queueing_of_due_documents(stack: Stack) -> None:
    (name,) = [rule["Name"] for rule in stack.client("events").list_rules()["Rules"] if "Sweep" in rule["Name"]]
    (target,) = stack.client("events").list_targets_by_rule(Rule=name)["Targets"]
    assert stack.physical("ScheduleFunction") in target["Arn"]
    assert stack.invoke("ScheduleFunction", json.loads((ROOT / "events" / "schedule.json").read_text())) is None
    swept = [json.loads(line) for line in stack.logs() if '"source":"schedule"' in line]
    assert [(row["records"], row["failed"]) for row in swept][-1] == (0, 0)


def test_what_comes_apart_is_found_by_the_clock_and_mended(stack: Stack) -> None:
    jane = admin(stack, "knots")
    sent = jane.send("POST", "/v1/documents", {"text": GUIDE.replace("adder", "not"), "site": "docs"}).json()["id"]
    waited_for(lambda: jane.get(f"/v1/documents/{sent}")["state"] == "ready" or None)
    index = EmbeddedIndex(stack.cloud.chosen["IndexPath"])
    whole = {entry.chunk for entry in entries(stack, "knots", sent)}
    lost, *_ = entries(stack, "knots", sent)
    index.delete(operator("knots"), [lost.stored_id])
    index.upsert(operator("knots"), [orphan("knots")])

    def healed() -> Any:
        assert stack.invoke("ScheduleFunction", {"task": "reconcile"}) is None
        there = {entry.chunk for entry in entries(stack, "knots", sent)}
        return there == whole and not entries(stack, "knots", "gone")

    # What was written within the last two minutes is left alone: the document was, by the clock of its row.
    age(stack, "knots", sent)
    waited_for(healed)
    events = [json.loads(line) for line in stack.logs() if '"event":"reconcile"' in line]
    assert sum(row["rows_without_vectors"] for row in events) >= 1
    assert sum(row["vectors_without_rows"] for row in events) >= 1
    (name,) = [rule["Name"] for rule in stack.client("events").list_rules()["Rules"] if "Reconcile" in rule["Name"]]
    (target,) = stack.client("events").list_targets_by_rule(Rule=name)["Targets"]
    assert json.loads(target["Input"]) == {"task": RECONCILE}


def orphan(org: str) -> IndexEntry:
    """Return an entry of a document that there is not."""
    return IndexEntry(
        chunk="none", org=org, owner="", kind="document", parent="gone", version=1, text="lost", model="none"
    )


def age(stack: Stack, org: str, document_id: str) -> None:
    """Let a document have changed some minutes ago."""
    scope, table = operator(org), stack.physical("CorpusTable")
    store = DynamoDbDocuments(table, lambda: stack.client("dynamodb"))
    document = store.get(scope, document_id)
    assert document
    assert store.change(scope, document, replace(document, updated_at=document.updated_at - 2 * SETTLES))
