"""Serve the stand-in alone: `python -m local.provider --port 8790`."""

from __future__ import annotations

import argparse

import uvicorn

from local.provider.app import create_app


def main() -> None:
    """Serve on loopback until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m local.provider", description=__doc__)
    parser.add_argument("--port", type=int, default=8790, help="port on 127.0.0.1 (default: 8790)")
    parser.add_argument("--pace", type=float, default=0.02, help="seconds between the pieces of a streamed answer")
    arguments = parser.parse_args()
    uvicorn.run(create_app(pace=arguments.pace), host="127.0.0.1", port=arguments.port, log_level="warning")


if __name__ == "__main__":
    main()
