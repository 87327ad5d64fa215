"""`careeval grade`: stored responses once more, beside the judgments that exist."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from careeval.cli.app import OK, SOME_FAILED
from careeval.cli.options import Grading
from careeval.cli.show import print_summary, say, stopped
from careeval.protocol.logs import read_runs
from careeval.protocol.regrade import regrade
from careeval.protocol.run import DEFAULT_GRADER
from careeval.results.summary import summarise

app = App(name="grade")


@app.default
def grade(
    folder: Path,
    *,
    grader: str = DEFAULT_GRADER,
    bank: Path | None = None,
    grading: Grading = Grading(),
) -> int:
    """Grade the stored responses of every run in a folder again, beside the old judgments.

    Args:
        folder: What `careeval run -o` wrote to.
        grader: Inspect's name of the grader.
        bank: Folder of the bank that the run was made with; careeval's own where not given.
        grading: How the grader is asked.
    """
    outcomes = regrade(folder, grader, bank, grading.task())
    if any(outcome.interrupted for outcome in outcomes):
        return stopped(folder)
    print_summary(summarise(read_runs(folder)))
    unfinished = [outcome for outcome in outcomes if not outcome.complete]
    for outcome in unfinished:
        again = f"careeval run --resume -o {outcome.folder}"
        say(f"{outcome.n_failed} gradings failed; finish with: {again}")
    return SOME_FAILED if unfinished else OK
