"""`careeval audit`: checks of a grader against labelled probes and against people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from careeval.cli.app import OK, say
from careeval.cli.audit.labelling import (
    adjudicator,
    departure_notes,
    import_,
    new,
    read_audit_labels,
    serve,
    status,
)
from careeval.cli.shared import people
from careeval.cli.shared.options import Count, GradingOptions, Out, Repeated
from careeval.cli.shared.printing import Printing
from careeval.cli.shared.run_costs import SpendingOptions
from careeval.core.rating import SEVERE_CLEARED, SEVERE_FOUND, N
from careeval.core.scenario import READ_RUBRICS, Rubric
from careeval.errors import UsageError
from careeval.files import write_text
from careeval.protocol.run import Run
from careeval.protocol.run_folder import amend_run, bank_of, read_run_file
from careeval.protocol.run_setup import discard

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
  careeval audit status audit.db                           how far each is
  careeval audit import audit.db paper.csv --typed-by "an assistant" --hand-in
  careeval audit link audit.db r01                         if a link was lost
  careeval audit revoke audit.db r02                       do not wait for them
  careeval audit adjudicator audit.db                      after one has left
  careeval audit backup audit.db copy.db                   while people label
  careeval audit results audit.db                          against them
  careeval audit results audit.db --format md -o audit.md  for a page

A probe is an answer of which every item is labelled. Against these labels it is
counted how often the grader finds what is there, and passes over what is not.
How good it is on real responses, only people can tell: they label a sample of
its judgments, and their labels are compared with the grader's.
"""

app = App(
    name="audit",
    help="Check a grader against labelled probes and against people.",
    help_epilogue=EXAMPLES,
)
for _command in (new, serve, status, adjudicator):
    app.command(_command)
app.command(import_, name="import")
people.PeopleCommands("audit", departure_notes).mount(app)

_Count = Annotated[int, Parameter(validator=Number(gte=0))]


@app.command
def probes(
    *,
    grader: Repeated,
    bank: Path | None = None,
    out: Out = Path("runs/audit"),
    max_connections: Count | None = None,
    grading: GradingOptions = GradingOptions(),
    spending: SpendingOptions = SpendingOptions(),
    printing: Printing = Printing(),
) -> int:
    """Have graders judge labelled probes; count how often each grader is right, −2 items first.

    Args:
        grader: Inspect's name of the grader; more than one are tried side by side.
        bank: Folder of the bank; if not given, that of an unfinished check, or careeval's own.
        out: Folder for the logs.
        max_connections: Calls in flight to each grader; as many as it takes if not given.
        grading: How the grader is asked.
        spending: What may be sent and spent.
        printing: The format.
    """
    from careeval.bank import bank_reference, load_bank
    from careeval.cli.shared.run_execution import confirm_prepared, report_unfinished, work
    from careeval.protocol.allowed_addresses import check_addresses
    from careeval.protocol.regrade import prepare_probes, read_trial
    from careeval.sheets.json_output import probes_json
    from careeval.sheets.labels import probes_document

    if len(set(grader)) < len(grader):
        raise UsageError("--grader has a duplicate name", hint="name each grader once")
    address = grading.grader_base_url
    if address and len(grader) > 1:
        raise UsageError(
            f"--grader-base-url is the address of one grader's server, but {len(grader)} are given",
            hint="check each grader in a command of its own",
        )
    template = Run(
        "", None, None, 1, grading.task(), grader_base_url=address, max_connections=max_connections
    )
    if bank is None and not spending.dry_run:
        # an unfinished check is resumed with its bank
        unfinished = _unfinished_folders(out, [replace(template, grader=each) for each in grader])
        names = (bank_of(folder) for folder in unfinished.values())
        bank = next((Path(name) if name else None for name in names), None)
    loaded = load_bank(bank)
    template = replace(template, task=template.task | {"bank": bank_reference(bank)})
    runs = [spending.with_prices(replace(template, grader=each)) for each in grader]
    check_addresses(runs)
    begun = {} if spending.dry_run else _unfinished_folders(out, runs)
    resumed = [read_run_file(folder) for folder in begun.values()]
    spending.agree_to_addresses(
        [replace(run, grader_base_url=address) for run in resumed], [address] if address else []
    )
    new: dict[str | None, Path] = {}
    try:
        for run in runs:
            if run.grader not in begun:
                new[run.grader] = prepare_probes(loaded, out, run)
    except Exception:
        for folder in new.values():
            discard(folder)
        raise
    if fresh := list(new.values()):
        as_json = printing.as_json
        status = confirm_prepared(fresh, spending, address=address, json_plan=as_json)
        if status is not None:
            return status
    for run in runs:
        if run.grader in begun:
            say(f"Resuming the unfinished audit in {begun[run.grader]}.")
            limits = {"max_cost": run.max_cost, "max_connections": run.max_connections}
            changes = {"prices": run.prices, **limits}
            amend_run(begun[run.grader], grader_base_url=address, **changes)
    outcomes = work(list(begun.values())) if begun else []
    if fresh and all(outcome.complete for outcome in outcomes):
        outcomes += work(fresh, fresh=True)
    if not all(outcome.complete for outcome in outcomes):
        return report_unfinished(outcomes, out, "the same command")
    trials = [read_trial(loaded, (new | begun)[run.grader]) for run in runs]
    results = loaded.about.name, loaded.about.version, trials
    printing.print(probes_document(*results), lambda: probes_json(*results))
    return OK


