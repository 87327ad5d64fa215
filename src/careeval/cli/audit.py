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
from careeval.protocol.probes import audit_probes
from careeval.results.probes import ProbeAgreement

app = App(name="audit", help="Is this grader any good?")


@app.command
def probes(
    *,
    grader: str,
    bank: Path | None = None,
    out: Annotated[Path, Parameter(name=("--out", "-o"))] = Path("runs/audit"),
    grading: Grading = Grading(),
    as_json: Json = False,
) -> int:
    """Put the bank's labelled probes to a grader, and count where it agrees, by points and by trap.

    Args:
        grader: Inspect's name of the grader.
        bank: Folder of the bank; careeval's own where not given.
        out: Folder for the logs.
        grading: How the grader is asked.
        as_json: Print JSON.
    """
    task = grading.task() | {"bank": str(bank.resolve()) if bank else None}
    agreement = audit_probes(load_bank(bank), grader, out, task)
    if as_json:
        print(json.dumps(_json(agreement, grader), indent=1))
    else:
        print_agreement(agreement, grader)
        say(agreement.sentence())
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
