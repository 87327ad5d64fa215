"""`careeval audit`: is this grader any good?"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from careeval.bank import load_bank
from careeval.cli.app import OK
from careeval.cli.options import Grading, Json
from careeval.cli.show import print_agreement, say
from careeval.cli.spending import Spending
from careeval.cli.working import agreed, unfinished, work
from careeval.protocol.probes import agreement, prepare_probes, unfinished_audit
from careeval.protocol.run import Run, amend
from careeval.results.probes import ProbeAgreement

EXAMPLES = """\
Examples:

  careeval audit probes --grader careeval/lexical          offline, in seconds
  careeval audit probes --grader openai/gpt-4o-2024-08-06  the default grader
  careeval audit probes --grader openai/gpt-4o-2024-08-06 --rubric ladder
  careeval audit probes --grader careeval/lexical --json   for a program

A probe is an authored answer whose every item is labelled: how often the grader
finds what is there, and lets pass what is not, is counted against the labels.
"""

app = App(name="audit", help="Is this grader any good?", help_epilogue=EXAMPLES)


@app.command
def probes(
    *,
    grader: str,
    bank: Path | None = None,
    out: Annotated[Path, Parameter(name=("--out", "-o"))] = Path("runs/audit"),
    grading: Grading = Grading(),
    spending: Spending = Spending(),
    as_json: Json = False,
) -> int:
    """Put the bank's labelled probes to a grader, and count where it agrees, by points and by trap.

    Args:
        grader: Inspect's name of the grader.
        bank: Folder of the bank; careeval's own where not given.
        out: Folder for the logs.
        grading: How the grader is asked.
        spending: What may be sent and spent.
        as_json: Print JSON.
    """
    loaded = load_bank(bank)
    task = grading.task() | {"bank": str(bank.resolve()) if bank else None}
    run = spending.applied(Run("", None, grader, 1, task))
    folder = None if spending.dry_run else unfinished_audit(out, run)
    if folder is None:
        folder = prepare_probes(loaded, out, run)
        if (status := agreed([folder], spending, json_plan=as_json)) is not None:
            return status
        (outcome,) = work([folder], fresh=True)
    else:
        say(f"Going on with the audit in {folder}.")
        amend(folder, prices=run.prices, max_cost=run.max_cost)
        (outcome,) = work([folder])
    if not outcome.complete:
        return unfinished([outcome], folder, "the same command")
    found = agreement(loaded, folder)
    if as_json:
        print(json.dumps(_json(found, grader), indent=1))
    else:
        print_agreement(found, grader)
        say(found.sentence())
    return OK


def _json(agreement: ProbeAgreement, grader: str) -> dict[str, object]:
    return {
        "grader": grader,
        "overall": asdict(agreement.overall),
        "by_points": [
            {"rubric": rubric, "points": points, **asdict(part)}
            for (rubric, points), part in agreement.by_points.items()
        ],
        "by_trap": [{"trap": trap, **asdict(part)} for trap, part in agreement.by_trap.items()],
    }
