"""`careeval audit new`, `serve`, `status` and `import`: people label a sample of judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from careeval.cli.app import OK, print_json, say
from careeval.cli.shared import people
from careeval.cli.shared.options import Flag, Json, Out, Several
from careeval.cli.shared.people import local_address
from careeval.cli.shared.printing import Printing
from careeval.core.rating import Role
from careeval.core.text import counted
from careeval.errors import UsageError
from careeval.people.plan import PORTS
from careeval.people.store import Store

if TYPE_CHECKING:
    from careeval.core.rating import Label
    from careeval.people.audit.labels import LabelledAudit, LabellerProgress
    from careeval.people.audit.plan import AuditPlan
    from careeval.people.audit.sample import AuditSample
    from careeval.sheets.sheet import Document


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
    address: str = local_address("audit"),
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
    lines = "".join(f"{r.id}\t{_duty(plan, r.id)}\t{r.role}\t{urls[r.id]}\n" for r in plan.raters)
    _say_plan(plan)
    people.hand_out(urls, lines, links, lambda shown: _new_json(plan, shown), as_json=as_json)
    say(f"Written: {out}{f' and {links}' if links else ''}. Next: careeval audit serve {out}")
    return OK


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
    from careeval.people.web.app import serve as run_app

    with people.open_store(audit, "audit"):
        pass  # raises if the file is not an audit's
    run_app(
        audit,
        None,
        host=host,
        port=port,
        behind_proxy=behind_proxy,
        ready=lambda address: say(
            f"The app runs at {address}. Labellers can open their links now. Ctrl-C stops it."
        ),
    )
    return OK


def status(audit: Path, *, out: Out | None = None, printing: Printing = Printing()) -> int:
    """Show how far each labeller is, by pseudonym, and who is waited for; no label is shown.

    Args:
        audit: The audit's file.
        out: The file to write, instead of stdout.
        printing: The format.
    """
    with people.open_store(audit, "audit") as store:
        state, closed, n_withdrawn = _read(store), store.closed, store.withdrawals()
    document = _status_document(state, closed=closed)
    printing.print(document, lambda: _status_json(state, closed, n_withdrawn), out)
    return OK


def adjudicator(
    audit: Path,
    *,
    role: Role = Role.other,
    address: str = local_address("audit"),
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
        before = _plan(store)
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
        print(f"{plan.adjudicator.id}\t{_duty(plan, plan.adjudicator.id)}\t{role}\t{link}")
    say(f"This link is shown only once. If careeval audit serve {audit} is running, restart it.")
    return OK


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
        blind = _plan(store).blind()
        sheets = read_typed_labels(file, blind, store, replace=replace, hand_in=hand_in)
        n = save_typed_pages(store, sheets, typist)
        state = _read(store)
    raters = {sheet.rater for sheet in sheets}
    n_read = sum(len(sheet.values) for sheet in sheets)
    if hand_in:  # it is saved like an answer, but is not one
        n, n_read = n - len(raters), n_read - len(raters)
    if as_json:
        print_json({"n_saved": n, "n_read": n_read})
    say(f"Saved: {counted(n, 'answer')}, typed by {typist}.")
    for each in state.labelled.labellers:
        if each.rater in raters:
            note = "" if each.handed_in else ", and has not handed in: --hand-in does"
            say(f"{each.rater} has labelled {each.done} of {each.n}{note}.")
    return OK


def read_audit_labels(audit: Path) -> tuple[AuditSample, list[Label]]:
    """Return an audit's sample and all labels so far; say on stderr who has not handed in."""
    with people.open_store(audit, "audit") as store:
        state = _read(store)
    late = [each for each in state.labelled.labellers if not (each.handed_in or each.withdrawn)]
    if off := [each.rater for each in late if each.revoked]:
        say(f"Link turned off before they handed in; their labels so far count: {', '.join(off)}.")
    if awaited := [each.rater for each in late if not each.revoked]:
        say(f"Not handed in yet; their labels so far count: {', '.join(awaited)}.")
    return state.plan.sample, state.labelled.labels


def departure_notes(store: Store, person: str) -> Iterable[str]:
    """Yield notes on the labels that will be missing once a person has left."""
    state = _read(store)
    if seat := state.labelled.blind.seat(person):
        n_none, n_one = state.labelled.count_thin(person)
        yield (
            f"Of the {counted(len(seat.judgments), 'judgment')} of {person}, {n_none} will have "
            f"been labelled by nobody and {n_one} by one person alone, once everybody else has "
            "handed in."
        )
    yield from _settling_notes(state)


@dataclass(frozen=True)
class _AuditState:
    """The content of an audit's file."""

    plan: AuditPlan
    labelled: LabelledAudit


def _read(store: Store) -> _AuditState:
    from careeval.people.audit.labels import LabelledAudit

    plan = _plan(store)
    labelled = LabelledAudit(plan.blind(), store.all_work(), store.revoked_ids())
    return _AuditState(plan, labelled)


