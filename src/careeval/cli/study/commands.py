"""`careeval study`: studies in which experts rate scenarios and items."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import Literal

from cyclopts import App

from careeval.bank import Bank, load_with_key
from careeval.cli.app import OK, print_json, say
from careeval.cli.shared import people
from careeval.cli.shared.options import BankFolder, Count, Flag, Json, Out, Several
from careeval.cli.shared.people import local_address
from careeval.cli.shared.printing import Printing
from careeval.cli.study.own_answers import answer
from careeval.cli.study.paper_forms import print_
from careeval.cli.study.rating_results import apply, results
from careeval.cli.study.rounds import hand_out, invite, round_, say_plan
from careeval.core.scenario import Split, Status
from careeval.core.text import counted
from careeval.errors import UsageError
from careeval.modes.prompts import load_prompts
from careeval.people.forms import FormId
from careeval.people.plan import PORTS
from careeval.people.store import Store
from careeval.people.study.plan import StudyPlan, new_plan, planned_scenarios
from careeval.protocol.selection import rubrics_named, select_scenarios

EXAMPLES = """\
Examples:

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
app.command(print_, name="print")
app.command(round_, name="round")
app.command(invite)
app.command(answer)


@app.command
def new(
    bank: Path | None = None,
    *,
    raters: Several,
    out: Out,
    consent: Path | None = None,
    ethics: str = "",
    contact: str = "",
    title: str = "Are these care situations realistic, and right?",
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
    address: str = local_address("study"),
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
    say_plan(plan, loaded)
    hand_out(plan, urls, links, as_json=as_json)
    bank_option = f" --bank {shlex.quote(str(bank))}" if bank else ""
    next_command = f"careeval study serve {shlex.quote(str(out))}{bank_option}"
    say(f"Written: {out}{f' and {links}' if links else ''}. Next: {next_command}")
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
    from careeval.people.web.app import serve as run_app

    people.expect_file(study, "study")
    run_app(
        study,
        load_with_key(bank, probes=False),
        host=host,
        port=port,
        behind_proxy=behind_proxy,
        ready=lambda address: say(
            f"The app runs at {address}. Raters can open their links now. Ctrl-C stops it."
        ),
    )
    return OK


@app.command
def status(study: Path, *, bank: BankFolder = None, printing: Printing = Printing()) -> int:
    """Show how far each rater is, by pseudonym.

    Args:
        study: The study's file.
        bank: Folder of the bank.
        printing: The format.
    """
    from careeval.cli.study.status_tables import status_document
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


app.command(results)
app.command(apply)


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


def _round(store: Store, number: int | None) -> StudyPlan:
    plans = store.plans("study")
    if number is not None and number > len(plans):
        n = counted(len(plans), "round")
        raise UsageError(
            f"{store.path} has no round {number}, only {n}", hint="leave --round out for the newest"
        )
    return StudyPlan.read(plans[(number or len(plans)) - 1])
