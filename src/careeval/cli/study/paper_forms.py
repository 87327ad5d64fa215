"""`careeval study print`: a rater's share as a form, for paper or the telephone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from careeval.cli.app import OK, print_json, say
from careeval.cli.shared.invitations import opened
from careeval.cli.shared.options import Json
from careeval.cli.study.rated_bank import BankFolder, rated_bank
from careeval.core.scenario import Split
from careeval.errors import UsageError
from careeval.files import write_text
from careeval.review.store import Store
from careeval.review.study.own_answers import HANDED_IN, has_handed_in
from careeval.review.study.plan import Seat, StudyPlan, planned_scenarios, read_plan


def print_(
    study: Path,
    raters: Annotated[Sequence[str], Parameter(negative=())] = (),
    *,
    out: Annotated[Path, Parameter(name=("--out", "-o"))],
    bank: BankFolder = None,
    large_print: Annotated[bool, Parameter(negative=())] = False,
    sheet: Annotated[bool, Parameter(name="--csv", negative=())] = False,
    as_json: Json = False,
) -> int:
    """Write a form for each rater, for who rates on paper or by telephone.

    One HTML file a rater, named by pseudonym, to be opened in a browser and printed. What comes
    back is typed, and taken with careeval study import.

    Args:
        study: The study's file.
        raters: Pseudonyms; everybody of the newest round where not given.
        out: Folder for the forms.
        bank: Folder of the bank; careeval's own where not given.
        large_print: Print in 18 points instead of 12, on about twice as many pages.
        sheet: Write beside each form the CSV sheet that it is typed into: only values are missing.
        as_json: Print JSON.
    """
    loaded = rated_bank(bank)
    with opened(study, "study", to_read=True) as store:
        plan = read_plan(store.plans("study")[-1])
        seats = _seats(plan, {rater.id for rater in store.raters()}, raters)
        _expect_answers(store, seats)
        work = store.all_work()
    shown = planned_scenarios(plan, loaded)
    from careeval.review.paper.printed_form import render_form, sheet_csv

    written = {
        out / f"{s.id}.html": render_form(plan, shown, s, work.get(s.id, {}), large=large_print)
        for s in seats
    }
    if sheet:
        # with its mark, spreadsheets take it for what it is: UTF-8
        for s in seats:
            table = sheet_csv(plan, shown, s, work.get(s.id, {}))
            written[out / f"{s.id}.csv"] = f"\ufeff{table}"
    _write(out, written)
    if as_json:
        print_json({"round": plan.round, "files": [str(path) for path in written]})
    if any(scenario.split is Split.held_out for scenario in shown.values()):
        say(
            "Held-out scenarios stand in clear text there: keep the folder, and the paper, private."
        )
    if not sheet:
        say("--csv writes the sheets too that forms are typed into, question by question.")
    say(f"Written: {len(written)} files in {out}. Print them from a browser, on one side.")
    return OK


def _seats(plan: StudyPlan, present: set[str], wanted: Sequence[str]) -> list[Seat]:
    seats = {seat.id: seat for seat in plan.seats if seat.id in present}
    for rater in wanted:
        if rater not in seats:
            raise UsageError(
                f"there is no rater {rater!r} in round {plan.round}",
                hint=f"there are {', '.join(seats) or 'none'}",
            )
    found = [seats[rater] for rater in dict.fromkeys(wanted)] or list(seats.values())
    if not found:
        raise UsageError(f"nobody of round {plan.round} is still in")
    return found


def _expect_answers(store: Store, seats: Sequence[Seat]) -> None:
    """Who writes answers of their own sees nothing of a rubric before, on paper neither."""
    owing = [
        seat.id
        for seat in seats
        if seat.answers and not has_handed_in(store.answers(seat.id, HANDED_IN))
    ]
    if owing:
        raise UsageError(
            f"still to write answers of their own, before seeing what answers are judged by: "
            f"{', '.join(owing)}",
            hint="print when they have handed them in through the app; or name other raters",
        )


def _write(folder: Path, files: dict[Path, str]) -> None:
    """All of them, or none: a sheet that somebody has filled in is never written over."""
    if there := [path for path in files if path.exists()]:
        raise UsageError(f"{there[0]} is there already", hint="name another folder")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path, text in files.items():
            write_text(path, text)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from error
