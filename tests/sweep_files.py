"""The file of a small sweep, and what must be the same however it was carried out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from careeval.protocol.logs import read_runs

IDS = ("bathing-001", "dressing-001", "eating-001", "grooming-001")
GRADER = "openai-api/fake/grader"


def write_sweep(folder: Path, bank: Path, systems: str = "", **top: Any) -> Path:
    """Write the file of a sweep: one system in two slices, twice each scenario, unless told."""
    file = folder / "sweep.toml"
    values = {"samples": 2, "slices": 2} | top
    lines = [f"{name} = {value}" for name, value in values.items()]
    systems = systems or '[[systems]]\nmodel = "openai-api/fake/a"\n'
    tables = f'[scenarios]\nbank = "{bank}"\n[[gradings]]\ngrader = "{GRADER}"\n{systems}'
    file.write_text("\n".join([*lines, tables]), encoding="utf-8")
    return file


def tables(root: Path) -> dict[str, Any]:
    """Return what must be the same however a sweep was carried out: words and judgments."""
    runs = read_runs(root)
    drop = ["created", "seconds", "model_returned"]
    responses = runs.responses.sort("system", "scenario", "epoch")
    judgments = runs.judgments.sort("system", "scenario", "epoch", "grading", "position")
    return {
        "responses": responses.drop(drop).rows(),
        "judgments": judgments.drop("seconds").rows(),
        "notes": runs.notes,
    }
