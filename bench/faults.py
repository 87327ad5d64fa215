"""A campaign of faults: runs that are killed and cut off must come out as if they were not.

    python bench/faults.py --runs 100 --seed 1
    python bench/faults.py --seed 1 --only 7

Each run is the command line as a user starts it, against a fake server. What happens to it is drawn
from the seed; at what moment exactly, the machine decides. Afterwards it is resumed until it is
complete, and compared with one of the same answers that nothing happened to. What may be asked
twice is in `tests/faults/accounts.py`, everything else that is checked in `tests/faults/trial.py`.
A full disk is one in memory, which only root can mount.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from faults.drawn import Drawn, draw
from faults.trial import IDS, Trial, Verdict, undisturbed
from support.fakes import write_bank

RESULTS = Path(__file__).parent / "results" / "faults.json"
WHOLE = 100
"""Runs of a campaign whose result is kept."""


def campaign(seed: int, numbers: Sequence[int], jobs: int, *, keep: bool) -> list[Verdict]:
    """Carry out the runs of these numbers, print a line for each, and return what came of them."""
    work = Path(tempfile.mkdtemp(prefix="faults-"))
    bank = write_bank(work / "bank", IDS)
    drawn = [draw(seed, number) for number in numbers]
    shapes = list(dict.fromkeys(each.shape for each in drawn))
    verdicts = []
    with ThreadPoolExecutor(jobs) as pool:
        folders = [work / f"undisturbed-{n}" for n in range(len(shapes))]
        graded = {each.shape for each in drawn if each.grading is not None}
        is_graded = [shape in graded for shape in shapes]
        outcomes = pool.map(undisturbed, shapes, folders, [bank] * len(shapes), is_graded)
        calm = dict(zip(shapes, outcomes, strict=True))

        def carry_out(each: Drawn) -> Verdict:
            return Trial(each, seed, work / str(each.number), bank, calm[each.shape]).carry_out()

        for ended in as_completed([pool.submit(carry_out, each) for each in drawn]):
            verdict = ended.result()
            verdicts.append(verdict)
            print(verdict, flush=True)  # noqa: T201
            if not verdict.problems and not keep:
                shutil.rmtree(work / str(verdict.drawn.number))
    if keep or any(verdict.problems for verdict in verdicts):
        print(f"kept in {work}")  # noqa: T201
    else:
        shutil.rmtree(work)
    return verdicts


def as_json(seed: int, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return a campaign in numbers."""
    struck = sum((verdict.struck for verdict in verdicts), Counter[str]())
    return {
        "seed": seed,
        "runs": len(verdicts),
        "survived": sum(not verdict.problems for verdict in verdicts),
        "calls_asked": sum(verdict.n_asked for verdict in verdicts),
        "calls_answered_again": sum(verdict.n_extra for verdict in verdicts),
        "most_replies_lost_at_a_start": max(verdict.max_lost for verdict in verdicts),
        "longest_orphan_seconds": round(max(verdict.orphaned for verdict in verdicts), 1),
        "struck": dict(sorted(struck.items())),
        "lost": [str(verdict) for verdict in verdicts if verdict.problems],
    }


def main() -> int:
    """Carry out a campaign, and return 1 if a run did not survive."""
    parser = argparse.ArgumentParser(description="A campaign of faults.")
    parser.add_argument("--runs", type=int, default=WHOLE, help=f"{WHOLE} are kept, fewer not")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--only", type=int, help="one run, by its number; its folder is kept")
    parser.add_argument("--keep", action="store_true", help="keep the folders of all runs")
    args = parser.parse_args()
    is_whole = args.only is None
    numbers = range(args.runs) if is_whole else [args.only]
    verdicts = campaign(args.seed, numbers, args.jobs, keep=args.keep or not is_whole)
    result = as_json(args.seed, verdicts)
    print(f"\nsurvived {result['survived']} of {result['runs']}")  # noqa: T201
    for kind, n in result["struck"].items():
        print(f"  {kind:<30} {n:>4}")  # noqa: T201
    if is_whole and args.runs >= WHOLE:
        RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return int(result["survived"] < result["runs"])


if __name__ == "__main__":
    sys.exit(main())
