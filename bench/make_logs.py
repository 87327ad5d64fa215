"""Logs of the size of a real comparison, to time whatever reads them.

    python bench/make_logs.py DIR
    time careeval summary DIR

They are the stored sample of `tests/data/complete.eval`, many times: under other ids and epochs,
with the bank's texts and rubrics, and with words drawn anew for every answer, quote and reason.
They are no model's answers, and their scores mean nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from careeval.bank import load_bank
from careeval.core.scenario import Rubric, Scenario
from careeval.protocol.selection import sample_metadata

if sys.version_info < (3, 14):
    import zipfile_zstd  # type: ignore[import-untyped]  # noqa: F401

STORED = Path(__file__).parents[1] / "tests" / "data" / "complete.eval"
SAMPLE = "samples/eating-001_epoch_1.json"
ANSWER = "I ask her about the blouse and wait, holding the sleeve."
SCENARIO = "Scenario eating-001: she sits on the bed. What do you do?"
ZSTANDARD = 93
RUBRICS = [Rubric.ladder, Rubric.actions]
N_WORDS, N_QUOTED, N_REASON = 150, 12, 16


MOMENT = (2026, 11, 21, 23, 49, 20)
"""When every member of a log is said to be written, so that the same logs are the same bytes."""


@dataclass(frozen=True)
class Stored:
    """The stored log that is multiplied."""

    header: Mapping[str, Any]
    sample: Mapping[str, Any]

    @staticmethod
    def read() -> Stored:
        """The tests' stored log."""
        with zipfile.ZipFile(STORED) as file:
            return Stored(json.loads(file.read("header.json")), json.loads(file.read(SAMPLE)))


def main() -> None:
    """Write the runs that the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", type=int, default=9)
    parser.add_argument("--scenarios", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=10)
    asked = parser.parse_args()
    stored = Stored.read()
    scenarios = [*_scenarios(asked.scenarios)]
    for model in range(1, asked.models + 1):
        write_run(asked.folder / f"model-{model}", stored, scenarios, asked.epochs)


def _scenarios(n: int) -> Iterator[Scenario]:
    """The bank's scenarios over and over, each time under another id."""
    known = load_bank().scenarios
    for place in range(n):
        scenario = known[place % len(known)]
        yield scenario.model_copy(
            update={"id": f"{scenario.adl}-{place + 1:03}", "actions": scenario.actions[:8]}
        )


def write_run(folder: Path, stored: Stored, scenarios: list[Scenario], n_epochs: int) -> None:
    """Write one run of one log; what is under its name is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    system = folder.name
    header = json.loads(json.dumps(stored.header))
    header["eval"] |= {"model": f"fake/{system}"}
    header["eval"]["model_roles"]["grader"]["model"] = "fake/judge"
    header["eval"]["config"]["epochs"] = n_epochs
    header["eval"]["dataset"] |= {
        "samples": len(scenarios),
        "sample_ids": [scenario.id for scenario in scenarios],
    }
    header["eval"]["metadata"]["careeval"]["system"] = system
    samples = (
        _sample(stored.sample, system, scenario, epoch)
        for epoch in range(1, n_epochs + 1)
        for scenario in scenarios
    )
    write_log(folder / "2026-11-21T23-49-20+00-00_careeval.eval", header, samples)


def write_log(path: Path, header: Mapping[str, Any], samples: Iterable[Mapping[str, Any]]) -> None:
    """Write one log, its samples in the order given."""
    with zipfile.ZipFile(path, "w") as file:

        def member(name: str, content: Any) -> None:
            said = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
            file.writestr(zipfile.ZipInfo(f"{name}.json", MOMENT), said, ZSTANDARD)

        for sample in samples:
            member(f"samples/{sample['id']}_epoch_{sample['epoch']}", sample)
        for name, content in (("summaries", []), ("reductions", []), ("header", header)):
            member(name, content)


def _sample(stored: Any, system: str, scenario: Scenario, epoch: int) -> dict[str, Any]:
    """The stored sample as one of this scenario and epoch."""
    draw = random.Random(f"{system}:{scenario.id}:{epoch}")
    words = scenario.text.split() + [
        word for item in scenario.actions for word in item.text.split()
    ]
    answer = " ".join(draw.choices(words, k=N_WORDS))
    metadata = sample_metadata(scenario, RUBRICS)
    graded = {
        rubric.value: {
            "judgments": [_judgment(item.id, answer, words, draw) for item in items],
            "shown": [item.id for item in items],
            "n_calls": 1,
            "n_quotes_dropped": 0,
            "usage": {
                "input_tokens": draw.randint(700, 900),
                "output_tokens": draw.randint(300, 500),
                "cost_usd": draw.uniform(0.004, 0.008),
                "seconds": draw.uniform(2, 8),
            },
        }
        for rubric in RUBRICS
        if (items := scenario.rubric(rubric))
    }

    def changed(value: Any, key: str = "") -> Any:
        if key == "metadata" and isinstance(value, dict) and "rubrics" in value:
            return value | {"rubrics": graded} if "response_state" in value else metadata
        if isinstance(value, dict):
            return {name: changed(part, name) for name, part in value.items()}
        if isinstance(value, list):
            return [changed(part) for part in value]
        return _said(value) if isinstance(value, str) else value

    def _said(text: str) -> str:
        rubric = "ladder" if "Speaks about the blouse." in text else "actions"
        if text.startswith('{"judgments"'):
            return json.dumps({"judgments": graded[rubric]["judgments"]})
        before, listed, _ = text.partition("The items:\n\n")
        if listed:
            items = scenario.rubric(Rubric(rubric))
            text = before + listed + "\n".join(f"{n}. {i.text}" for n, i in enumerate(items, 1))
        return (
            text.replace(ANSWER, answer)
            .replace(SCENARIO, scenario.text)
            .replace("eating-001", scenario.id)
            .replace("fake/robot", f"fake/{system}")
        )

    sample: dict[str, Any] = changed(stored)
    sample["epoch"] = sample["store"]["careeval_response"]["epoch"] = epoch
    sample["output"]["usage"] = {
        "input_tokens": draw.randint(250, 350),
        "output_tokens": draw.randint(180, 240),
        "total_cost": draw.uniform(0.001, 0.003),
    }
    return sample


def _judgment(item: str, answer: str, words: list[str], draw: random.Random) -> dict[str, Any]:
    spoken = answer.split()
    start = draw.randrange(len(spoken) - N_QUOTED)
    present = draw.random() < 0.5
    return {
        "item": item,
        "present": present,
        "reason": " ".join(draw.choices(words, k=N_REASON)),
        "quote": " ".join(spoken[start : start + N_QUOTED]) if present else None,
    }


if __name__ == "__main__":
    main()
