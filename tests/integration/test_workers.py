"""How many workers of a queue run at once on this machine, on the emulated cloud."""

from __future__ import annotations

import io
import time
import zipfile

from local import workers
from local.emulator import Emulator


def test_a_queues_workers_are_limited_and_nobody_elses(emulator: Emulator) -> None:
    functions, sqs = emulator.client("lambda"), emulator.client("sqs")
    name = f"worker-{time.time_ns()}"
    functions.create_function(
        FunctionName=name,
        Runtime="python3.13",
        Role="arn:aws:iam::000000000000:role/worker",
        Handler="app.handler",
        Code={"ZipFile": _code()},
    )
    limits: list[dict[str, int]] = [{"MaximumConcurrency": 5}, {}]
    made = []
    for number, scaling in enumerate(limits):
        url = sqs.create_queue(QueueName=f"{name}-{number}")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        wanted = {"ScalingConfig": scaling} if scaling else {}
        made.append(functions.create_event_source_mapping(EventSourceArn=arn, FunctionName=name, **wanted)["UUID"])
    workers.limit(functions)
    stored = [functions.get_event_source_mapping(UUID=uuid).get("ScalingConfig") for uuid in made]
    assert stored == [{"MaximumConcurrency": workers.AT_ONCE}, None]
    for uuid in made:
        functions.delete_event_source_mapping(UUID=uuid)


def _code() -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("app.py", "def handler(event, context):\n    return {}\n")
    return archive.getvalue()
