"""`careeval study results` and `apply`: results of the ratings, and changes of the bank."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from careeval.bank import load_with_key
from careeval.bank.evidence_changes import apply_changes, plan_changes
from careeval.cli.app import OK, say
from careeval.cli.shared.options import BankFolder, Flag, Json, Out, is_confirmed
from careeval.cli.shared.people import open_store
from careeval.cli.shared.printing import Printing, print_in
from careeval.core.text import counted
from careeval.errors import UsageError
from careeval.people.study.plan import StudyPlan

if TYPE_CHECKING:
    from careeval.people.study.decisions import DecisionTerms
    from careeval.people.study.results import StudyResults

_Cut = Annotated[int, Parameter(validator=Number(gte=2, lte=5))]


def results(
    study: Path,
    *,
    bank: BankFolder = None,
    earlier: Annotated[list[str] | None, Parameter(negative=(), consume_multiple=True)] = None,
    printing: Printing = Printing(),
    out: Out | None = None,
    rule: Literal["paper", "lynn", "polit"] = "paper",
    cut: _Cut = 4,
    other_cut: _Cut = 3,
    without_fast: Flag = False,
) -> int:
    """Show the results: keep, revise or drop each scenario, with comments, agreement and roles.

    Args:
        study: The study's file.
        bank: Folder of the bank.
        earlier: Folders with the bank as earlier rounds had it, for the texts of its items.
        printing: The format. CSV and Parquet have one table, one row per scenario or item on a
            scale; -o writes every table.
        out: Folder for all tables as CSV and Parquet, and for the page study.html; the results
            are printed as well.
        rule: The number of raters who must endorse: the paper's at least 0.8 of them; Lynn's;
            Polit's.
        cut: The lowest rating that endorses.
        other_cut: A second cut, whose results are reported beside the first's.
        without_fast: Leave out what raters chose faster than 500 words a minute can be read.
    """
    from careeval.people.study.decisions import DecisionTerms
    from careeval.people.study.documents import study_document, study_json, write_study
    from careeval.stats.validity import EndorsementRule

    terms = DecisionTerms(EndorsementRule(rule), cut, other_cut)
    outcome = _results(study, [bank, *map(Path, earlier or ())], terms, without_fast=without_fast)
    printing.print(study_document(outcome), lambda: study_json(outcome))
    if out is not None:
        from careeval.people.study.page import write_study_page

        write_study(outcome, out)
        page = out / "study.html"
        write_study_page(outcome, page)
        if any(each.held_out for each in outcome.rounds):
            say(
                "The folder has ratings of scenarios that are held out, or in no bank that was "
                "named:\n  keep it private. Items of these scenarios are numbered, not named, and "
                "comments on\n  them are left out; the study's file has these comments."
            )
        say(f"Written: {page.resolve().as_uri()}")
    return OK


def apply(study: Path, *, bank: BankFolder = None, yes: Flag = False, as_json: Json = False) -> int:
    """Write status and evidence into the bank, after showing what will change.

    A scenario is validated where three occupational therapists and two other stakeholders rated
    both scales of the version at hand and both pass the paper's rule at the cut 4; as many were
    asked about each item of −2 points and nobody objects; and three or more rated each item and
    reject none: in this study or in another of which the bank has evidence. It is withdrawn where
    as many rated it and the results say drop; else reviewed, where it was rated. Left alone, with
    the reason, are a text that is not the one that was rated, and a status that more raters of
    another study gave.

    Args:
        study: The study's file.
        bank: Folder of the bank.
        yes: Write without asking.
        as_json: Print what changes as JSON.
    """
    from careeval.cli.study.status_tables import changes_document
    from careeval.people.study.decisions import PAPER
    from careeval.people.study.results import status_changes

    outcome = _results(study, [bank], PAPER)
    decisions = status_changes(outcome)
    loaded = load_with_key(bank, probes=False)
    changes = plan_changes(loaded, decisions)
    n_unrated = len(outcome.latest) - len(decisions)
    document = changes_document(changes, n_unrated)
    changes_json = {"n_unrated": n_unrated, "changes": document.data.rows}
    print_in("json" if as_json else "table", document, lambda: changes_json, None)
    if not any(change.vetting for change in changes):
        say("No change to the bank follows from the ratings: nothing to write.")
        return OK
    n = sum(change.vetting is not None for change in changes)
    if not yes and not is_confirmed(f"Write the status of {counted(n, 'scenario')}?"):
        if as_json:  # the JSON is printed already, and an error would print a second document
            say("Nothing was written. To write it, add --yes.")
            return OK
        raise UsageError("nothing was written", hint="to write it, add --yes")
    applied = apply_changes(loaded, changes)
    say(f"Written: {' and '.join(map(str, applied.files))}")
    for line in applied.to_do:
        say(f"To do: {line}")
    return OK


def _results(
    study: Path,
    folders: Sequence[Path | None],
    terms: DecisionTerms,
    *,
    without_fast: bool = False,
) -> StudyResults:
    from careeval.people.study.results import study_results
    from careeval.people.study.rounds import read_rounds

    banks = [load_with_key(folder, probes=False) for folder in folders]
    with open_store(study, "study") as store:
        plans = store.plans("study")
        rounds = read_rounds(store, banks)
        n_withdrawn, closed = store.withdrawals(), store.closed
    for note in filter(None, (each.note for each in rounds)):
        say(note)
    if not closed:
        close = "To close it: careeval study close"
        say(f"The study is still open, so these numbers may change. {close}")
    plan = StudyPlan.read(plans[-1])
    return study_results(
        plan.title,
        plan.study_id,
        plan.bank,
        plan.bank_version,
        rounds,
        terms=terms,
        n_withdrawn=n_withdrawn,
        without_fast=without_fast,
    )
