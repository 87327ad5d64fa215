"""The file of a small sweep, and what must be the same however it was carried out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from faults.outcome import Outcome, outcome_of

IDS = ("bathing-001", "dressing-001", "eating-001", "grooming-001")
GRADER = "openai-api/fake/grader"


def write_sweep(folder: Path, bank: Path, systems: str = "", grading: str = "", **top: Any) -> Path:
    """Write the file of a sweep: one system in two slices, twice each scenario, unless told.

    Args:
        folder: Where to.
        bank: The bank.
        systems: Tables of other systems.
        grading: Further lines of the grading's table.
        top: What stands above the tables.
    """
    file = folder / "sweep.toml"
    values = {"samples": 2, "slices": 2} | top
    lines = [f"{name} = {value}" for name, value in values.items()]
    systems = systems or '[[systems]]\nmodel = "openai-api/fake/a"\n'
    gradings = f'[[gradings]]\ngrader = "{GRADER}"\n{grading}'
    tables = f'[scenarios]\nbank = "{bank}"\n{gradings}{systems}'
    file.write_text("\n".join([*lines, tables]), encoding="utf-8")
    return file


def swept(root: Path) -> Outcome:
    """Return what must be the same however a sweep was carried out."""
    # a cell that grades does not know who answered
    return outcome_of(root, leave_out=("model_returned",))
