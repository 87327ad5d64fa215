"""Time and memory of the summary of a sweep of 50 systems in 20 slices, 1,000 responses each.

    python bench/sweep_summary.py           # about half an hour, nearly all to make the logs
    python bench/sweep_summary.py --small   # a try: two systems in two slices, nothing kept

Nothing was asked: the logs are made (`make_logs.py`), and each cell has left its tables, as it does
where it is carried out. The summary is timed over 10, 25 and 50 systems, the second time it reads
them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from careeval.protocol.run import Run
from careeval.protocol.run_setup import prepare
from careeval.protocol.tables import read_run
from careeval.sweep.description import Sweep, System, save_sweep
from make_logs import Stored, _scenarios, write_run
from processes import take

RESULTS = Path(__file__).parent / "results" / "sweep_summary.json"


@dataclass(frozen=True)
class Size:
    """Sizes of the sweeps: `systems` are those whose summary is timed, one after the other."""

    systems: tuple[int, ...] = (10, 25, 50)
    n_slices: int = 20
    n_scenarios: int = 100
    n_epochs: int = 10


SMALL = Size((1, 2), 2, 4, 2)


def sweep_of(n_systems: int, size: Size) -> Sweep:
    """Return a sweep of so many systems over the same scenarios."""
    families = tuple((scenario.id,) for scenario in _scenarios(size.n_scenarios))
    runs = [Run(f"model-{n:02}", "made/none", None, size.n_epochs) for n in range(n_systems)]
    gradings = (Run("", None, "made/judge", 1),)
    return Sweep(tuple(System(run, size.n_slices) for run in runs), gradings, families)


def make(root: Path, size: Size) -> None:
    """Write each cell with its log and its tables."""
    root.mkdir()
    sweep = sweep_of(max(size.systems), size)
    save_sweep(root, sweep)
    stored, by_id = Stored.read(), {each.id: each for each in _scenarios(size.n_scenarios)}
    for cell in sweep.cells():
        folder = root / f"{cell.path}-001"
        # the log's name is its folder's: see `write_run`
        log = root / "logs" / cell.system.run.system
        write_run(log, stored, [by_id[each] for each in sweep.slice(cell)], size.n_epochs)
        folder.parent.mkdir(parents=True, exist_ok=True)
        prepare(Run(cell.system.run.system, "made/none", None, size.n_epochs), folder)
        for path in log.iterdir():
            path.rename(folder / path.name)
        read_run(folder)
    shutil.rmtree(root / "logs")


def main() -> None:
    """Make the sweep, time its summary, and keep what it took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--small", action="store_true", help="a try: two systems, nothing kept")
    size = SMALL if parser.parse_args().small else Size()
    with tempfile.TemporaryDirectory() as work:
        root = Path(work) / "sweep"
        make(root, size)
        rows = []
        for n in size.systems:
            sweep = sweep_of(n, size)
            part = Path(work) / f"part-{n}"
            part.mkdir()
            for system in sweep.systems:
                (root / system.folder).rename(part / system.folder)
            save_sweep(part, sweep)
            command = [sys.executable, "-m", "careeval", "summary", part]
            take(command, part)
            taken = take(command, part)
            rows.append({"systems": n, "seconds": taken.wall, "cpu": taken.cpu,
                         "memory_mb": taken.largest_mb})  # fmt: skip
            sys.stdout.write(f"{rows[-1]}\n")
            for system in sweep.systems:
                (part / system.folder).rename(root / system.folder)
    if size != SMALL:
        about = {"slices": size.n_slices, "responses": size.n_scenarios * size.n_epochs}
        RESULTS.write_text(json.dumps(about | {"rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
