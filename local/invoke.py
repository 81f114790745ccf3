"""`make invoke FUNCTION=chat EVENT=events/chat.json`: run a built function under Lambda's runtime interface emulator.

Needs no Docker: the emulator is the program that SAM CLI carries, the runtime is `awslambdaric`, and the layers are on
the path. The function uses the tables of the running local cloud, or else answers in demo mode.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from botocore.exceptions import BotoCoreError

from local import build, emulator, environments, parameters, processes, template
from local.paths import BUILD, ROOT, state_folder
from local.state import Running, StateFolder
from local.trouble import Trouble

_START_SECONDS = 20.0
_ANSWER_SECONDS = 60.0
_INVOCATIONS = "/2015-03-31/functions/function/invocations"


def main() -> int:
    """Invoke, print the result, and return the exit code: 1 where the function raised."""
    try:
        function = os.environ.get("FUNCTION") or "chat"
        result = invoke(function, Path(os.environ.get("EVENT") or f"events/{function}.json"))
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return trouble.exit_code
    print(json.dumps(result, indent=2, ensure_ascii=False))
    return int(isinstance(result, dict) and "errorType" in result)


def invoke(function: str, event: Path) -> Any:
    """Return the function's response to the event in this file.

    Args:
        function: its name without `Function`, in lower case.

    Raises:
        Trouble: there is no such function or event, or it cannot run here.
    """
    logical = f"{function.capitalize()}Function"
    known = [name.removesuffix("Function").lower() for name in template.functions()]
    if logical not in template.functions():
        raise Trouble(f"There is no function {function}; FUNCTION is one of {', '.join(known)}.", exit_code=2)
    if not event.is_file():
        raise Trouble(f"There is no file {event}; EVENT is one of those in events/.", exit_code=2)
    with tempfile.TemporaryDirectory() as scratch:
        build.build(parameters.machine(), Path(scratch) / "build.log")
        with _emulated(logical, variables(logical), Path(scratch)) as address:
            reply = httpx.post(address, content=event.read_bytes(), timeout=_ANSWER_SECONDS, trust_env=False)
    return reply.json()


def variables(logical: str) -> dict[str, str]:
    """Return the function's environment variables: those of the running stack, or the defaults in demo mode.

    Raises:
        Trouble: the running stack does not answer.
    """
    running = StateFolder(state_folder()).running()
    return _deployed(running, logical) if running else template.defaults(logical) | {"FENCEPOST_DEMO_MODE": "true"}


def _deployed(running: Running, logical: str) -> dict[str, str]:
    client = emulator.client("lambda", running.endpoint_url)
    name = next(name for name in running.functions if logical in name)
    try:
        variables: dict[str, str] = client.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    except BotoCoreError:
        raise Trouble(f"The local cloud at {running.url} does not answer; start it again with `make dev`.") from None
    return variables | {"AWS_ENDPOINT_URL": running.endpoint_url}


@contextmanager
def _emulated(logical: str, variables: Mapping[str, str], scratch: Path) -> Iterator[str]:
    """Run the emulator for one function, yield where to post events, and print what the function wrote."""
    port, runtime_port = processes.free_port(), processes.free_port()
    addresses = [
        f"--runtime-interface-emulator-address=127.0.0.1:{port}",
        f"--runtime-api-address=127.0.0.1:{runtime_port}",
    ]
    runtime = [sys.executable, "-m", "awslambdaric", template.load()["Globals"]["Function"]["Handler"]]
    child = processes.start(
        "runtime",
        [_program(scratch), "--log-level=error", *addresses, *runtime],
        _environment(logical, variables),
        scratch / "function.log",
        folder=BUILD / logical,
    )
    try:
        _await_listener(child, port)
        yield f"http://127.0.0.1:{port}{_INVOCATIONS}"
    finally:
        written = child.log.read_text(errors="replace")
        child.kill()
        print(written, end="", file=sys.stderr)


def _program(scratch: Path) -> Path:
    """Return an executable copy of SAM CLI's emulator, which is installed without the execute permission."""
    kind = "arm64" if parameters.machine() == "arm64" else "x86_64"
    sam = environments.binary("sam", "sam")
    found = next(sam.parent.parent.glob(f"lib/python*/site-packages/samcli/local/rapid/aws-lambda-rie-{kind}"), None)
    if platform.system() != "Linux" or found is None:
        raise Trouble("`make invoke` needs Linux; elsewhere `sam local invoke` does the same with Docker.")
    program = Path(shutil.copy(found, scratch / "aws-lambda-rie"))
    program.chmod(0o700)
    return program


def _environment(logical: str, variables: Mapping[str, str]) -> dict[str, str]:
    resources = template.load()["Resources"]
    settings = template.load()["Globals"]["Function"] | resources[logical]["Properties"]
    # A layer that is not built is used from its source.
    layers = [
        BUILD / name if (BUILD / name).exists() else ROOT / resources[name]["Properties"]["ContentUri"]
        for name in template.function_layers()
    ]
    return {
        **emulator.CREDENTIALS,
        "AWS_REGION": emulator.REGION,
        "AWS_LAMBDA_FUNCTION_NAME": logical,
        "AWS_LAMBDA_FUNCTION_TIMEOUT": str(settings["Timeout"]),
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(settings["MemorySize"]),
        "LAMBDA_TASK_ROOT": str(BUILD / logical),
        "PYTHONPATH": os.pathsep.join(str(layer / "python") for layer in layers),
        **template.common_variables(),
        **variables,
    }


def _await_listener(child: processes.Child, port: int) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and child.alive:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise Trouble(f"The runtime interface emulator did not start:\n{child.last_words()}")


if __name__ == "__main__":
    sys.exit(main())