def _settling_notes(state: _AuditState) -> Iterable[str]:
    """Yield notes on how far settling is, and whom it waits for."""
    labelled = state.labelled
    if labelled.awaited:
        awaited = ", ".join(labelled.awaited)
        yield f"Settling begins when all have handed in. It waits for {awaited}."
    elif labelled.is_settling_open:
        disagreements = counted(len(labelled.disputed), "disagreement is", "disagreements are")
        yield f"{labelled.n_settled} of {disagreements} settled."
    else:
        yield "All labellers have left, or their links are off: no more labels will come."
    if not labelled.can_be_settled:
        adjudicator = state.plan.adjudicator.id
        reason = "has withdrawn. Name another adjudicator: careeval audit adjudicator"
        if adjudicator in state.labelled.revoked:
            reason = "has a link that is off. For a new link: careeval audit link"
        yield f"Disagreements cannot be settled: {adjudicator} {reason}."


def _plan(store: Store) -> AuditPlan:
    from careeval.people.audit.plan import AuditPlan

    return AuditPlan.read(store.plans("audit")[-1])


def _duty(plan: AuditPlan, rater: str) -> str:
    return "adjudicator" if rater == plan.adjudicator.id else "labeller"


def _say_plan(plan: AuditPlan) -> None:
    blind = plan.blind()
    loads = [len(seat.judgments) for seat in plan.seats]
    fewest = f"{min(loads)} to " if min(loads) < max(loads) else ""
    max_minutes = round(max(blind.minutes(seat.judgments) for seat in plan.seats))
    judgments = counted(len(blind.judgments), "judgment")
    say(
        f"{judgments} on {counted(len(plan.sample.shown), 'response')}, "
        f"{counted(len(plan.seats), 'labeller')}, {fewest}{counted(max(loads), 'judgment')} each: "
        f"about {counted(max_minutes, 'minute')} for the person with the most."
    )


def _hand_in_state(labeller: LabellerProgress) -> str:
    if labeller.withdrawn:
        return "withdrawn"
    if labeller.handed_in:
        return "yes"
    return "no, link off" if labeller.revoked else "no"


def _new_json(plan: AuditPlan, links: Mapping[str, str]) -> dict[str, Any]:
    n = {seat.id: len(seat.judgments) for seat in plan.seats}
    return {
        "title": plan.title,
        "n_judgments": len(plan.sample.hidden.drawn),
        "people": [
            {
                "id": rater.id,
                "duty": _duty(plan, rater.id),
                "role": rater.role.value,
                "n_judgments": n.get(rater.id),
                **({"link": links[rater.id]} if links else {}),
            }
            for rater in plan.raters
        ],
    }


def _status_document(state: _AuditState, *, closed: bool) -> Document:
    from careeval.sheets.kinds import COUNT, FLAG
    from careeval.sheets.sheet import Document, Field, Sheet, Shown, View

    fields = (
        Field("id", "pseudonym", head="Labeller"),
        Field("role", "in which they were asked"),
        Field("state", "whether they have handed in", head="Handed in", in_files=False),
        Field("n_judgments", "to be labelled", COUNT, "Judgments"),
        Field("n_done", "labelled", COUNT, "Done"),
        Field("n_skipped", "put off for later", COUNT, "Skipped"),
        Field("n_left", "neither labelled nor put off", COUNT, "Left", in_files=False),
        Field("handed_in", "whether they have", FLAG),
        Field("revoked", "whether their link is off", FLAG),
        Field("withdrawn", "whether they have left", FLAG),
    )
    rows = [
        _labeller_json(each)
        | {"state": _hand_in_state(each), "n_left": each.n - each.done - each.skipped}
        for each in state.labelled.labellers
    ]
    sheet = Sheet("labellers", "a labeller", fields, rows)
    shown = tuple(Shown(field.key) for field in fields[:7])
    title = f"{state.plan.title}{' · closed' if closed else ''}"
    return Document((View(sheet, shown, title),), tuple(_settling_notes(state)), sheet)


def _status_json(state: _AuditState, closed: bool, n_withdrawn: int) -> dict[str, Any]:
    labelled = state.labelled
    return {
        "title": state.plan.title,
        "closed": closed,
        "n_withdrawn": n_withdrawn,
        "labellers": [_labeller_json(each) for each in labelled.labellers],
        "waits_for": list(labelled.awaited),
        "settles": labelled.can_be_settled,
        "n_disputed": len(labelled.disputed) if labelled.is_settling_open else None,
        "n_settled": labelled.n_settled if labelled.is_settling_open else None,
    }


def _labeller_json(standing: LabellerProgress) -> dict[str, Any]:
    return {
        "id": standing.rater,
        "role": standing.role,
        "n_judgments": standing.n,
        "n_done": standing.done,
        "n_skipped": standing.skipped,
        "handed_in": standing.handed_in,
        "revoked": standing.revoked,
        "withdrawn": standing.withdrawn,
    }
