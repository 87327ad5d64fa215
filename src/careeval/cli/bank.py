"""`careeval bank`: the author's loop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from careeval.bank import BankProblems, Problem, load_bank
from careeval.bank.rules import check as find_problems
from careeval.cli.app import CHECK_FAILED, OK

EXAMPLES = """\
Examples:

  careeval bank check              careeval's own bank
  careeval bank check my-bank      a bank of yours: a folder with a bank.yaml
  careeval bank check my-bank --json

Each problem has its file, line, column and code. Exit status 3 where there is
one, so that a script or a commit hook can stop at it.
"""

app = App(name="bank", help="The scenarios: check what authors write.", help_epilogue=EXAMPLES)


@app.command
def check(
    folder: Path | None = None,
    *,
    as_json: Annotated[bool, Parameter("--json", negative=())] = False,
) -> int:
    """List every problem of a bank, each with its file, line and column.

    Args:
        folder: The bank's folder; careeval's own bank where not given.
        as_json: Print the problems as JSON.
    """
    try:
        bank = load_bank(folder)
        problems: list[Problem] = find_problems(bank)
        summary = f"{len(bank)} scenarios, {sum(map(len, bank.probes.values()))} probes"
    except BankProblems as error:
        problems, summary = list(error.problems), "not loaded"
    if as_json:
        rows = [
            {"file": p.place.path, "line": p.place.line, "column": p.place.column, "code": p.code,
             "message": p.message, "hint": p.hint} for p in problems
        ]  # fmt: skip
        print(json.dumps({"problems": rows}, indent=1))
    else:
        for problem in problems:
            print(problem)
        print(
            f"{summary}: {len(problems)} problems" if problems else f"{summary}: no problem found"
        )
    return CHECK_FAILED if problems else OK
