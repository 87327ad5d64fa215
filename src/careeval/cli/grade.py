"""`careeval grade`: another grading of stored responses, beside the old judgments."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from careeval.bank import bank_mode
from careeval.cli.app import OK
from careeval.cli.shared.options import Count, GradingOptions
from careeval.cli.shared.run_costs import SpendingOptions
from careeval.cli.shared.run_execution import (
    confirm_prepared,
    print_summary,
    report_unfinished,
    work,
)
from careeval.protocol.allowed_addresses import check_addresses
from careeval.protocol.regrade import RegradePart, prepare_regrading
from careeval.protocol.run import Run
from careeval.protocol.run_folder import bank_of
from careeval.protocol.tables import read_runs, run_roots

EXAMPLES = """\
Examples:

Grade one response in five twice more: does the grader agree with itself?

  careeval grade runs/first --part 0.2 --times 2

All of them with another grader, or asked in another way:

  careeval grade runs/first --grader anthropic/claude-sonnet-4-5
  careeval grade runs/first --rubric ladder --grader-context scenario

Offline, by comparing words, to try it out:

  careeval grade runs/first --grader careeval/lexical

What is left of a grading that was stopped:

  careeval run --resume -o runs/first
"""

app = App(name="grade", help_epilogue=EXAMPLES)


@app.default
def grade(
    folder: Path,
    *,
    grader: str | None = None,
    bank: Path | None = None,
    part: float = 1.0,
    times: int = 1,
    part_seed: int = 0,
    max_connections: Count | None = None,
    grading: GradingOptions = GradingOptions(),
    spending: SpendingOptions = SpendingOptions(),
) -> int:
    """Grade the stored responses of every run in a folder again, beside the old judgments.

    Args:
        folder: Folder that `careeval run -o` wrote.
        grader: Inspect's name of the grader, openai/gpt-4o-2024-08-06 if not given.
        bank: Folder of the bank that the run was asked with; needed only if it has moved.
        part: Share of the responses to each scenario to grade, such as 0.2: that share of its
            epochs, rounded, and at least one, drawn from those that are not empty.
        times: How often to grade them, each time in a folder of its own and with the items in
            another order. Twice shows how much of a score's spread is due to the grader.
        part_seed: Seed of the drawing; the same one draws the same responses again.
        max_connections: Calls in flight to the grader; as many as it takes if not given.
        grading: How the grader is asked.
        spending: What may be sent and spent.
    """
    roots = run_roots(folder)
    asked_with = bank or (bank_of(roots[0]) if roots else None)
    mode = bank_mode(asked_with)
    template = Run(
        "", None, grader or mode.grader, 1, grading.task(),
        grader_base_url=grading.grader_base_url, max_connections=max_connections,
        protocol=mode.protocol,
    )  # fmt: skip
    check_addresses([template])
    regraded = RegradePart(part, times, part_seed)
    folders = prepare_regrading(folder, bank, spending.with_prices(template), regraded)
    if (status := confirm_prepared(folders, spending, address=grading.grader_base_url)) is not None:
        return status
    outcomes = work(folders, fresh=True)
    is_complete = all(outcome.complete for outcome in outcomes)
    status = OK if is_complete else report_unfinished(outcomes, folder)
    if not any(outcome.stopped for outcome in outcomes):
        print_summary(read_runs(folder))
    return status
