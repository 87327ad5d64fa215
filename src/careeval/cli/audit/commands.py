"""`careeval audit`: checks of a grader against labelled probes and against people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from careeval.cli.app import OK, print_json, say
from careeval.cli.shared import people
from careeval.cli.shared.options import (
    Count,
    Flag,
    GradingOptions,
    Json,
    Out,
    Repeated,
    Several,
)
from careeval.cli.shared.printing import Printing
from careeval.cli.shared.run_costs import SpendingOptions
from careeval.core.rating import SEVERE_CLEARED, SEVERE_FOUND, N, Role
from careeval.core.scenario import READ_RUBRICS, Rubric
from careeval.core.text import counted
from careeval.errors import UsageError
from careeval.files import write_text
from careeval.people.plan import PORTS
from careeval.people.store import Store
from careeval.protocol.run import Run
from careeval.protocol.run_folder import amend_run, bank_of, read_run_file
from careeval.protocol.run_setup import discard

if TYPE_CHECKING:
    from careeval.people.audit.labels import LabelledAudit
    from careeval.people.audit.plan import AuditPlan

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


def _audit(store: Store) -> tuple[AuditPlan, LabelledAudit]:
    from careeval.people.audit.labels import read_audit

    return read_audit(store)


people.PeopleCommands("audit", lambda store, who: _audit(store)[1].departure_notes(who)).mount(app)

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
    from careeval.people.audit.sample import draw
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
        drawn, people_labels = people.read_audit_labels(sample)
    else:
        drawn = read_sample(sample)
        people_labels = read_labels(labels, drawn)
    audit = audit_results(drawn, people_labels)
    printing.print(results_document(audit), lambda: results_json(audit), out)
    return OK


# An audit that people label in the browser


@app.command
def new(
    sample: Path,
    *,
    labellers: Several,
    out: Out,
    consent: Path | None = None,
    ethics: str = "",
    contact: str = "",
    title: str = "Is this in the response?",
    adjudicator: Role = Role.other,
    per_judgment: Annotated[int, Parameter(validator=Number(gte=2))] | None = None,
    scenario: bool = True,
    seed: int = 0,
    links: Path | None = None,
    address: str = people.local_address("audit"),
    as_json: Json = False,
) -> int:
    """Plan who labels what, write the audit's file, and print each person's link, once.

    Args:
        sample: File that `careeval audit sample -o` wrote.
        labellers: How many, two or more; or role and number, as occupational-therapist:2. Roles:
            occupational-therapist family-caregiver person-with-disability nurse roboticist
            other.
        out: The audit's file.
        consent: File with the terms that labellers agree to; an empty line begins a paragraph.
            --consent, --ethics and --contact are required.
        ethics: Reference of the ethics committee's approval, or why none is needed.
        contact: The person whom labellers can ask, and how.
        title: Title that labellers see.
        adjudicator: Role of the person who settles what labellers disagree on.
        per_judgment: Labellers for each judgment; everybody if not given.
        scenario: Let labellers read the scenario; --no-scenario shows them the response only.
        seed: Seed of who labels what, and in which order.
        links: Write the links to this file, for its owner alone, instead of printing them.
        address: Where labellers will reach the app.
        as_json: Print JSON.
    """
    from careeval.people.audit.documents import read_sample
    from careeval.people.audit.plan import new_audit

    people.expect_new(out, links)
    plan = new_audit(
        read_sample(sample),
        people.roles([f"{Role.other}:{n}" if n.isdigit() else n for n in labellers]),
        title=title,
        consent=people.consent(consent, ethics, contact),
        seed=seed,
        adjudicator=adjudicator,
        per_judgment=per_judgment,
        show_scenario=scenario,
    )
    urls = people.create_file(out, "audit", plan.json_text(), plan.raters, address)
    lines = "".join(f"{r.id}\t{plan.duty(r.id)}\t{r.role}\t{urls[r.id]}\n" for r in plan.raters)
    say(plan.in_words())
    people.hand_out(urls, lines, links, plan.as_json, as_json=as_json)
    people.say_written(out, links, f"careeval audit serve {out}")
    return OK


@app.command
def serve(
    audit: Path,
    *,
    host: str = "127.0.0.1",
    port: int = PORTS["audit"],
    behind_proxy: str | None = None,
) -> int:
    """Run the labellers' app until Ctrl-C; every saved answer is kept.

    Args:
        audit: The audit's file.
        host: Address to listen on; any but this machine's own needs --behind-proxy.
        port: Port to listen on.
        behind_proxy: The https address of the proxy through which people reach the app.
    """
    return people.serve_app(audit, "audit", None, host, port, behind_proxy)


@app.command
def status(audit: Path, *, out: Out | None = None, printing: Printing = Printing()) -> int:
    """Show how far each labeller is, by pseudonym, and who is waited for; no label is shown.

    Args:
        audit: The audit's file.
        out: The file to write, instead of stdout.
        printing: The format.
    """
    from careeval.people.audit.documents import progress_document, progress_json

    with people.open_store(audit, "audit") as store:
        plan, labelled = _audit(store)
        closed, n_withdrawn = store.closed, store.withdrawals()
    printing.print(
        progress_document(plan.title, labelled, closed=closed),
        lambda: progress_json(plan.title, labelled, closed=closed, n_withdrawn=n_withdrawn),
        out,
    )
    return OK


@app.command
def adjudicator(
    audit: Path,
    *,
    role: Role = Role.other,
    address: str = people.local_address("audit"),
    as_json: Json = False,
) -> int:
    """Name a new adjudicator, once the old one has withdrawn, and print the new one's link.

    The old one's decisions were deleted when they withdrew; labels stay.

    Args:
        audit: The audit's file.
        role: Role of the new adjudicator.
        address: Where people reach the app.
        as_json: Print JSON.
    """
    from careeval.people.audit.plan import next_adjudicator

    with people.open_store(audit, "audit") as store:
        before, _ = _audit(store)
        if before.adjudicator in store.raters():
            name = before.adjudicator.id
            raise UsageError(
                f"the adjudicator, {name}, has not withdrawn, so nobody can take over",
                hint=f"for a new link of {name}: careeval audit link",
            )
        plan = next_adjudicator(before, role)
        # in this order: if the process dies between the two, the command can be repeated
        store.add_plan("audit", plan.json_text())
        link = people.link_address(address, store.add_rater(plan.adjudicator))
    if as_json:
        print_json({"id": plan.adjudicator.id, "role": role.value, "link": link})
    else:
        print(f"{plan.adjudicator.id}\t{plan.duty(plan.adjudicator.id)}\t{role}\t{link}")
    say(f"This link is shown only once. If careeval audit serve {audit} is running, restart it.")
    return OK


@app.command(name="import")
def import_(
    audit: Path,
    file: Path,
    *,
    typed_by: str,
    hand_in: Flag = False,
    replace: Flag = False,
    as_json: Json = False,
) -> int:
    """Import labels that somebody typed for labellers, all of a file or nothing.

    The file is the sheet of careeval audit sample, filled in: CSV with the columns rater, judgment,
    label, evidence and note. The judgment may be shortened, j12; the label is present, absent or
    unsure, or its first letter.

    Args:
        audit: The audit's file.
        file: The CSV file.
        typed_by: Who typed it: a role or a pseudonym, kept with each answer.
        hand_in: Hand in for the labellers in the file: from then on their labels are final.
        replace: Replace stored answers that differ.
        as_json: Print JSON.
    """
    from careeval.people.audit.labels import read_typed_labels
    from careeval.people.typed_forms import save_typed_pages

    typist = people.expect_typist(typed_by)
    with people.open_store(audit, "audit") as store:
        plan, _ = _audit(store)
        sheets = read_typed_labels(file, plan.blind(), store, replace=replace, hand_in=hand_in)
        n = save_typed_pages(store, sheets, typist)
        _, labelled = _audit(store)
    raters = {sheet.rater for sheet in sheets}
    n_read = sum(len(sheet.values) for sheet in sheets)
    if hand_in:  # it is saved like an answer, but is not one
        n, n_read = n - len(raters), n_read - len(raters)
    if as_json:
        print_json({"n_saved": n, "n_read": n_read})
    say(f"Saved: {counted(n, 'answer')}, typed by {typist}.")
    for each in labelled.labellers:
        if each.rater in raters:
            note = "" if each.handed_in else ", and has not handed in: --hand-in does"
            say(f"{each.rater} has labelled {each.done} of {each.n}{note}.")
    return OK
