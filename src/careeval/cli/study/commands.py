"""`careeval study`: studies in which experts rate scenarios and items."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from careeval.bank import Bank, load_with_key
from careeval.bank.evidence_changes import apply_changes, plan_changes
from careeval.cli.app import OK, print_json, say
from careeval.cli.shared import people
from careeval.cli.shared.options import BankFolder, Count, Flag, Json, Out, Several, is_confirmed
from careeval.cli.shared.printing import Printing, print_in
from careeval.core.scenario import Rubric, Scenario, Split, Status
from careeval.core.text import counted
from careeval.errors import UsageError
from careeval.files import write_text
from careeval.modes.prompts import load_prompts
from careeval.people.forms import FormId
from careeval.people.plan import PORTS
from careeval.people.store import Store, Work
from careeval.people.study.plan import (
    StudyPlan,
    last_rounds,
    new_plan,
    next_round,
    planned_scenarios,
    with_raters,
    with_replacement,
)
from careeval.people.study.questions import plan_in_words
from careeval.protocol.selection import rubrics_named, select_scenarios

if TYPE_CHECKING:
    from careeval.people.study.decisions import DecisionTerms
    from careeval.people.study.results import StudyResults

_Cut = Annotated[int, Parameter(validator=Number(gte=2, lte=5))]

_TITLE = "Are these care situations realistic, and right?"

EXAMPLES = """\
Examples:

  careeval study kit -o my-study                a first study, and its texts
  careeval study new --raters occupational-therapist:5 roboticist:3 -o study.db
    with --consent FILE --ethics TEXT --contact TEXT; prints each link
  careeval study serve study.db                 on this machine alone
  careeval study serve study.db --behind-proxy https://rate.example.org
  careeval study status study.db                how far each rater is
  careeval study print study.db r03 --csv -o p  a form, and its sheet
  careeval study import study.db p/r03.csv --typed-by "a research assistant"
  careeval study answer study.db -o a.jsonl     what experts would do
  careeval study results study.db -o results    tables, CSV, Parquet, a page
  careeval study round study.db --bank my-bank  rate again what was revised
  careeval study apply study.db --bank my-bank  status and evidence into it
  careeval study link study.db r03              a new link for a lost one
  careeval study invite study.db roboticist:1   one more rater
  careeval study consented study.db r03 --typed-by "a research assistant"
  careeval study terms study.db --consent new.txt   all agree anew
  careeval study invite study.db --replace r03  somebody else in r03's place
  careeval study backup study.db copy.db        while people rate
  careeval study close study.db                 nobody sees or changes anything

