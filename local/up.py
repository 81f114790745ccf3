"""`make dev`: start the local cloud and show the functions' logs until a signal."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import NoReturn

from local.cloud import Cloud, started
from local.logs import Tail, short
from local.paths import state_folder
from local.state import StateFolder
from local.trouble import Trouble

_DEFAULT_PORT = "8787"
_POLL_SECONDS = 1.0
_HIGHEST_PORT = 65_535


def main() -> int:
    """Run until a signal, and return the exit code."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, _interrupt)
    try:
        with started(StateFolder(state_folder()), _port(), os.environ, _say) as cloud:
            _say(f"Fencepost is up: {cloud.url}")
            _follow(cloud)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return trouble.exit_code
    except KeyboardInterrupt:
        _say("Fencepost has stopped.")
    return 0


def _interrupt(*_: object) -> NoReturn:
    """Stop at the first signal and ignore later ones, so that a second Ctrl-C does not cut the shutdown short."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _say("Stopping …")
    raise KeyboardInterrupt


def _say(line: str) -> None:
    print(line, flush=True)


def _port() -> int:
    text = os.environ.get("PORT") or _DEFAULT_PORT
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= _HIGHEST_PORT):
        raise Trouble(f"PORT must be a whole number from 1 to {_HIGHEST_PORT}.", exit_code=2)
    return int(text)


def _follow(cloud: Cloud) -> None:
    tail = Tail(cloud.emulator)
    tail.read()
    while cloud.emulator.child.alive:
        for line in filter(None, map(short, tail.read())):
            _say(line)
        time.sleep(_POLL_SECONDS)
    raise Trouble(f"The local cloud has ended by itself; its log is {cloud.emulator.child.log}.")


if __name__ == "__main__":
    sys.exit(main())
