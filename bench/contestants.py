"""The commands that are measured, of careeval and of its peers, each in a new process."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
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
    """Sizes of the runs.

    Attributes:
        n_scenarios: Scenarios of the bank.
        n_samples: Responses to each, and as many gradings.
        n_connections: Calls in flight, to each of model and grader.
        slow: Seconds of the server for a reply if waiting is measured.
        fast: Seconds for a reply if work is measured.
        instant: Seconds for a reply if the processors are the limit.
        n_models: Models whose logs are read.
        n_many: Models of a large comparison.
        n_large: Scenarios of a large bank.
        n_own: Scenarios of the own bank; `None` for all.
        n_help: How often a help is asked for.
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
    n_own: int | None = None
    n_help: int = 11

    @property
    def n_responses(self) -> int:
        """Number of responses, and of gradings."""
        return self.n_scenarios * self.n_samples


SMALL = Size(
    n_scenarios=4, n_samples=2, n_connections=4, slow=0.2, fast=0.1, n_models=2, n_many=4,
    n_large=10, n_own=4, n_help=1,
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """The questions to one model: the scenarios of a bank, each so many times.

    Attributes:
        is_own: Whether the bank is the own one, of which `bank` has the texts.
    """

    bank: Path
    n_scenarios: int
    n_samples: int
    is_own: bool = False

    @property
    def n_responses(self) -> int:
        """Number of responses, and of gradings."""
        return self.n_scenarios * self.n_samples


class Bench:
    """A folder to work in, and the commands that are measured, each run a fresh process.

    Attributes:
        whole: The questions of a usual run.
        one: One question, to measure the cost of starting and ending.
    """

    def __init__(self, root: Path, size: Size, rounds: int) -> None:
        self.size, self.rounds = size, rounds
        self._root = root
        self._numbers = count(1)
        self.whole = Asked(
            write_bank(root / "bank", size.n_scenarios), size.n_scenarios, size.n_samples
        )
        self.one = Asked(write_bank(root / "one", 1), 1, 1)

    @cached_property
    def own(self) -> Asked:
        """The questions of the own bank."""
        folder = self._root / "own"
        n_scenarios = write_own(folder, self.size.n_own)
        return Asked(folder, n_scenarios, 1, is_own=True)

    def _own_options(self) -> list[str | Path]:
        return _options(limit=self.size.n_own) if self.size.n_own else []

    @cached_property
    def _answers(self) -> Path:
        return own_answers(self._root / "answers.jsonl", N_RECORDED)

    def careeval(
        self, server: Server, *models: str, asked: Asked | None = None, poll: bool = False
    ) -> Numbers:
        """Measure `careeval run` with these models side by side."""
        asked = asked or self.whole
        command: list[str | Path] = [CAREEVAL, "run", "--yes", "-o", "out"]
        # the own bank is the one that is there without a word
        command += _options(bank=asked.bank) if not asked.is_own else self._own_options()
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
        """Measure the same run with Inspect alone, all models in one process."""
        return self._script("by_hand.py", server, asked or self.whole, *models)

    def floor(self, server: Server) -> Numbers:
        """Measure the same run with a bare client."""
        return self._script("floor.py", server, self.whole, MODEL)

    def _script(self, name: str, server: Server, asked: Asked, *models: str) -> Numbers:
        command: list[str | Path] = [sys.executable, HERE / name, asked.bank, "out"]
        command += _options(
            model=models, samples=asked.n_samples, connections=self.size.n_connections
        )
        taken = take(command, self.folder(), server.env)
        return _numbers(taken, server, len(models) * asked.n_responses)

    def embedded(self, n_samples: int, max_tokens: int) -> Numbers:
        """Measure `careeval run` of the embedded model, ungraded."""
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
        """Measure the same questions to the engine alone."""
        command: list[str | Path] = [sys.executable, HERE / "engine.py"]
        command += _options(limit=N_EMBEDDED, samples=n_samples, max_tokens=max_tokens)
        taken = take(command, self.folder())
        result = json.loads(taken.output.splitlines()[-1])
        return {
            "tokens_a_second": result["tokens"] / result["seconds"],
            "tokens": result["tokens"],
            "wall": taken.wall,
        }

    def recorded(self) -> Numbers:
        """Measure `careeval run` with recorded answers, graded by comparing words."""
        command: list[str | Path] = [CAREEVAL, "run", "--grader", "careeval/lexical", "-o", "out"]
        return self.command(*command, *_options(responses=self._answers))

    def recorded_by_hand(self) -> Numbers:
        """Measure the same recorded answers with Inspect alone."""
        return self.command(sys.executable, HERE / "recorded_by_hand.py", self._answers, "out")

    def command(self, *words: str | Path) -> Numbers:
        """Measure a command."""
        taken = take(words, self.folder())
        return {"wall": taken.wall, "cpu": taken.cpu, "largest_mb": taken.largest_mb}

    def folder(self) -> Path:
        """Return a new folder."""
        folder = self._root / str(next(self._numbers))
        folder.mkdir()
        return folder


def _options(**options: str | int | Path | Sequence[str]) -> list[str | Path]:
    """Return the words of options; an option with a list is repeated for each value."""
    return [
        word
        for name, values in options.items()
        for value in (values if isinstance(values, (list, tuple)) else [values])
        for word in (f"--{name.replace('_', '-')}", str(value))
    ]


def _numbers(taken: Taken, server: Server, n_responses: int) -> Numbers:
    """Return the measurements of a command that asked for so many responses and gradings."""
    answered = server.answered(n_responses, n_responses)
    numbers = {
        "wall": taken.wall,
        "first_call": answered.first_came - taken.began,
        "answering": answered.seconds,
        "cpu": taken.cpu,
        "largest_mb": taken.largest_mb,
    }
    return numbers | ({"all_mb": taken.all_mb} if taken.all_mb else {})


def _outputs(folder: Path) -> Iterator[tuple[float, dict[str, Any]]]:
    """Yield the outputs in the logs below a folder, each with the time when it was completed."""
    for path in folder.rglob("*.eval"):
        with zipfile.ZipFile(path) as file:
            for name in file.namelist():
                if name.startswith("samples/"):
                    sample = json.loads(file.read(name))
                    completed = datetime.fromisoformat(sample["completed_at"])
                    yield completed.timestamp(), sample["output"]
