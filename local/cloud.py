"""A complete local cloud: front door, emulator and deployed stack. `make dev` and the tests both start it."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx
import uvicorn
from starlette.types import ASGIApp

from local import build, deploy, directory, emulator, fingerprint, issuer, parameters, processes
from local.deploy import Deployment
from local.emulator import Emulator
from local.front_door import Gateway, create_app
from local.issuer import Issuer
from local.provider import create_app as create_provider
from local.state import Running, StateFolder
from local.trouble import Trouble

Say = Callable[[str], None]
_FIRST_ANSWER_SECONDS = 60.0


@dataclass
class Cloud:
    """A running local cloud.

    Attributes:
        url: address of the front door, e.g. `http://127.0.0.1:8787`.
        emulator: the AWS emulator behind it.
        code: digest of the deployed code.
        chosen: the template's parameters.
        deployment: the deployed stack.
    """

    url: str
    emulator: Emulator
    gateway: Gateway
    folder: StateFolder
    code: str
    chosen: dict[str, str]
    deployment: Deployment = field(init=False)

    def deploy(self, say: Say, **changes: str) -> None:
        """Deploy the stack if its code or its parameters changed. `changes` overrides parameters of the template."""
        self.chosen |= changes
        digest = fingerprint.of_values(self.code, self.chosen)
        known = deploy.exists(self.emulator)
        if not known or digest != self.folder.deployed():
            say("Deploying the stack …")
            path = self.folder.packaged(self.code)
            if not known or not path.exists():
                build.package(self.emulator, path, self.folder.log("package"))
            deploy.deploy(self.emulator, path.read_text(encoding="utf-8"), self.chosen)
            self.folder.record_deployment(digest)
        self.deployment = deploy.describe(self.emulator)
        self.gateway.api_url = self.deployment.api_url

    def await_answer(self) -> None:
        """Wait until a request through the API is answered.

        Raises:
            Trouble: it answers with an error.
        """
        answer = self._send("GET", "/health")
        if not answer.is_success:
            log = self.emulator.child.log
            raise Trouble(f"GET /health answers {answer.status_code}; the local cloud's log is {log}.")

    def warm_up(self) -> None:
        """Start the chat function in the background, so that the first request is faster."""
        threading.Thread(target=self._preflight, name="warm-up", daemon=True).start()

    def _preflight(self) -> None:
        # Whoever chats next meets the same trouble and is told.
        with contextlib.suppress(httpx.HTTPError):
            self._send("OPTIONS", "/api/ai-chat")

    def _send(self, method: str, path: str) -> httpx.Response:
        return httpx.request(method, f"{self.url}{path}", timeout=_FIRST_ANSWER_SECONDS, trust_env=False)


@contextmanager
def started(folder: StateFolder, port: int, environment: Mapping[str, str], say: Say) -> Iterator[Cloud]:
    """Start a local cloud and stop all of it when the block ends.

    Args:
        port: port of the front door; 0 picks a free one.
        environment: variables that the settings are read from.
        say: called with a sentence before each step.

    Raises:
        Trouble: a setting is invalid, the port or the folder is taken, or a step fails.
    """
    parameters.from_environment(environment)
    with folder.claimed(), _listening(port) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        gateway = Gateway(frozenset(urlsplit(origin).netloc for origin in parameters.origins(url)))
        chosen = parameters.local(environment, url, folder.path)
        members = issuer.create_app(Issuer.of(folder.path))
        stand_in = create_provider() if parameters.needs_stand_in(environment) else None
        with _serving(create_app(gateway, stand_in, members), listener):
            say("Building the functions …")
            build.build(chosen["Architecture"], folder.log("build"))
            code = fingerprint.of_code(chosen["Architecture"])
            say("Starting the local cloud …")
            with _emulated(folder) as running:
                cloud = Cloud(url, running, gateway, folder, code, chosen)
                cloud.deploy(say)
                directory.seed(directory.administration(running.endpoint_url), parameters.origins(url))
                cloud.await_answer()
                cloud.warm_up()
                with folder.announced(Running(url, running.endpoint_url, cloud.deployment.functions)):
                    yield cloud


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    listener = processes.listen(port)
    if listener is None:
        raise Trouble(f"Port {port} is taken: stop what listens there, or choose another with PORT=, e.g. PORT=8790.")
    with listener:
        yield listener


@contextmanager
def _serving(app: ASGIApp, listener: socket.socket) -> Iterator[None]:
    """Serve the application from a thread, which receives no signals."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        # Else a client's X-Forwarded-For would become its address.
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=3,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="front door")
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def _emulated(folder: StateFolder) -> Iterator[Emulator]:
    running = emulator.start(folder.path, folder.emulator_port())
    folder.record_emulator(running.child.process.pid)
    try:
        yield running
    finally:
        running.stop()