def _unfinished_folders(out: Path, runs: list[Run]) -> dict[str | None, Path]:
    from careeval.protocol.regrade import unfinished_probe_check

    folders = {run.grader: unfinished_probe_check(out, run) for run in runs}
    return {grader: folder for grader, folder in folders.items() if folder is not None}


@app.command
def sample(
    *folders: Path,
    out: Out,
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
    """Draw judgments of a grader for people to label, by points and verdict, with known chances.

    Only the public split is drawn from. The file also holds the grader's verdicts, which would
    sway raters, so do not let them open it: give them the sheet.

    Args:
        folders: Folders that `careeval run -o` wrote, one or more.
        out: The file to write.
        grader: The grader whose judgments are drawn, where several judged.
        rubric: Rubrics to draw from.
        n: Judgments of items that are not severe errors, spread evenly over points, the grader's
            verdicts and systems.
        per_model: Judgments of these items for each system, in place of --n.
        severe_found: Judgments of −2 items that the grader called present, all if there are fewer.
        severe_cleared: Judgments of −2 items that the grader called absent.
        scenario: Show raters the scenario too; --no-scenario shows them the response only.
        seed: Seed of the drawing.
        sheet: A CSV file to write too, for raters to fill in.
        printing: The format.
    """
    from careeval.people.audit.documents import (
        sample_document,
        sample_json,
        sample_text,
        sheet_text,
    )
    from careeval.people.audit.draw import draw
    from careeval.protocol.tables import read_runs

    if not folders:
        raise UsageError(
            "name the folder of a run", hint="careeval audit sample runs/first -o FILE"
        )
    for path in (out, sheet):
        if path is not None and path.exists():
            raise UsageError(
                f"{path} exists already",
                hint="give another file name: labels may belong to this file",
            )
    runs = read_runs(*folders)
    for note in runs.notes:
        say(note)
    drawn = draw(
        runs,
        grader=grader,
        rubrics=READ_RUBRICS if rubric == "both" else (Rubric(rubric),),
        n=n,
        per_system=per_model,
        severe_found=severe_found,
        severe_cleared=severe_cleared,
        show_scenario=scenario,
        seed=seed,
    )
    write_text(out, sample_text(drawn))
    if sheet is not None:
        # with a byte order mark, without which Excel does not read UTF-8
        write_text(sheet, sheet_text(drawn), encoding="utf-8-sig")
    printing.print(sample_document(drawn), lambda: sample_json(drawn))
    say(f"Written: {out}{f' and {sheet}' if sheet else ''}")
    return OK


@app.command
def results(
    sample: Path,
    labels: Path | None = None,
    *,
    out: Out | None = None,
    printing: Printing = Printing(),
) -> int:
    """Compare a grader's judgments with people's labels: agreement, and corrected scores.

    Args:
        sample: File that `careeval audit new -o` wrote, with the labels that people gave in the
            browser; or file that `careeval audit sample -o` wrote, with a file of labels.
        labels: CSV with the columns rater, judgment, label (present, absent or unsure), and
            optionally note, at and adjudicated (yes or no).
        out: The file to write, instead of stdout.
        printing: The format.
    """
    from careeval.people.audit.documents import (
        read_labels,
        read_sample,
        results_document,
        results_json,
    )
    from careeval.people.audit.results import audit_results

    if labels is None:
        drawn, people_labels = read_audit_labels(sample)
    else:
        drawn = read_sample(sample)
        people_labels = read_labels(labels, drawn)
    audit = audit_results(drawn, people_labels)
    printing.print(results_document(audit), lambda: results_json(audit), out)
    return OK
