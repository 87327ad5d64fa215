"""The commands that are measured, ours and those that it is measured by, each a fresh process."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from asked import JUDGE, own_answers, write_bank, write_own
from findings import Numbers
from processes import HERE, Server, Taken, take

if sys.version_info < (3, 14):
    import zipfile_zstd  # type: ignore[import-untyped] # noqa: F401

CAREEVAL = Path(sys.executable).parent / "careeval"
MODEL = "openai-api/fake/a"
EMBEDDED = "gguf/smollm2-135m"
N_RECORDED = 4
"""Answers that were recorded, and are graded by comparing words."""
N_EMBEDDED = 12
"""Scenarios of the own bank that the embedded model is asked about, of all activities."""


@dataclass(frozen=True)
class Size:
    """How large the runs are.

    Attributes:
        n_scenarios: Of the bank.
        n_samples: Responses to each, and as many gradings.
        n_connections: Calls in flight, to each of model and grader.
        slow: Seconds that the server takes for a reply where waiting is measured.
        fast: The same where work is.
        instant: The same where the processors are the limit.
        n_models: Whose logs are read.
        n_many: The same where the comparison is large.
        n_large: Scenarios of a large bank.
    """

    n_scenarios: int = 100
    n_samples: int = 10
    n_connections: int = 100
    slow: float = 5.0
    fast: float = 0.5
    instant: float = 0.1
    n_models: int = 9
    n_many: int = 100
    n_large: int = 10_000

    @property
    def n_responses(self) -> int:
        """As many gradings come to them."""
        return self.n_scenarios * self.n_samples


SMALL = Size(
    n_scenarios=10, n_samples=4, n_connections=10, slow=1.0, fast=0.1, n_models=2, n_many=4,
    n_large=100,
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """What one model is asked: a bank, each of its scenarios so many times."""

    bank: Path
    n_scenarios: int
    n_samples: int

    @property
    def n_responses(self) -> int:
        """As many gradings come to them."""
        return self.n_scenarios * self.n_samples


class Bench:
    """A folder to work in, and the commands that are measured, each run a fresh process.

    Attributes:
        whole: What is asked where nothing else is said.
        one: One question: what is left is the cost to begin and to end.
        own: The own bank, each scenario once.
    """

    def __init__(self, root: Path, size: Size, rounds: int) -> None:
        self.size, self.rounds = size, rounds
        self._root = root
        self._numbers = count(1)
        self.whole = Asked(
            write_bank(root / "bank", size.n_scenarios), size.n_scenarios, size.n_samples
        )
        self.one = Asked(write_bank(root / "one", 1), 1, 1)
        own = root / "own"
        self.own = Asked(own, write_own(own), 1)
        self._answers = own_answers(root / "answers.jsonl", N_RECORDED)

    def careeval(
        self, server: Server, *models: str, asked: Asked | None = None, poll: bool = False
    ) -> Numbers:
        """`careeval run` with these models side by side."""
        asked = asked or self.whole
        command: list[str | Path] = [CAREEVAL, "run", "--yes", "-o", "out"]
        # the own bank is the one that is there without a word
        command += _options(bank=asked.bank) if asked is not self.own else []
        command += _options(
            model=models,
            grader=JUDGE,
            samples=asked.n_samples,
            rubric="ladder",
            max_connections=self.size.n_connections,
        )
        taken = take(command, self.folder(), server.env, poll=poll)
        return _numbers(taken, server, len(models) * asked.n_responses)

    def by_hand(self, server: Server, *models: str, asked: Asked | None = None) -> Numbers:
        """The same with Inspect alone, all models in one process."""
        return self._script("by_hand.py", server, asked or self.whole, *models)

    def floor(self, server: Server) -> Numbers:
        """The same with a bare client."""
        return self._script("floor.py", server, self.whole, MODEL)

    def _script(self, name: str, server: Server, asked: Asked, *models: str) -> Numbers:
        command: list[str | Path] = [sys.executable, HERE / name, asked.bank, "out"]
        command += _options(
            model=models, samples=asked.n_samples, connections=self.size.n_connections
        )
        taken = take(command, self.folder(), server.env)
        return _numbers(taken, server, len(models) * asked.n_responses)

    def embedded(self, n_samples: int, max_tokens: int) -> Numbers:
        """`careeval run` of the embedded model, ungraded."""
        folder = self.folder()
        command: list[str | Path] = [CAREEVAL, "run", "--no-grade", "-o", "out", "-m", EMBEDDED]
        command += _options(limit=N_EMBEDDED, samples=n_samples, max_tokens=max_tokens)
        taken = take(command, folder)
        calls = [*_outputs(folder)]
        first = min(
            came - output["metadata"]["timings"]["predicted_ms"] / 1000 for came, output in calls
        )
        tokens = sum(output["usage"]["output_tokens"] for _, output in calls)
        seconds = max(came for came, _ in calls) - first
        return {"tokens_a_second": tokens / seconds, "tokens": tokens, "wall": taken.wall}

    def engine(self, n_samples: int, max_tokens: int) -> Numbers:
        """The same asked of the engine alone."""
        command: list[str | Path] = [sys.executable, HERE / "engine.py"]
        command += _options(limit=N_EMBEDDED, samples=n_samples, max_tokens=max_tokens)
        taken = take(command, self.folder())
        told = json.loads(taken.said.splitlines()[-1])
        return {
            "tokens_a_second": told["tokens"] / told["seconds"],
            "tokens": told["tokens"],
            "wall": taken.wall,
        }

    def recorded(self) -> Numbers:
        """`careeval run` with recorded answers, graded by comparing words."""
        command: list[str | Path] = [CAREEVAL, "run", "--grader", "careeval/lexical", "-o", "out"]
        return self.command(*command, *_options(responses=self._answers))

    def recorded_by_hand(self) -> Numbers:
        """The same with Inspect alone."""
        return self.command(sys.executable, HERE / "recorded_by_hand.py", self._answers, "out")

    def command(self, *words: str | Path) -> Numbers:
        """Any command."""
        taken = take(words, self.folder())
        return {"wall": taken.wall, "cpu": taken.cpu, "largest_mb": taken.largest_mb}

    def folder(self) -> Path:
        """A new one."""
        folder = self._root / str(next(self._numbers))
        folder.mkdir()
        return folder


def _options(**options: str | int | Path | Sequence[str]) -> list[str | Path]:
    """A command's options by their names, one that is a list again for each of its words."""
    return [
        word
        for name, given in options.items()
        for value in (given if isinstance(given, (list, tuple)) else [given])
        for word in (f"--{name.replace('_', '-')}", str(value))
    ]


def _numbers(taken: Taken, server: Server, n_responses: int) -> Numbers:
    """What a command took that asked the server for so many responses and gradings."""
    answered = server.answered(n_responses, n_responses)
    found = {
        "wall": taken.wall,
        "first_call": answered.first_came - taken.began,
        "answering": answered.seconds,
        "cpu": taken.cpu,
        "largest_mb": taken.largest_mb,
    }
    return found | ({"all_mb": taken.all_mb} if taken.all_mb else {})


def _outputs(folder: Path) -> Iterator[tuple[float, dict[str, Any]]]:
    """The outputs in the logs below a folder, each with the second in which it was completed."""
    for path in folder.rglob("*.eval"):
        with zipfile.ZipFile(path) as file:
            for name in file.namelist():
                if name.startswith("samples/"):
                    sample = json.loads(file.read(name))
                    completed = datetime.fromisoformat(sample["completed_at"])
                    yield completed.timestamp(), sample["output"]
