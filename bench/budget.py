"""Overspending of runs with a budget, by connections and by models.

    python bench/budget.py                # all trials, some minutes
    python bench/budget.py --small        # a few of them

Runs of the public bank against the tests' fake server, which waits and then answers with about 120
words. In the trials named *thinks* it also thinks for 2,000 tokens, which no estimate foresees.
Prints a table, one row a trial.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from careeval.protocol.ledger import TotalCost, read_paid_calls
from careeval.protocol.run_folder import run_folders
from support.fake_server import Completion, FakeServer, Fault, Request, longer

LIMITS = (0.10, 0.50, 1.00)
CONNECTIONS = (1, 30, 300)
MODELS = (1, 3)
LATENCY = 0.3
"""Seconds before each reply."""

PRICE = "input = 2.5\noutput = 10\n"
"""Dollars per million tokens of every model and of the grader."""

THOUGHT = "I think. " * 1_350
"""Of which a third to all is thought: about 2,000 tokens, as the fake server counts them."""


@dataclass(frozen=True)
class Trial:
    """One run with a budget."""

    limit: float
    connections: int
    models: int
    thinks: bool


def trials(small: bool) -> Iterator[Trial]:
    """Every trial; only the least where it is to be short."""
    if small:
        yield Trial(LIMITS[0], CONNECTIONS[0], MODELS[0], thinks=True)
        return
    for thinks in (False, True):
        for each in itertools.product(LIMITS, CONNECTIONS, MODELS):
            yield Trial(*each, thinks)


def spent(trial: Trial, address: str, folder: Path) -> tuple[int, TotalCost]:
    """Carry out a run: its exit status, and what its ledgers say."""
    models = [f"openai-api/fake/m{number}" for number in range(trial.models)]
    names = [*models, "openai-api/fake/grader"]
    (folder / "prices.toml").write_text("".join(f'["{name}"]\n{PRICE}' for name in names))
    command = [
        *(sys.executable, "-m", "careeval", "run", "-o", "runs", "--prices", "prices.toml"),
        *itertools.chain.from_iterable(("-m", model) for model in models),
        *("--grader", names[-1], "--max-cost", str(trial.limit)),
        *("--max-connections", str(trial.connections)),
    ]
    env = {**os.environ, "FAKE_BASE_URL": address, "FAKE_API_KEY": "planted"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if "Traceback" in done.stderr:
        sys.exit(done.stderr)
    paid = [call for run in run_folders(folder / "runs") for call in read_paid_calls(run)]
    return done.returncode, TotalCost.of(paid)


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Carry out all trials."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--small", action="store_true", help="the least of them")
    small = parser.parse_args().small
    words = longer(120)
    say("| limit | connections | models | thinks | calls | spent | of the limit | status |")
    say("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for trial in trials(small):

        def said(request: Request, thinks: bool = trial.thinks) -> Completion | Fault:
            reply = words(request)
            if thinks and request.kind == "ask" and isinstance(reply, Completion):
                # not as long each time
                share = int(re.sub(r"\D", "", request.key)[:4] or 1) % 100 / 100
                return replace(reply, reasoning=THOUGHT[: int(len(THOUGHT) * (1 + 2 * share) / 3)])
            return reply

        with FakeServer(said, LATENCY) as server, tempfile.TemporaryDirectory() as folder:
            status, paid = spent(trial, server.base_url, Path(folder))
        share = f"{paid.known_usd / trial.limit:.0%}"
        say(
            f"| ${trial.limit:.2f} | {trial.connections} | {trial.models} | "
            f"{'yes' if trial.thinks else 'no'} | {paid.n_calls} | ${paid.known_usd:.3f} | "
            f"{share} | {status} |"
        )


if __name__ == "__main__":
    main()
