"""`careeval audit`: is this grader any good?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from careeval.cli.app import OK, say
from careeval.cli.audit.labelling import (
    adjudicator,
    after_leaving,
    import_,
    labelled,
    new,
    serve,
    status,
)
from careeval.cli.shared import invitations
from careeval.cli.shared.options import Grading
from careeval.cli.shared.printing import Out, Printing
from careeval.cli.shared.run_costs import Spending
from careeval.core.label import SEVERE_CLEARED, SEVERE_FOUND, N
from careeval.core.scenario import Rubric
from careeval.errors import UsageError
from careeval.files import write_text
from careeval.protocol.runs.folder import amend_run, discard
from careeval.protocol.runs.spec import Run

EXAMPLES = """\
Examples:

  careeval audit probes --grader careeval/lexical          offline, in seconds
  careeval audit probes --grader openai/gpt-4o-2024-08-06  the default grader
  careeval audit probes --grader careeval/lexical --grader openai/gpt-5.1
  careeval audit sample runs/* -o sample.json --sheet labels.csv
  careeval audit results sample.json labels.csv            against people
  careeval audit new sample.json --labellers 2 -o audit.db
    with --consent FILE --ethics TEXT --contact TEXT; prints a link for each
  careeval audit serve audit.db                            in their browsers
  careeval audit status audit.db                           who is where
  careeval audit import audit.db paper.csv --typed-by "an assistant" --hand-in
  careeval audit link audit.db r01                         for who lost theirs
  careeval audit revoke audit.db r02                       do not wait for them
  careeval audit adjudicator audit.db                      after one has left
  careeval audit backup audit.db copy.db                   while people label
  careeval audit results audit.db                          against them
  careeval audit results audit.db --format md -o audit.md  for a page

A probe is an answer whose every item is labelled: how often the grader
finds what is there, and lets pass what is not, is counted against the labels.
How it does on what systems really say, only people can tell: a sample of its
judgments is drawn for them, and their labels are held against it.
"""

app = App(name="audit", help="Is this grader any good?", help_epilogue=EXAMPLES)
for _command in (new, serve, status, adjudicator):
    app.command(_command)
app.command(import_, name="import")
invitations.Invitation(
    kind="audit",
    person="labeller",
    work="labelling",
    gave="labelled",
    off="what was labelled stands, and settling waits for them no longer",
    left=after_leaving,
).mount(app)

_Count = Annotated[int, Parameter(validator=Number(gte=0))]


@app.command
def probes(
    *,
    grader: Annotated[list[str], Parameter(negative=())],
    bank: Path | None = None,
    out: Annotated[Path, Parameter(name=("--out", "-o"))] = Path("runs/audit"),
    grading: Grading = Grading(),
    spending: Spending = Spending(),
    printing: Printing = Printing(),
) -> int:
    """Put the bank's labelled probes to graders, and count where each agrees, −2 items first.

    Args:
        grader: Inspect's name of the grader; more than one are tried side by side.
        bank: Folder of the bank; careeval's own where not given.
        out: Folder for the logs.
        grading: How the grader is asked.
        spending: What may be sent and spent.
        printing: How the result is printed.
    """
    from careeval.bank import bank_folder, load_bank
    from careeval.cli.shared.run_execution import agreed, unfinished, work
    from careeval.protocol.probe_check import prepare_probes, read_trial
    from careeval.sheets.trust.audit import probes_document
    from careeval.sheets.trust.audit_json import probes_json

    if len(set(grader)) < len(grader):
        raise UsageError("a grader is named twice", hint="name each once")
    loaded = load_bank(bank)
    task = grading.task() | {"bank": str(bank_folder(bank).resolve()) if bank else None}
    runs = [spending.applied(Run("", None, name, 1, task)) for name in grader]
    left = {} if spending.dry_run else _left(out, runs)
    new: dict[str | None, Path] = {}
    try:
        for run in runs:
            if run.grader not in left:
                new[run.grader] = prepare_probes(loaded, out, run)
    except Exception:
        for folder in new.values():
            discard(folder)
        raise
    fresh = list(new.values())
    if fresh and (status := agreed(fresh, spending, json_plan=printing.as_json)) is not None:
        return status
    for run in runs:
        if run.grader in left:
            say(f"Going on with the audit in {left[run.grader]}.")
            amend_run(left[run.grader], prices=run.prices, max_cost=run.max_cost)
    outcomes = work(list(left.values())) if left else []
    if fresh and all(outcome.complete for outcome in outcomes):
        outcomes += work(fresh, fresh=True)
    if not all(outcome.complete for outcome in outcomes):
        return unfinished(outcomes, out, "the same command")
    trials = [read_trial(loaded, (new | left)[run.grader]) for run in runs]
    about = loaded.about.name, loaded.about.version, trials
    printing.print(probes_document(*about), lambda: probes_json(*about))
    return OK


def _left(out: Path, runs: list[Run]) -> dict[str | None, Path]:
    """Grader → the folder of an audit of it like the one asked for, which is not complete."""
    from careeval.protocol.probe_check import unfinished_probe_check

    found = {run.grader: unfinished_probe_check(out, run) for run in runs}
    return {grader: folder for grader, folder in found.items() if folder is not None}


@app.command
def sample(
    *folders: Path,
    out: Annotated[Path, Parameter(name=("--out", "-o"))],
    grader: str | None = None,
    rubric: Literal["both", "ladder", "actions"] = "both",
    n: _Count = N,
    per_model: _Count | None = None,
    severe_found: _Count = SEVERE_FOUND,
    severe_cleared: _Count = SEVERE_CLEARED,
    scenario: bool = True,
    seed: int = 0,
    sheet: Path | None = None,
    printing: Printing = Printing(),
) -> int:
    """Draw judgments of a grader for people to read, by points and verdict, with known chances.

    Only the public split is drawn from. The file holds what raters may see apart from what would
    sway them, so it is not for raters to open: give them the sheet.

    Args:
        folders: What `careeval run -o` wrote to, one or more.
        out: The file to write.
        grader: Whose judgments, where several judged.
        rubric: Which rubrics to draw from.
        n: Judgments of items that are no severe errors, spread evenly over points, the grader's
            verdicts and systems.
        per_model: So many for each system, in place of --n.
        severe_found: Judgments of −2 items that the grader found, all if there are fewer.
        severe_cleared: Judgments of −2 items that it called absent.
        scenario: Show raters the scenario too; --no-scenario leaves them the response alone.
        seed: Of the drawing.
        sheet: A CSV file to write too, for raters to fill in.
        printing: How what was drawn is printed.
    """
    from careeval.protocol.tables.run_tables import read_runs
    from careeval.results.trust.audit.draw import draw
    from careeval.sheets.trust.audit import sample_document
    from careeval.sheets.trust.audit_files import sample_text, sheet_text
    from careeval.sheets.trust.audit_json import sample_json

    if not folders:
        raise UsageError(
            "name the folder of a run", hint="careeval audit sample runs/first -o FILE"
        )
    for path in (out, sheet):
        if path is not None and path.exists():
            raise UsageError(
                f"{path} is there already", hint="labels may belong to it: give another name"
            )
    runs = read_runs(*folders)
    for note in runs.notes:
        say(note)
    drawn = draw(
        runs,
        grader=grader,
        rubrics=tuple(Rubric) if rubric == "both" else (Rubric(rubric),),
        n=n,
        per_system=per_model,
        severe_found=severe_found,
        severe_cleared=severe_cleared,
        show_scenario=scenario,
        seed=seed,
    )
    write_text(out, sample_text(drawn))
    if sheet is not None:
        # with the mark by which Excel knows UTF-8
        write_text(sheet, sheet_text(drawn), encoding="utf-8-sig")
    printing.print(sample_document(drawn), lambda: sample_json(drawn))
    say(f"Written: {out}{f' and {sheet}' if sheet else ''}")
    return OK


@app.command
def results(
    sample: Path,
    labels: Path | None = None,
    *,
    out: Out = None,
    printing: Printing = Printing(),
) -> int:
    """Hold a grader's judgments against people's labels: how far both agree, and scores corrected.

    Args:
        sample: What `careeval audit new -o` wrote, with the labels that people gave in the browser;
            or what `careeval audit sample -o` wrote, with a file of labels.
        labels: CSV with the columns rater, judgment, label (present, absent or unsure), and if
            need be note, at and adjudicated (yes or no).
        out: The file to write, and not stdout.
        printing: How they are printed.
    """
    from careeval.results.trust.audit.results import audit_results
    from careeval.sheets.trust.audit import results_document
    from careeval.sheets.trust.audit_files import read_labels, read_sample
    from careeval.sheets.trust.audit_json import results_json

    if labels is None:
        drawn, given = labelled(sample)
    else:
        drawn = read_sample(sample)
        given = read_labels(labels, drawn)
    audit = audit_results(drawn, given)
    printing.print(results_document(audit), lambda: results_json(audit), out)
    return OK
