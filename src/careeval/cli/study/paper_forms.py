"""`careeval study print`: forms of raters' scenarios, for rating on paper or by telephone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from careeval.bank import load_with_key
from careeval.cli.app import OK, print_json, say
from careeval.cli.shared.options import BankFolder, Flag, Json, Out
from careeval.cli.shared.people import open_store
from careeval.core.scenario import Split
from careeval.errors import UsageError
from careeval.files import write_text
from careeval.people.store import Store
from careeval.people.study.plan import Seat, StudyPlan, planned_scenarios
from careeval.people.study.questions import HANDED_IN


def print_(
    study: Path,
    raters: Annotated[Sequence[str], Parameter(negative=())] = (),
    *,
    out: Out,
    bank: BankFolder = None,
    large_print: Flag = False,
    sheet: Annotated[bool, Parameter(name="--csv", negative=())] = False,
    as_json: Json = False,
) -> int:
    """Write a form for each rater, for rating on paper or by telephone.

    Each rater has one HTML file, named by pseudonym, to be opened in a browser and printed. The
    answers are typed into a CSV file and imported with careeval study import.

    Args:
        study: The study's file.
        raters: Pseudonyms; everybody of the newest round if not given.
        out: Folder for the forms.
        bank: Folder of the bank; careeval's own if not given.
        large_print: Print in 18 points instead of 12, on about twice as many pages.
        sheet: Also write for each form the CSV sheet that it is typed into; only values are to be
            filled in.
        as_json: Print JSON.
    """
    loaded = load_with_key(bank, probes=False)
    with open_store(study, "study") as store:
        plan = StudyPlan.read(store.plans("study")[-1])
        seats = _seats(plan, {rater.id for rater in store.raters()}, raters)
        _expect_answers(store, seats)
        work = store.all_work()
    shown = planned_scenarios(plan, loaded)
    from careeval.people.paper import render_form, sheet_csv

    texts = {
        out / f"{s.id}.html": render_form(plan, shown, s, work.get(s.id, {}), large=large_print)
        for s in seats
    }
    if sheet:
        # with a byte order mark, without which spreadsheets may not read UTF-8
        for seat in seats:
            table = sheet_csv(plan, shown, seat, work.get(seat.id, {}))
            texts[out / f"{seat.id}.csv"] = f"\ufeff{table}"
    _write(out, texts)
    if as_json:
        print_json({"round": plan.round, "files": [str(path) for path in texts]})
    if any(scenario.split is Split.held_out for scenario in shown.values()):
        private = "keep the folder and the paper private"
        say(f"The forms show held-out scenarios, not encrypted: {private}.")
    if not sheet:
        say("To also write the sheets into which the forms are typed, add --csv.")
    say(f"Written: {len(texts)} files in {out}. Print them from a browser, on one side.")
    return OK


def _seats(plan: StudyPlan, present: set[str], wanted: Sequence[str]) -> list[Seat]:
    seats = {seat.id: seat for seat in plan.seats if seat.id in present}
    for rater in wanted:
        if rater not in seats:
            raise UsageError(
                f"round {plan.round} has no rater {rater!r}, or they have withdrawn",
                hint=f"choose from {', '.join(seats) or 'none'}",
            )
    chosen = [seats[rater] for rater in dict.fromkeys(wanted)] or list(seats.values())
    if not chosen:
        raise UsageError(
            f"all raters of round {plan.round} have withdrawn, so there is no form to print",
            hint="invite raters: careeval study invite",
        )
    return chosen


def _expect_answers(store: Store, seats: Sequence[Seat]) -> None:
    """Refuse forms, which show the rubric, for raters who still have to hand in own answers."""
    not_handed_in = [
        seat.id for seat in seats if seat.answers and not store.answers(seat.id, HANDED_IN)
    ]
    if not_handed_in:
        raise UsageError(
            "forms show the rubric, but these raters have not handed in their own answers yet: "
            f"{', '.join(not_handed_in)}",
            hint="let them hand in through the app, then print; or name other raters",
        )


def _write(folder: Path, files: dict[Path, str]) -> None:
    """Write all files, or none if one of them exists, since it may be a filled-in sheet."""
    if existing := [path for path in files if path.exists()]:
        raise UsageError(f"{existing[0]} exists already", hint="choose another folder")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path, text in files.items():
            write_text(path, text)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from error
