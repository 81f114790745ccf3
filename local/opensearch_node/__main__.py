"""`make test-opensearch`: run the tests that need a real OpenSearch against one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from local.opensearch_node.node import running
from local.paths import ROOT
from local.trouble import Trouble

_INTERRUPTED = 130
_TESTS = "tests/integration/test_opensearch_*.py"


def main() -> int:
    """Run the tests and return pytest's exit code, or another one if no OpenSearch can be started."""
    # The node outlives this process unless it is stopped: SIGTERM must not skip that.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with tempfile.TemporaryDirectory(prefix="fencepost-") as folder, running(Path(folder), _say) as url:
            command = [sys.executable, "-m", "pytest", *sorted(map(str, ROOT.glob(_TESTS)))]
            environment = {**os.environ, "OPENSEARCH_URL": url}
            return subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return trouble.exit_code
    except KeyboardInterrupt:
        return _INTERRUPTED


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
