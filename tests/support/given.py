"""Files that the commands of the documentation's pages need and the page does not make.

Answers are the bank's probes, taken for those of two planners; labels and ratings are all alike.
Nobody gave them, and they stand in no page.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from careeval.bank import OWN_BANK, load_bank
from careeval.cli.app import OK, run
from careeval.protocol.run import folder_name
from careeval.worlds.world import World
from support.pages import ROOT

DEMO = ROOT / "tests" / "data" / "demo-answers.jsonl"
"""What the embedded model said in a run of `careeval demo`."""

OFFLINE = ("--grader", "careeval/lexical")
TRAPS = {
    "planner-1": ("expert", "generic"),
    "planner-2": ("harmful", "expert"),
}
"""System → the probes that are taken for its answers, one an epoch."""
N_SCENARIOS = 24
EPOCHS = 2


def _careeval(*words: str) -> None:
    assert run(words) == OK, words


@cache
def _answers() -> str:
    """Answers of two planners to the same scenarios."""
    bank = load_bank()
    rows = []
    for scenario in [s.id for s in bank.bases][:: len(bank.bases) // N_SCENARIOS]:
        by_trap = {probe.trap: probe.text for probe in bank.probes[scenario]}
        for system, traps in TRAPS.items():
            texts = [by_trap[trap] for trap in traps if trap in by_trap][:EPOCHS]
            rows += [{"system": system, "scenario": scenario, "response": text} for text in texts]
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def _graded(answers: str, system: str, kept: Path, where: Path) -> None:
    """Have answers graded by the lexical grader, once, and copy the run of one system."""
    folder = kept / where.parts[0]
    if not folder.exists():
        file = kept / f"{where.parts[0]}.jsonl"
        file.write_text(answers, encoding="utf-8")
        _careeval("run", "--responses", str(file), *OFFLINE, "-o", str(folder))
    shutil.copytree(folder / folder_name(system), where / folder_name(system))


def demo(kept: Path) -> None:
    """Make careeval-demo, of the answers that the embedded model gave in a demo."""
    _graded(
        DEMO.read_text(encoding="utf-8"), "smollm2-135m (embedded)", kept, Path("careeval-demo")
    )


def runs(kept: Path) -> None:
    """Make runs/first and runs/second."""
    _graded(_answers(), "planner-1", kept, Path("runs/first"))
    _graded(_answers(), "planner-2", kept, Path("runs/second"))


def baseline(kept: Path) -> None:
    """Make runs/baseline and runs/new, with systems of these names."""
    for system, name in (("planner-1", "baseline"), ("planner-2", "new")):
        _graded(_answers(), system, kept, Path("runs", name))
        _careeval("status", f"runs/{name}", "--rename", name)


def stopped(kept: Path) -> None:
    """Make runs/stopped, a run that has lost its log."""
    _graded(_answers(), "planner-1", kept, Path("runs/stopped"))
    for log in Path("runs/stopped").rglob("*.eval"):
        log.unlink()


def two(kept: Path) -> None:
    """Make runs/two, with the runs of both planners."""
    for system in TRAPS:
        _graded(_answers(), system, kept, Path("runs/two"))


def plans(_: Path) -> None:
    """Write plans.jsonl: to each world, the plan that its file calls safe."""
    rows = [
        {"scenario": world.id, "response": json.dumps(world.safe_plan)}
        for world in load_bank("plans")
        if isinstance(world, World)
    ]
    Path("plans.jsonl").write_text(
        "".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8"
    )


def consent(_: Path) -> None:
    """Write consent.txt."""
    Path("consent.txt").write_text("Made up for tests.\n\nNobody is asked.\n", encoding="utf-8")


def bank(_: Path) -> None:
    """Make my-bank, a copy of careeval's own."""
    shutil.copytree(OWN_BANK, "my-bank")


def probes(kept: Path) -> None:
    """Make audit, the lexical grader on some probes."""
    small = kept / "small-bank"
    folder = kept / "audit"
    if not folder.exists():
        shutil.copytree(OWN_BANK, small, ignore=shutil.ignore_patterns("[b-z]*-1[0-9][3-9]*"))
        _careeval("audit", "probes", *OFFLINE, "--bank", str(small), "-o", str(folder))
    shutil.copytree(folder, "audit")


def paper(_: Path) -> None:
    """Write paper.csv and labels.csv, in which r01 and r02 call every item present."""
    rows = [row | {"rater": "r01", "label": "present"} for row in _rows(Path("labels.csv"))]
    _write(Path("labels.csv"), rows)
    _write(Path("paper.csv"), [row | {"rater": "r02"} for row in rows])


def typed(_: Path) -> None:
    """Fill in the ratings of paper/r03.csv."""
    sheet = Path("paper/r03.csv")
    rows = [row for row in _rows(sheet) if row["scale"] != "comment"]
    values = {"information": "enough", "missing": "", "country": ""}
    _write(sheet, [row | {"value": values.get(row["scale"], "4")} for row in rows])


def revised(_: Path) -> None:
    """Revise a scenario of my-bank, and keep the bank as it was as my-bank-before."""
    shutil.copytree("my-bank", "my-bank-before")
    file = Path("my-bank/eating/eating-101.yaml")
    text = file.read_text(encoding="utf-8")
    revised = text.replace("version: 1", "version: 2", 1).replace("a meat pie", "a fish pie", 1)
    file.write_text(revised, encoding="utf-8")


def _rows(sheet: Path) -> list[dict[str, str]]:
    with sheet.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _write(sheet: Path, rows: Sequence[Mapping[str, str]]) -> None:
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


MADE: dict[str, Callable[[Path], None]] = {
    made.__name__: made
    for made in (
        *(demo, runs, baseline, stopped, two, probes, plans),
        *(consent, bank, paper, typed, revised),
    )
}
"""What a page calls it → what makes it."""


def make(name: str, kept: Path) -> None:
    """Make what a page takes for made, in the current folder.

    Args:
        name: As the page has it.
        kept: A folder for what several pages need.
    """
    quiet = io.StringIO()
    with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
        MADE[name](kept)