A study is one file. It holds no rater's name: keep the list of names and links
apart. Links are printed once, since the file holds only their hashes.
"""

app = App(
    name="study",
    help="Have experts rate how realistic and valid the scenarios are.",
    help_epilogue=EXAMPLES,
)
people.PeopleCommands("study").mount(app)


@app.command
def new(
    bank: Path | None = None,
    *,
    raters: Several,
    out: Out,
    consent: Path | None = None,
    ethics: str = "",
    contact: str = "",
    title: str = _TITLE,
    adl: Several | None = None,
    scenario: Several | None = None,
    split: Literal["public", "held-out"] = "public",
    limit: Count | None = None,
    items: Flag = False,
    points: Flag = False,
    rubric: Literal["both", "ladder", "actions"] = "both",
    per_rater: Count | None = None,
    raters_per_scenario: Count | None = None,
    answers: Count | None = None,
    seed: int = 0,
    links: Path | None = None,
    address: str = people.local_address("study"),
    as_json: Json = False,
) -> int:
    """Plan who rates what, write the study's file, and print each rater's link, once.

    Args:
        bank: Folder of the bank; careeval's own if not given.
        raters: Role and number, as occupational-therapist:5. Roles: occupational-therapist
            family-caregiver person-with-disability nurse roboticist other.
        out: The study's file.
        consent: File with the terms that raters agree to; an empty line begins a paragraph.
            --consent, --ethics and --contact are required.
        ethics: Reference of the ethics committee's approval, or why none is needed.
        contact: The person whom raters can ask, and how.
        title: Title that raters see.
        adl: Only these activities.
        scenario: Only these scenarios.
        split: Public or held-out scenarios.
        limit: At most this many scenarios, taken from the activities in turn.
        items: Have the rubrics' items rated on their relevance too.
        points: Ask about the items' provisional points too. A scenario can be validated only if
            items and points of both rubrics are rated.
        rubric: Rubrics whose items and points are rated.
        per_rater: At most this many scenarios for each rater.
        raters_per_scenario: Raters for each scenario; everybody if not given.
        answers: First have each rater write an answer of their own to this many of their scenarios,
            before they see anything of a rubric.
        seed: Seed of who rates what, and in which order.
        links: Write the links to this file, for its owner alone, instead of printing them.
        address: Where raters will reach the app.
        as_json: Print JSON.
    """
    people.expect_new(out, links)
    loaded = load_with_key(bank, probes=False)
    chosen = _rated_scenarios(loaded, Split(split), adl or (), scenario or (), limit)
    plan = new_plan(
        loaded,
        people.roles(raters),
        title=title,
        consent=people.consent(consent, ethics, contact),
        seed=seed,
        scenarios=chosen,
        rubrics=rubrics_named(rubric),
        relevance=items,
        points=points,
        per_rater=per_rater,
        raters_per_scenario=raters_per_scenario,
        answers=answers or 0,
        told=load_prompts(loaded.mode).texts["ask-format.md"],  # the same as for models
        study_id=token_hex(8),
    )
    raters_planned = [seat.rater for seat in plan.seats]
    urls = people.create_file(out, "study", plan.json_text(), raters_planned, address)
    _say_plan(plan, planned_scenarios(plan, loaded))
    _hand_out(plan, urls, links, as_json=as_json)
    bank_option = f" --bank {shlex.quote(str(bank))}" if bank else ""
    people.say_written(out, links, f"careeval study serve {shlex.quote(str(out))}{bank_option}")
    return OK


@app.command
def kit(
    *,
    out: Out,
    raters: Several | None = None,
    ethics: str = "",
    contact: str = "",
    seed: int = 0,
    address: str = people.local_address("study"),
) -> int:
    """Write a folder for a first study: twelve scenarios for an hour, its file, and its texts.

    The README.md in it says what to do before, on the day and afterwards. Each rater rates two
    scenarios of each activity, with the relevance of every action.

    Args:
        out: The folder; an existing one must be empty.
        raters: Role and number, three people or more in all. If not given: eight occupational
            therapists and four family caregivers.
        ethics: Reference of the ethics committee's approval, or why none is needed; a gap if not
            given.
        contact: The person whom raters can ask, and how; a gap if not given.
        seed: Seed of which scenarios are drawn, and of their order.
        address: Where raters will reach the app.
    """
    from careeval.people.study.kit import RATERS, draw_for_kit, kit_consent, kit_texts
    from careeval.stats.validity import MIN_RATERS

    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise UsageError(f"{out} exists and is not an empty folder", hint="choose another folder")
    bank = load_with_key(None, probes=False)
    roles = people.roles(raters or RATERS)
    if len(roles) < MIN_RATERS:
        raise UsageError(
            f"{counted(len(roles), 'rater')} would decide nothing",
            hint=f"plan {MIN_RATERS} or more, as in --raters {' '.join(RATERS)}",
        )
    plan = new_plan(
        bank,
        roles,
        title=_TITLE,
        consent=kit_consent(ethics.strip(), contact.strip()),
        seed=seed,
        scenarios=draw_for_kit(bank, seed),
        rubrics=[Rubric.actions],
        points=False,
        study_id=token_hex(8),
    )
    scenarios = planned_scenarios(plan, bank)
    _write(out, kit_texts(plan, scenarios, bank))
    study, links = out / "study.db", out / "links.tsv"
    raters_planned = [seat.rater for seat in plan.seats]
    urls = people.create_file(study, "study", plan.json_text(), raters_planned, address)
    _say_plan(plan, scenarios)
    _hand_out(plan, urls, links, as_json=False)
    say(f"Written: {out}. Next: fill in what is in [brackets], as {out / 'README.md'} says.")
    return OK


@app.command
def serve(
    study: Path,
    *,
    bank: BankFolder = None,
    host: str = "127.0.0.1",
    port: int = PORTS["study"],
    behind_proxy: str | None = None,
) -> int:
    """Run the raters' app until Ctrl-C; every saved answer is kept.

    Args:
        study: The study's file.
        bank: Folder of the bank, as it was when the round was planned.
        host: Address to listen on; any but this machine's own needs --behind-proxy.
        port: Port to listen on.
        behind_proxy: The https address of the proxy through which people reach the app.
    """
    with people.open_store(study, "study") as store:
        _check_gaps(_round(store, None), study, behind_proxy)
    loaded = load_with_key(bank, probes=False)
    return people.serve_app(study, "study", loaded, host, port, behind_proxy)


@app.command
def status(study: Path, *, bank: BankFolder = None, printing: Printing = Printing()) -> int:
    """Show how far each rater is, by pseudonym.

    Args:
        study: The study's file.
        bank: Folder of the bank.
        printing: The format.
    """
    from careeval.people.study.documents import status_document
    from careeval.people.study.rounds import rater_progress

    loaded = load_with_key(bank, probes=False)
    with people.open_store(study, "study") as store:
        plan = _round(store, None)
        raters = rater_progress(store, plan, planned_scenarios(plan, loaded))
        closed, n_withdrawn = store.closed, store.withdrawals()
    document = status_document(plan, raters, closed, n_withdrawn)
    status_json = {
        "title": plan.title,
        "round": plan.round,
        "closed": closed,
        "n_withdrawn": n_withdrawn,
        "raters": document.data.rows,
    }
    printing.print(document, lambda: status_json)
    return OK


@app.command(name="import")
def import_(
    study: Path,
    file: Path,
    *,
    typed_by: str,
    bank: BankFolder = None,
    round: Count | None = None,
    replace: Flag = False,
    as_json: Json = False,
) -> int:
    """Import ratings that somebody typed for raters, all of a file or nothing.

    The file is CSV with the columns rater, scenario, scale, item, value and comment. The scale is
    realism, validity, relevance, points or comment; an empty scale of an item means relevance.
    Rows whose value and comment are empty count as not answered.

    Args:
        study: The study's file.
        file: The CSV file.
        typed_by: Who typed it: a role or a pseudonym, kept with each answer.
        bank: Folder of the bank, as it was when the round was planned.
        round: Round of the forms; the newest if not given.
        replace: Replace stored answers that differ.
        as_json: Print JSON.
    """
    from careeval.people.paper import read_typed_ratings
    from careeval.people.typed_forms import save_typed_pages

    typist = people.expect_typist(typed_by)
    loaded = load_with_key(bank, probes=False)
    with people.open_store(study, "study") as store:
        plan = _round(store, round)
        sheets = read_typed_ratings(
            file, plan, planned_scenarios(plan, loaded), store, replace=replace
        )
        n = save_typed_pages(store, sheets, typist)
    if as_json:
        print_json({"n_saved": n, "n_read": sum(len(sheet.values) for sheet in sheets)})
    say(f"Saved: {counted(n, 'answer')}, typed by {typist}.")
    return OK


@app.command
def consented(study: Path, rater: str, *, typed_by: str) -> int:
    """Record that a rater agreed to the terms on paper, so that status and results count it.

    Keep the signed form apart from the study: it has a name on it.

    Args:
        study: The study's file.
        rater: Pseudonym.
        typed_by: Who saw the signed form: a role or a pseudonym, kept with the record.
    """
    from careeval.people.deck import CONSENT

    typist = people.expect_typist(typed_by)
    with people.open_store(study, "study") as store:
        people.expect_person(store, rater)
        terms = StudyPlan.read(store.plans("study")[-1]).consent
        form = FormId.new(store.newest(rater, CONSENT))
        store.save(rater, CONSENT, {"given": terms.digest}, form, typed_by=typist)
    say(f"Recorded: {rater} agreed on paper, as {typist} says.")
    return OK


@app.command
def terms(study: Path, *, consent: Path | None = None, ethics: str = "", contact: str = "") -> int:
    """Change the terms that raters agree to; each rater is asked to agree to the new ones.

    An option that is not given leaves its part as it is. Answers stay, but nobody can go on before
    they have agreed again.

    Args:
        study: The study's file.
        consent: File with the terms; an empty line begins a paragraph.
        ethics: Reference of the ethics committee's approval, or why none is needed.
        contact: The person whom raters can ask, and how.
    """
    with people.open_store(study, "study") as store:
        plan = StudyPlan.read(store.plans("study")[-1])
        old_terms = plan.consent
        new_terms = people.consent(
            consent, ethics or old_terms.ethics, contact or old_terms.contact, old_terms.text
        )
        if new_terms == old_terms:
            raise UsageError(
                "nothing to change: the study has these terms already",
                hint="change a part with --consent FILE, --ethics or --contact",
            )
        store.amend_plan(plan.model_copy(update={"consent": new_terms}).json_text())
    say(f"The terms have changed. If careeval study serve {study} is running, restart it.")
    return OK


@app.command
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
    outcome = _read_results(
        study, [bank, *map(Path, earlier or ())], terms, without_fast=without_fast
    )
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


@app.command
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
    from careeval.people.study.decisions import PAPER
    from careeval.people.study.documents import changes_document
    from careeval.people.study.results import status_changes

    outcome = _read_results(study, [bank], PAPER)
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


@app.command(name="round")
def round_(
    study: Path,
    scenarios: Annotated[Sequence[str], Parameter(negative=())] = (),
    *,
    bank: BankFolder = None,
    items: Flag = False,
    points: Flag = False,
    rubric: Literal["both", "ladder", "actions"] | None = None,
    yes: Flag = False,
    as_json: Json = False,
) -> int:
    """Plan the next round: raters of a scenario that was revised since rate its new version.

    It ends the round before, and prints how much of that is rated before it asks you to confirm.
    The links stay the same, both rounds are kept and reported, and paper forms of the old one can
    still be imported. The questions are those of the round before, and those that options add.

    Args:
        study: The study's file.
        scenarios: Scenarios to rate; if not given, every one whose version has risen since it
            was last rated, and that is not withdrawn.
        bank: Folder of the bank, with the scenarios as revised.
        items: Have the rubrics' items rated on their relevance too.
        points: Ask about the items' provisional points too.
        rubric: Rubrics whose items and points are rated; if not given, those of the last round,
            else both.
        yes: Plan it without asking.
        as_json: Print JSON.
    """
    from careeval.people.study.own_answers import raters_who_handed_in
    from careeval.people.study.rounds import end_of_round

    loaded = load_with_key(bank, probes=False)
    with people.open_store(study, "study") as store:
        plans = [StudyPlan.read(text) for text in store.plans("study")]
        work = store.all_work()
        versions = {s.id: s.version for s in loaded.scenarios if s.status is not Status.withdrawn}
        last = last_rounds(plans)
        risen = [n for n, plan in last.items() if versions.get(n, 0) > plan.rated(n).version]
        if not (chosen := list(scenarios) or risen):
            raise UsageError(
                "no scenario of this study has a higher version in this bank than when it "
                "was last rated",
                hint="raise the version of each revised scenario, or name its bank with --bank",
            )
        further = next_round(
            plans,
            loaded,
            chosen,
            store.raters(),
            raters_who_handed_in(store),
            {n: [r for r in work if work[r].get(plan.task(n))] for n, plan in last.items()},
            relevance=items,
            points=points,
            rubrics=rubrics_named(rubric) if rubric else (),
        )
        if not further.seats:
            raise UsageError(
                "all raters of these scenarios have left the study",
                hint="name other scenarios, or invite raters: careeval study invite",
            )
        _say_plan(further, planned_scenarios(further, loaded), work)
        say(end_of_round(plans[-1], work))
        if not (yes or is_confirmed(f"Plan round {further.round}?")):
            raise UsageError("no round was planned", hint="to plan the round, add --yes")
        store.add_plan("study", further.json_text())
    if as_json:
        print_json(further.as_json({}))
    say(
        f"Round {further.round} is planned. If careeval study serve {study} is running, restart it."
    )
    return OK


@app.command
def invite(
    study: Path,
    raters: Annotated[Sequence[str], Parameter(negative=())] = (),
    *,
    replace: str | None = None,
    bank: BankFolder = None,
    links: Path | None = None,
    address: str = people.local_address("study"),
    as_json: Json = False,
) -> int:
    """Add raters to the newest round, or put somebody new in a rater's place; print the links.

    Further raters get the scenarios that have the fewest raters. A replacement gets the scenarios
    of the rater before, with a new pseudonym and a new link, and sees none of their answers. The
    old link is switched off, and what was answered with it is kept unless the rater withdraws.

    Args:
        study: The study's file.
        raters: Role and number, as occupational-therapist:2.
        replace: The rater to replace by somebody in the same role.
        bank: Folder of the bank.
        links: Write the links to this file, for its owner alone, instead of printing them.
        address: Where raters reach the app.
        as_json: Print JSON.
    """
    if bool(raters) == bool(replace):
        raise UsageError(
            "give either raters to invite, or one rater to replace",
            hint="write roles with numbers, as roboticist:2, or --replace RATER",
        )
    if links is not None:
        people.expect_new(links, None)
    loaded, roles = load_with_key(bank, probes=False), people.roles(raters)
    with people.open_store(study, "study") as store:
        plans = [StudyPlan.read(text) for text in store.plans("study")]
        plan = plans[-1]
        taken = {seat.id for each in plans for seat in each.seats}
        if replace:
            people.expect_person(store, replace)
            amended = with_replacement(plan, replace, taken)
        else:
            amended = with_raters(plan, roles, taken, {s.id: s.family for s in loaded.scenarios})
        seats = amended.seats[len(plan.seats) :]
        urls = {s.id: people.link_address(address, store.add_rater(s.rater)) for s in seats}
        store.amend_plan(amended.json_text())
        if replace:
            store.revoke(replace)
    _say_plan(amended, planned_scenarios(amended, loaded))
    new_raters = amended.model_copy(update={"seats": seats})
    _hand_out(new_raters, urls, links, as_json=as_json)
    if replace:
        say(f"The link of {replace} is off now. Their answers are kept.")
    say(f"If careeval study serve {study} is running, restart it.")
    return OK


@app.command(name="print")
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
    from careeval.people.paper import paper_files, seats_to_print

    loaded = load_with_key(bank, probes=False)
    with people.open_store(study, "study") as store:
        plan = _round(store, None)
        _check_gaps(plan, study, None)
        seats = seats_to_print(plan, store, raters)
        work = store.all_work()
    shown = planned_scenarios(plan, loaded)
    texts = paper_files(plan, shown, seats, work, large=large_print, sheets=sheet)
    _write(out, texts)
    if as_json:
        print_json({"round": plan.round, "files": [str(out / name) for name in texts]})
    if any(scenario.split is Split.held_out for scenario in shown.values()):
        private = "keep the folder and the paper private"
        say(f"The forms show held-out scenarios, not encrypted: {private}.")
    if not sheet:
        say("To also write the sheets into which the forms are typed, add --csv.")
    say(f"Written: {len(texts)} files in {out}. Print them from a browser, on one side.")
    return OK


@app.command
def answer(
    study: Path,
    *,
    out: Out,
    by: Literal["all", "role"] = "all",
    bank: BankFolder = None,
    as_json: Json = False,
) -> int:
    """Write the answers that experts wrote before they saw a rubric, for run --responses.

    Only answers that were handed in are written, of raters who have not withdrawn, and to the
    bank's present version of a scenario. The answers to a scenario are numbered in a random order,
    and no pseudonym is in the file.

    Args:
        study: The study's file.
        out: The file to write, JSON lines; an existing one is not overwritten.
        by: All as one system, experts, or a system for each role.
        bank: Folder of the bank; careeval's own if not given.
        as_json: Print what was written, and what is missing, as JSON.
    """
    from careeval.people.study.own_answers import (
        answers_by_system,
        answers_json,
        read_expert_answers,
        response_lines,
    )

    if out.exists():
        raise UsageError(f"{out} exists already", hint="choose another name")
    if not out.parent.is_dir():
        raise UsageError(f"folder {out.parent} does not exist", hint="create the folder first")
    loaded = load_with_key(bank, probes=False)
    with people.open_store(study, "study") as store:
        handed_in = read_expert_answers(store, loaded)
    if not handed_in.answers:
        hint = "nobody has handed in an answer; to ask for answers: careeval study new --answers N"
        reasons = "; ".join(handed_in.left_out)
        raise UsageError("this study has no answers to write", hint=reasons or hint)
    lines = response_lines(handed_in.answers, by)
    names = {answer.scenario for answer in handed_in.answers}
    held_out = any(loaded.scenario(name).split is Split.held_out for name in names)
    text = "".join(
        line.model_dump_json(include={"scenario", "epoch", "response", "system"}) + "\n"
        for line in lines
    )
    write_text(out, text, mode=0o600 if held_out else 0o666)
    systems = answers_by_system(lines)
    if as_json:
        print_json(answers_json(handed_in, systems))
    for line in chain.from_iterable(each.in_words() for each in systems):
        say(line)
    if handed_in.unanswered:
        say(f"Not in the file, since nobody answered them: {', '.join(handed_in.unanswered)}")
    for line in handed_in.left_out:
        say(line)
    alone = handed_in.lone_roles
    if alone and by == "role":
        say(
            f"Only one person has the role {' or '.join(alone)}, so readers may guess who it is. "
            "Consider this before you share the file."
        )
    if held_out:
        say("The file has answers to held-out scenarios, not encrypted: keep it private.")
    options = (f" --bank {bank}" if bank else "") + (" --split held-out" if held_out else "")
    say(f"Written: {out}. Next: careeval run --responses {out}{options}")
    return OK


def _read_results(
    study: Path,
    folders: Sequence[Path | None],
    terms: DecisionTerms,
    *,
    without_fast: bool = False,
) -> StudyResults:
    from careeval.people.study.results import read_results

    banks = [load_with_key(folder, probes=False) for folder in folders]
    with people.open_store(study, "study") as store:
        outcome = read_results(store, banks, terms=terms, without_fast=without_fast)
        closed = store.closed
    for note in filter(None, (each.note for each in outcome.rounds)):
        say(note)
    if not closed:
        close = "To close it: careeval study close"
        say(f"The study is still open, so these numbers may change. {close}")
    return outcome


def _hand_out(
    plan: StudyPlan, urls: Mapping[str, str], links: Path | None, *, as_json: bool
) -> None:
    lines = "".join(f"{seat.id}\t{seat.role}\t{urls[seat.id]}\n" for seat in plan.seats)
    people.hand_out(urls, lines, links, plan.as_json, as_json=as_json)


def _say_plan(
    plan: StudyPlan, scenarios: Mapping[str, Scenario], work: Mapping[str, Work] = {}
) -> None:
    for line in plan_in_words(plan, scenarios, work):
        say(line)


def _write(folder: Path, files: Mapping[str, str]) -> None:
    """Write all files, or none if one of them exists, since it may be a filled-in sheet."""
    if existing := [folder / name for name in files if (folder / name).exists()]:
        raise UsageError(f"{existing[0]} exists already", hint="choose another folder")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, text in files.items():
            write_text(folder / name, text)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from error


def _rated_scenarios(
    bank: Bank, split: Split, adls: Sequence[str], names: Sequence[str], limit: int | None
) -> list[str]:
    """Return the ids of the scenarios to rate; raise UsageError if a control is among them."""
    scenarios = select_scenarios(bank, split, adls, names)
    rated = replace(bank, scenarios=tuple(s for s in scenarios if s.status is not Status.withdrawn))
    if controls := [s.id for s in rated.scenarios if s.control is not None]:
        raise UsageError(
            f"{', '.join(controls)} cannot be rated: a control has no items of its own, but "
            "its base's",
            hint="leave the controls out, or name their bases",
        )
    ids = [s.id for s in rated.scenarios]
    return [s.id for s in select_scenarios(rated, split, ids=ids, limit=limit)]


def _check_gaps(plan: StudyPlan, study: Path, behind_proxy: str | None) -> None:
    """Say which gaps raters would read in a kit's terms; refuse to let them in from elsewhere."""
    from careeval.people.study.kit import gaps_left

    if gaps := gaps_left(plan.consent):
        problem = f"the terms that raters agree to still have gaps: {', '.join(gaps)}"
        fill = f"careeval study terms {study} --consent FILE --ethics TEXT --contact TEXT"
        if behind_proxy:
            raise UsageError(problem, hint=f"to fill them in: {fill}")
        say(f"Only to try it: {problem}. To fill them in: {fill}")


def _round(store: Store, number: int | None) -> StudyPlan:
    plans = store.plans("study")
    if number is not None and number > len(plans):
        n = counted(len(plans), "round")
        raise UsageError(
            f"{store.path} has no round {number}, only {n}", hint="leave --round out for the newest"
        )
    return StudyPlan.read(plans[(number or len(plans)) - 1])
