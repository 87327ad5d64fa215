"""`careeval audit new`, `serve`, `status` and `link`: people label a sample in the browser."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from careeval.cli import invited
from careeval.cli.app import OK
from careeval.cli.invited import ADDRESS
from careeval.cli.options import Json
from careeval.cli.show import say
from careeval.cli.tables import console, new_table
from careeval.core.label import Label
from careeval.core.rating import Role
from careeval.errors import UsageError
from careeval.results.audit_files import read_sample
from careeval.results.audit_sample import Sample
from careeval.review.audit import AuditPlan, Blind, new_audit, read_audit_plan
from careeval.review.labels import Standing, Works, labels, n_settled, standings
from careeval.review.store import Store

_Some = Annotated[list[str], Parameter(negative=(), consume_multiple=True)]


def new(
    sample: Path,
    *,
    labellers: _Some,
    out: Annotated[Path, Parameter(name=("--out", "-o"))],
    consent: Path | None = None,
    ethics: str = "",
    contact: str = "",
    title: str = "Is this in the response?",
    adjudicator: Role = Role.other,
    per_judgment: Annotated[int, Parameter(validator=Number(gte=2))] | None = None,
    scenario: bool = True,
    seed: int = 0,
    links: Path | None = None,
    address: str = ADDRESS,
    as_json: Json = False,
) -> int:
    """Plan who labels what, write the audit's file, and print each person's link, once.

    Args:
        sample: What `careeval audit sample -o` wrote.
        labellers: How many, two or more; or role and number, as occupational-therapist:2. Roles:
            occupational-therapist family-caregiver person-with-disability roboticist other.
        out: The audit's file.
        consent: File with what labellers agree to; an empty line begins a paragraph. Needed, as
            are the next two: nobody is asked without.
        ethics: Reference of the ethics committee's approval, or why none is needed.
        contact: Whom labellers ask, and how.
        title: What labellers see.
        adjudicator: Role of whoever settles what labellers disagree on.
        per_judgment: So many labellers a judgment; everybody where not given.
        scenario: Let labellers read the scenario; --no-scenario leaves them the response alone.
        seed: Of who labels what, and in which order.
        links: Write the links to this file, for its owner alone, instead of printing them.
        address: Where labellers will reach the app.
        as_json: Print JSON.
    """
    for path in (out, links):
        if path is not None and path.exists():
            raise UsageError(f"{path} is there already", hint="give another name")
    plan = new_audit(
        read_sample(sample),
        invited.roles([f"{Role.other}:{each}" if each.isdigit() else each for each in labellers]),
        title=title,
        consent=invited.consent(consent, ethics, contact),
        seed=seed,
        adjudicator=adjudicator,
        per_judgment=per_judgment,
        show_scenario=scenario,
    )
    store = Store.create(out, "audit", plan.json_text())
    try:
        made = {r.id: invited.link(address, store.add_rater(r)) for r in plan.raters}
    finally:
        store.close()
    lines = "".join(f"{r.id}\t{_duty(plan, r.id)}\t{r.role}\t{made[r.id]}\n" for r in plan.raters)
    if links is not None:
        invited.write_private(links, lines)
    _tell(plan)
    if as_json:
        _print_json(_new_json(plan, made if links is None else {}))
    elif links is None:
        print(lines, end="")
        say("These links are shown this once: pass each on to one person, and keep no copy.")
    say(f"Written: {out}{f' and {links}' if links else ''}. Next: careeval audit serve {out}")
    return OK


def serve(
    audit: Path, *, host: str = "127.0.0.1", port: int = 8700, behind_proxy: str | None = None
) -> int:
    """Run the labellers' app until Ctrl-C; what is saved is saved.

    Args:
        audit: The audit's file.
        host: Where to listen; another than this machine needs --behind-proxy.
        port: The same.
        behind_proxy: The https address at which a proxy makes it known.
    """
    from careeval.review.app import serve as run_app

    with _opened(audit):
        pass  # says so where it is no audit's file
    run_app(
        audit,
        None,
        host=host,
        port=port,
        behind_proxy=behind_proxy,
        ready=lambda address: say(f"Labellers reach it at {address}. Ctrl-C ends it."),
    )
    return OK


def status(audit: Path, *, as_json: Json = False) -> int:
    """Who is where, by pseudonym; nothing of what anybody said.

    Args:
        audit: The audit's file.
        as_json: Print JSON.
    """
    with _opened(audit) as store:
        plan = _plan(store)
        blind, works = plan.blind(), store.everybody()
        closed, gone = store.closed, store.withdrawals()
    found, settled = standings(blind, works), n_settled(blind, works)
    if as_json:
        _print_json(_status_json(plan, blind, works, closed=closed, n_withdrawn=gone))
        return OK
    heads = ("labeller", "role", "handed in")
    title = f"{plan.title}{' · closed' if closed else ''}"
    table = new_table(title, heads, ("judgments", "done", "skipped", "left"))
    for each in found:
        table.add_row(
            each.rater,
            each.role,
            "withdrawn" if each.withdrawn else "yes" if each.handed_in else "no",
            *(str(n) for n in (each.n, each.done, each.skipped, each.n - each.done - each.skipped)),
        )
    out = console()
    out.print(table)
    out.print(f"  {_settling(found, settled)}", markup=False)
    return OK


def link(audit: Path, rater: str, *, address: str = ADDRESS, as_json: Json = False) -> int:
    """Print a new link for somebody; the old one, and every open session, ends.

    Args:
        audit: The audit's file.
        rater: Pseudonym.
        address: Where labellers reach the app.
        as_json: Print JSON.
    """
    with _opened(audit) as store:
        made = invited.link(address, store.replace_token(rater))
    if as_json:
        _print_json({"rater": rater, "link": made})
    else:
        print(made)
    return OK


def labelled(audit: Path) -> tuple[Sample, list[Label]]:
    """An audit's sample and all labels so far; says on stderr who has not handed in.

    Raises:
        UsageError: There is no such file.
        ReviewError: It is no audit's.
    """
    with _opened(audit) as store:
        plan = _plan(store)
        works = store.everybody()
    found = standings(plan.blind(), works)
    there = [each for each in found if not each.withdrawn]
    if late := [each.rater for each in there if not each.handed_in]:
        say(f"Not handed in yet, and taken as far as it is: {', '.join(late)}.")
    n, of = n_settled(plan.blind(), works)
    if n < of:
        say(f"{of - n} of {of} disagreements are not settled yet.")
    return plan.sample, labels(plan, works)


@contextmanager
def _opened(audit: Path) -> Iterator[Store]:
    if not audit.is_file():
        raise UsageError(f"there is no audit {audit}", hint="careeval audit new -o FILE writes one")
    store = Store.open(audit)
    try:
        store.plans("audit")  # of a study's file, before anything is done to it
        yield store
    finally:
        store.close()


def _plan(store: Store) -> AuditPlan:
    return read_audit_plan(store.plans("audit")[-1])


def _duty(plan: AuditPlan, rater: str) -> str:
    return "adjudicator" if rater == plan.adjudicator.id else "labeller"


def _tell(plan: AuditPlan) -> None:
    blind = plan.blind()
    loads = [len(seat.judgments) for seat in plan.seats]
    each = f"{min(loads)} to {max(loads)}" if min(loads) < max(loads) else str(loads[0])
    most = round(max(blind.minutes(seat.judgments) for seat in plan.seats))
    n = len(blind.judgments)
    say(
        f"{n} judgments on {len(plan.sample.shown)} responses, {len(plan.seats)} labellers, {each} "
        f"judgments each: about {most} minutes for who has the most."
    )


def _settling(found: Sequence[Standing], settled: tuple[int, int]) -> str:
    there = [each for each in found if not each.withdrawn]
    if not there or not all(each.handed_in for each in there):
        return "settling begins when all have handed in"
    return f"{settled[0]} of {settled[1]} disagreements are settled"


def _new_json(plan: AuditPlan, links: dict[str, str]) -> dict[str, Any]:
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


def _status_json(
    plan: AuditPlan, blind: Blind, works: Works, *, closed: bool, n_withdrawn: int
) -> dict[str, Any]:
    found = standings(blind, works)
    there = [each for each in found if not each.withdrawn]
    settling = bool(there) and all(each.handed_in for each in there)
    n, of = n_settled(blind, works)
    return {
        "title": plan.title,
        "closed": closed,
        "n_withdrawn": n_withdrawn,
        "labellers": [
            {
                "id": each.rater,
                "role": each.role,
                "n_judgments": each.n,
                "n_done": each.done,
                "n_skipped": each.skipped,
                "handed_in": each.handed_in,
                "withdrawn": each.withdrawn,
            }
            for each in found
        ],
        "n_disputed": of if settling else None,
        "n_settled": n if settling else None,
    }


def _print_json(document: dict[str, Any]) -> None:
    print(json.dumps(document, indent=1, ensure_ascii=False))
