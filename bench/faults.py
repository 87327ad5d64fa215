"""A campaign of faults: runs that are killed and cut off must come out as if they were not.

    python bench/faults.py --runs 100 --seed 1
    python bench/faults.py --seed 1 --only 7 --keep

Each run is the command line as a user starts it, against a fake server. What happens to it is drawn
from the seed; at what moment exactly, the machine decides. Afterwards it is resumed until it is
complete, and compared with one of the same answers that nothing happened to.

The bound on what is asked twice. A call is in flight from its request until its line is on disk in
calls.jsonl. With C connections a worker has at most C questions and C gradings in flight. So, for
every time that careeval was started:

- no worker was killed by SIGKILL: every reply that the server sent whole is on disk;
- w workers were killed: at most 2 C w replies are not, each of them sent less than `RECENT` seconds
  before the kill. A parent's death kills no worker.
- the disk was full beneath w workers: the same.

Over all, each call is answered whole at most once, and once more for each time that its reply was
lost so, or that its line was damaged by this campaign.

A full disk is one in memory, which only root can mount. No file may hold the key, which some of the
server's errors repeat.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from fakes import write_bank
from faults_drawn import Drawn, draw
from faults_trial import IDS, Trial, Verdict, undisturbed

RESULTS = Path(__file__).parent / "results" / "faults.json"


def campaign(seed: int, numbers: Sequence[int], jobs: int, keep: bool) -> list[Verdict]:
    """Carry out the runs of these numbers, and print a line for each."""
    work = Path(tempfile.mkdtemp(prefix="faults-"))
    bank = write_bank(work / "bank", IDS)
    drawn = [draw(seed, number) for number in numbers]
    say = threading.Lock()

    def carry_out(each: Drawn) -> Verdict:
        trial = Trial(each, seed, work / str(each.number), bank, like[each.shape])
        verdict = trial.carry_out()
        with say:
            print(verdict, flush=True)  # noqa: T201
        if not verdict.problems and not keep:
            shutil.rmtree(trial.folder)
        return verdict

    with ThreadPoolExecutor(jobs) as pool:
        shapes = list(dict.fromkeys(each.shape for each in drawn))
        folders = [work / f"undisturbed-{i}" for i in range(len(shapes))]
        calm = pool.map(undisturbed, shapes, folders, repeat(bank))
        like = dict(zip(shapes, calm, strict=True))
        verdicts = list(pool.map(carry_out, drawn))
    if keep or any(verdict.problems for verdict in verdicts):
        print(f"kept in {work}")  # noqa: T201
    else:
        shutil.rmtree(work)
    return verdicts


def as_json(seed: int, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """A campaign in numbers."""
    kinds = sorted({kind for verdict in verdicts for kind in verdict.drawn.kinds})
    struck = sum((verdict.struck for verdict in verdicts), Counter[str]())
    of_kind = {k: [v for v in verdicts if k in v.drawn.kinds] for k in kinds}
    return {
        "seed": seed,
        "runs": len(verdicts),
        "survived": sum(not verdict.problems for verdict in verdicts),
        "calls_asked": sum(verdict.n_asked for verdict in verdicts),
        "calls_answered_again": sum(verdict.n_extra for verdict in verdicts),
        "most_replies_lost_at_a_start": max(verdict.n_lost_most for verdict in verdicts),
        "longest_orphan_seconds": round(max(verdict.orphaned for verdict in verdicts), 1),
        "struck": dict(sorted(struck.items())),
        "runs_by_fault": {
            kind: {"runs": len(of), "survived": sum(not verdict.problems for verdict in of)}
            for kind, of in of_kind.items()
        },
    }


def main() -> int:
    """Carry out a campaign; 1 comes back if a run did not survive."""
    parser = argparse.ArgumentParser(description="A campaign of faults.")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--only", type=int, help="one run, by its number; its folder is kept")
    parser.add_argument("--keep", action="store_true", help="keep the folders of all runs")
    given = parser.parse_args()
    numbers = range(given.runs) if given.only is None else [given.only]
    verdicts = campaign(given.seed, numbers, given.jobs, given.keep or given.only is not None)
    result = as_json(given.seed, verdicts)
    print(f"\nsurvived {result['survived']} of {result['runs']}")  # noqa: T201
    for kind, of in result["runs_by_fault"].items():
        print(f"  {kind:<22} {of['survived']:>4} of {of['runs']}")  # noqa: T201
    if given.only is None:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return int(result["survived"] < result["runs"])


if __name__ == "__main__":
    sys.exit(main())
