"""Seconds until a run ends whose server is none: one line for each kind of strange server.

Each run is a process of its own, of ten responses to each of two scenarios, with the limits that a
run has; `--connections 1` is the slowest that a run can notice. A kind that ends only when a whole
attempt has timed out is measured with that limit, `--attempt`, shortened.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from careeval.protocol.run import Run
from careeval.protocol.run_setup import prepare
from faults.search import KEY
from support.fakes import write_bank
from support.strange_servers import SERVERS, nobody, serving, silent_plain

MODEL = "openai-api/fake/m"
ONE = """
import sys
from pathlib import Path
from careeval.errors import ProtocolError
from careeval.protocol import connect
from careeval.protocol.evaluate import resume
connect.ATTEMPT_TIMEOUT = int(sys.argv[2])
try:
    outcome = resume(Path(sys.argv[1]))
except ProtocolError as error:
    sys.exit("refused\\t" + str(error))
print("\\n" + str(outcome.stopped), outcome.n_failed, outcome.why, sep="\\t")
"""


@contextmanager
def addresses(kind: str) -> Iterator[str]:
    """Yield the base URL of a kind."""
    if kind in ELSEWHERE:
        yield ELSEWHERE[kind]
    elif kind == "refused":
        with nobody() as url:
            yield url
    else:
        with serving((SERVERS | PLAIN)[kind]) as url:
            yield url.replace("http://", "https://") if kind in PLAIN else url


ELSEWHERE = {
    "no such host": "http://no-such-host.invalid/v1",
    "no scheme": "127.0.0.1:8000/v1",
}
PLAIN = {"TLS on plain": SERVERS["html 200"], "TLS on plain that waits": silent_plain}
"""Servers without TLS, to which it is spoken."""
KINDS = ["refused", *ELSEWHERE, *PLAIN, *SERVERS]


def measured(kind: str, connections: int, attempt: int, limit: float) -> tuple[float, str]:
    """Seconds until a run ended, and how; the limit's where it had not."""
    with tempfile.TemporaryDirectory() as place, addresses(kind) as url:
        bank = write_bank(Path(place) / "bank")
        folder = Path(place) / "runs" / "robot"
        environment = os.environ | {
            "NO_PROXY": "*",
            "no_proxy": "*",
            "FAKE_BASE_URL": url,
            "FAKE_API_KEY": KEY,
        }
        task = {"bank": str(bank)}
        prepare(Run("robot", MODEL, None, 10, task, max_connections=connections), folder)
        began = time.monotonic()
        try:
            done = subprocess.run(
                [sys.executable, "-c", ONE, str(folder), str(attempt)],
                capture_output=True, text=True, env=environment, timeout=limit, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return limit, "had not ended"
        took = time.monotonic() - began
        lines = done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or [""]
        return took, lines[-1].replace("\t", ", ")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", help="some of them")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--attempt", type=int, default=5, help="seconds of an attempt")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds until it is given up")
    args = parser.parse_args()
    found = {}
    for kind in args.kinds or KINDS:
        seconds, how = measured(kind, args.connections, args.attempt, args.limit)
        found[kind] = seconds
        print(f"| {kind} | {seconds:.1f} | {how} |", flush=True)  # noqa: T201
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main()
