"""Time and memory of the summary of a sweep of 50 systems in 20 slices, 1,000 responses each.

    python bench/sweep_summary.py           # about half an hour, nearly all to make the logs
    python bench/sweep_summary.py --small   # a try: two systems, nothing kept

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
from pathlib import Path

from careeval.protocol.run import Run
from careeval.protocol.run_folder import prepare
from careeval.protocol.tables import read_run
from careeval.sweep.sweep_file import Sweep, System, save_sweep
from make_logs import Stored, _scenarios, write_run
from processes import take

RESULTS = Path(__file__).parent / "results" / "sweep_summary.json"
N_SLICES = 20
N_SCENARIOS = 100
N_EPOCHS = 10
SYSTEMS = (10, 25, 50)


def sweep_of(n_systems: int) -> Sweep:
    """Return a sweep of so many systems over the same scenarios."""
    families = tuple((scenario.id,) for scenario in _scenarios(N_SCENARIOS))
    runs = [Run(f"model-{n:02}", "made/none", None, N_EPOCHS) for n in range(n_systems)]
    gradings = (Run("", None, "made/judge", 1),)
    return Sweep(tuple(System(run, N_SLICES) for run in runs), gradings, families)


def make(root: Path, sweep: Sweep) -> None:
    """Write each cell with its log and its tables."""
    root.mkdir()
    save_sweep(root, sweep)
    stored, by_id = Stored.read(), {scenario.id: scenario for scenario in _scenarios(N_SCENARIOS)}
    for cell in sweep.cells():
        folder = root / f"{cell.path}-001"
        # the log's name is its folder's: see `write_run`
        log = root / "logs" / cell.system.run.system
        write_run(log, stored, [by_id[each] for each in sweep.slice(cell)], N_EPOCHS)
        folder.parent.mkdir(parents=True, exist_ok=True)
        prepare(Run(cell.system.run.system, "made/none", None, N_EPOCHS), folder)
        for path in log.iterdir():
            path.rename(folder / path.name)
        read_run(folder)
    shutil.rmtree(root / "logs")


def main() -> None:
    """Make the sweep, time its summary, and keep what it took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--small", action="store_true", help="a try: two systems, nothing kept")
    sizes = (1, 2) if parser.parse_args().small else SYSTEMS
    with tempfile.TemporaryDirectory() as work:
        root = Path(work) / "sweep"
        make(root, sweep_of(max(sizes)))
        rows = []
        for n in sizes:
            part = Path(work) / f"part-{n}"
            part.mkdir()
            for system in sweep_of(n).systems:
                (root / system.folder).rename(part / system.folder)
            save_sweep(part, sweep_of(n))
            command = [sys.executable, "-m", "careeval", "summary", part]
            take(command, part)
            taken = take(command, part)
            rows.append({"systems": n, "seconds": taken.wall, "cpu": taken.cpu,
                         "memory_mb": taken.largest_mb})  # fmt: skip
            sys.stdout.write(f"{rows[-1]}\n")
            for system in sweep_of(n).systems:
                (part / system.folder).rename(root / system.folder)
    if max(sizes) == max(SYSTEMS):
        about = {"slices": N_SLICES, "responses": N_SCENARIOS * N_EPOCHS}
        RESULTS.write_text(json.dumps(about | {"rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
