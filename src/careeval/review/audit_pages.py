"""The pages of an audit: practice, one judgment at a time, the overview, the end; and settling.

They are made of `Blind` alone: what would sway whoever labels is not there to be shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from fastapi import APIRouter, Request
from starlette.responses import Response

from careeval.core.rating import Rater
from careeval.review.answering import Gap, Typed, keep, leave_practice, next_practice
from careeval.review.asking import Progress, about, first_open, missing, progress
from careeval.review.audit import Blind, Judgment, read_audit_plan
from careeval.review.audit_form import as_label_field, audit_fields, notices
from careeval.review.audit_practice import LABEL_PRACTICE
from careeval.review.changes import Form
from careeval.review.desk import FORM, Desk, Here, Load, Posted, RedirectError, RefusedError, agreed
from careeval.review.forms import ANSWER
from careeval.review.guard import Settings
from careeval.review.labels import (
    FINISHED,
    HANDED_IN,
    SETTLE_QUESTIONS,
    LabelQuestion,
    disputed,
    given,
    handed_in,
    is_open,
    label_questions,
    label_task,
    marked,
    passages,
    settle_task,
)
from careeval.review.pages import go_to, page
from careeval.review.store import Answer, Store, Work
from careeval.review.turns import Page

router = APIRouter(route_class=Page)


def open_audit(store: Store) -> Blind:
    """What a store's audit shows; raises as `careeval.review.app.create_app`."""
    return read_audit_plan(store.plans("audit")[-1]).blind()


def audit_desk(blind: Blind, store: Store, settings: Settings) -> Desk:
    """What the common pages need to know of an audit."""

    def load(rater: Rater) -> Load | None:
        seat = blind.seat(rater.id)
        names = seat.judgments if seat else disputed(blind, store.everybody(), store.revoked())
        amount = "1 judgment" if len(names) == 1 else f"{len(names)} judgments"
        return Load(amount, about(blind.minutes(names))) if names else None

    def next_stop(rater: Rater, work: Work) -> str:
        if practice := next_practice(work, len(LABEL_PRACTICE)):
            return practice
        stack = _stack(blind, store, rater.id, work)
        first = first_open(stack.states)
        if stack.done_with or not first:
            return "/finish" if stack.open else "/overview"
        return f"{stack.path}/{first}"

    return Desk(
        store,
        settings,
        blind.title,
        blind.consent,
        "You read short answers to care situations, and say of one thing at a time whether it is "
        "in the answer.",
        "audit_help.html",
        "P, A and U (for present, absent, unsure)",
        load,
        next_stop,
    )


@dataclass(frozen=True)
class Stack:
    """The judgments that are somebody's: to label, or to settle.

    Attributes:
        settles: Whether they are to settle.
        names: In their order.
        tasks: What the store calls them, likewise.
        states: How far each is, likewise.
        open: Whether anything can be done yet.
        done_with: Whether nothing can be changed any more.
    """

    settles: bool
    names: tuple[str, ...]
    tasks: tuple[str, ...]
    states: tuple[Progress, ...]
    open: bool
    done_with: bool

    @property
    def path(self) -> str:
        """Where their pages are."""
        return "/settle" if self.settles else "/label"

    def asked(self, judgment: Judgment) -> tuple[LabelQuestion, ...]:
        """What is asked about one of them."""
        return SETTLE_QUESTIONS if self.settles else label_questions(judgment.response)


def _stack(blind: Blind, store: Store, rater: str, work: Work) -> Stack:
    seat = blind.seat(rater)
    works, revoked = ({}, frozenset[str]()) if seat else (store.everybody(), store.revoked())
    names = seat.judgments if seat else disputed(blind, works, revoked)
    tasks = tuple((label_task if seat else settle_task)(name) for name in names)
    asked = label_questions("") if seat else SETTLE_QUESTIONS
    return Stack(
        settles=seat is None,
        names=names,
        tasks=tasks,
        states=tuple(progress(asked, work.get(task, {})) for task in tasks),
        open=seat is not None or is_open(blind, works, revoked),
        done_with=seat is not None and handed_in(work),
    )


@dataclass(frozen=True)
class Audited:
    """Who asks, and what is theirs."""

    blind: Blind
    who: Here
    stack: Stack
    work: Work


def _sit(request: Request) -> Audited:
    who = agreed(request)
    blind: Blind = request.app.state.audit
    store = who.desk.store
    work = store.work(who.rater.id)
    return Audited(blind, who, _stack(blind, store, who.rater.id, work), work)


# Practice


@router.get("/practice/{n}")
def practise(request: Request, n: int) -> Response:
    """A made-up judgment to try the form on."""
    return _practice(request, n, None)


@router.post("/practice/{n}")
def practised(request: Request, n: int, form: Posted) -> Response:
    """What we would say. No answer is kept, only that it was seen."""
    _expect_practice(n)
    further = leave_practice(agreed(request), n, len(LABEL_PRACTICE), form.get("go", ""))
    return go_to(further) if further else _practice(request, n, form)


def _practice(request: Request, n: int, form: Mapping[str, str] | None) -> Response:
    agreed(request)
    _expect_practice(n)
    practice, tried = LABEL_PRACTICE[n - 1], form is not None
    chosen = (form or {}).get(ANSWER + "says", "")
    return page(
        request,
        "label_practice",
        f"Practice {n} of {len(LABEL_PRACTICE)}",
        n=n,
        practice=practice,
        tried=tried,
        field=as_label_field(LabelQuestion("says"), 1, chosen),
        parts=marked(practice.response, passages(practice.evidence) if tried else ()),
    )


def _expect_practice(n: int) -> None:
    if not 1 <= n <= len(LABEL_PRACTICE):
        raise _nothing()


# One judgment


@dataclass(frozen=True)
class Place:
    """Where somebody is: at one judgment of theirs."""

    at: Audited
    n: int

    @property
    def judgment(self) -> Judgment:
        """What is judged here."""
        return self.at.blind.judgments[self.at.stack.names[self.n - 1]]

    @property
    def task(self) -> str:
        """What the store calls it."""
        return self.at.stack.tasks[self.n - 1]

    @property
    def asked(self) -> tuple[LabelQuestion, ...]:
        """What is asked here."""
        return self.at.stack.asked(self.judgment)

    @property
    def follows_on(self) -> bool:
        """Whether the judgment before was about the same response."""
        if self.n == 1:
            return False
        before = self.at.blind.judgments[self.at.stack.names[self.n - 2]]
        return (before.response, before.scenario) == (
            self.judgment.response,
            self.judgment.scenario,
        )

    def answers(self) -> Mapping[str, Answer]:
        """What they have answered here."""
        who = self.at.who
        return who.desk.store.answers(who.rater.id, self.task)


def _place(request: Request, n: int, *, settles: bool) -> Place:
    at = _sit(request)
    if at.stack.settles is not settles:
        raise _nothing()
    if not at.stack.open:
        raise RefusedError(
            403,
            "There is nothing to settle yet",
            "You can settle what labellers disagree on once all of them have handed in.",
        )
    if not 1 <= n <= len(at.stack.names):
        raise _nothing()
    return Place(at, n)


def _nothing() -> RefusedError:
    return RefusedError(404, "There is nothing here", "Go to the overview to see what is yours.")


@router.get("/label/{n}")
def show(request: Request, n: int) -> Response:
    """A judgment to make."""
    place = _place(request, n, settles=False)
    if place.at.stack.done_with:
        raise RedirectError("/finish")
    return _page(request, place, Typed(), ())


@router.post("/label/{n}")
def save(request: Request, n: int, form: Posted) -> Response:
    """Keep what a form or our script sends, and go where it says."""
    place = _place(request, n, settles=False)
    if place.at.stack.done_with:
        words = "You have handed in, and others may have seen what you gave; nothing was changed."
        raise RefusedError(409, "Your labels stand", words)
    return _keep(request, place, form)


@router.get("/settle/{n}")
def look(request: Request, n: int) -> Response:
    """A judgment to settle."""
    return _page(request, _place(request, n, settles=True), Typed(), ())


@router.post("/settle/{n}")
def settle(request: Request, n: int, form: Posted) -> Response:
    """Keep the final word; what labellers gave stays as it is."""
    return _keep(request, _place(request, n, settles=True), form)


def _keep(request: Request, place: Place, form: Mapping[str, str]) -> Response:
    at, n, path = place.at, place.n, place.at.stack.path
    kept = keep(
        request, at.who, place.task, n, place.asked, form, lambda s: notices(s, place.asked)
    )
    if isinstance(kept, Response):
        return kept
    if kept.stays:
        return _page(request, place, kept.typed, kept.told)
    gaps = bool(missing(place.asked, place.answers()))
    return go_to(kept.leads_to(path, n, len(at.stack.names), gaps=gaps))


def _page(request: Request, place: Place, typed: Typed, told: Sequence[str]) -> Response:
    at, judgment, settles = place.at, place.judgment, place.at.stack.settles
    store, rater = at.who.desk.store, at.who.rater.id
    # in this order: an event between the two is shown, and at worst told of too
    seen = store.newest(rater, place.task)
    work = store.work(rater)
    answers = work.get(place.task, {})
    readings = given(at.blind, store.everybody(), judgment.id) if settles else ()
    evidence = [passage for each in readings for passage in each.evidence]
    if "evidence" in answers:
        evidence += passages(answers["evidence"].value)
    shown = audit_fields(place.asked, answers, typed)
    states = _stack(at.blind, store, rater, work).states
    query = request.query_params
    return page(
        request,
        "settle" if settles else "label",
        f"{'Disagreement' if settles else 'Judgment'} {place.n} of {len(states)}",
        422 if typed.errors else 200,
        judgment=judgment,
        same=place.follows_on,
        task=place.task,
        parts=marked(judgment.response, evidence),
        readings=readings,
        fields=shown,
        form=Form.new(seen),
        n_done=states.count(Progress.done),
        n_all=len(states),
        saved=max((answer.at for answer in answers.values()), default=""),
        notices=told or (["That page had been saved already."] if "again" in query else []),
        gaps=[
            f
            for f, question in zip(shown, place.asked, strict=True)
            if question.required and not f.value
        ]
        if "missing" in query
        else [],
        errors=[each for each in shown if each.error],
        unit="disagreement" if settles else "judgment",
    )


# The whole


@router.get("/overview")
def overview(request: Request) -> Response:
    """Everything that is somebody's, and how far each is."""
    at = _sit(request)
    stack = at.stack
    if stack.done_with:
        raise RedirectError("/finish")
    if not stack.open:
        return page(request, "settle_wait", "Nothing to settle yet")
    rows = [(f"{stack.path}/{n}", _called(at, n), state) for n, state in enumerate(stack.states, 1)]
    counts = {state: stack.states.count(state) for state in Progress}
    n = first_open(stack.states)
    unit = "disagreement" if stack.settles else "judgment"
    names = [name for name, s in zip(stack.names, stack.states, strict=True) if s != Progress.done]
    return page(
        request,
        "overview",
        "Overview",
        rows=rows,
        groups=() if stack.settles else _by_response(at, dict(enumerate(rows, 1))),
        counts=counts,
        going=(f"{stack.path}/{n}", f"Go on with {unit} {n}") if n else None,
        left=about(at.blind.minutes(names)) if names else "",
    )


_LINE = 32
"""Characters of an item that a list shows, so that each takes a line on a telephone."""


def _called(at: Audited, n: int) -> str:
    item = " ".join(at.blind.judgments[at.stack.names[n - 1]].item.split())
    if len(item) > _LINE:
        item = f"{item[:_LINE].rpartition(' ')[0] or item[:_LINE]}…"
    return f"{n}. {item}"


Row = tuple[str, str, Progress]
"""A judgment in a list: its address, what it is called, and how far it is."""


@dataclass(frozen=True, slots=True)
class Group:
    """Judgments on one response, as a list shows them.

    Attributes:
        number: Of the response, from 1, in the labeller's order.
        rows: One a judgment.
        open: Whether the list is unfolded: where somebody goes on.
    """

    number: int
    rows: tuple[Row, ...]
    open: bool

    @property
    def n_done(self) -> int:
        """How many of them are done."""
        return sum(state is Progress.done for _, _, state in self.rows)


def _by_response(at: Audited, rows: Mapping[int, Row]) -> list[Group]:
    """Rows of judgments, by the judgment's place in the labeller's order, under their responses."""
    judgments = [at.blind.judgments[name] for name in at.stack.names]
    texts = [(each.response, each.scenario) for each in judgments]
    starts = [int(n == 0 or texts[n] != texts[n - 1]) for n in range(len(texts))]
    found: dict[int, dict[int, Row]] = {}
    for n, number in enumerate(accumulate(starts), 1):
        if n in rows:
            found.setdefault(number, {})[n] = rows[n]
    here = first_open(at.stack.states)
    return [Group(number, tuple(of.values()), here in of) for number, of in found.items()]


@router.get("/finish")
def finish(request: Request) -> Response:
    """What is missing, or thanks."""
    at = _sit(request)
    stack = at.stack
    if not stack.open:
        raise RedirectError("/overview")
    gaps: dict[int, Gap] = {}
    for n, (name, task) in enumerate(zip(stack.names, stack.tasks, strict=True), 1):
        asked = stack.asked(at.blind.judgments[name])
        wanted = missing(asked, at.work.get(task, {}))
        if wanted:
            first = f"{stack.path}/{n}?missing=1#q{asked.index(wanted[0]) + 1}"
            whole = len(wanted) == sum(question.required for question in asked)
            gaps[n] = Gap(_called(at, n), len(wanted), whole, first)
    rows = {n: (gap.first, gap.called, stack.states[n - 1]) for n, gap in gaps.items()}
    return page(
        request,
        "hand_in" if not stack.settles else "finish",
        "Thank you" if stack.done_with else "Finish",
        gaps=list(gaps.values()),
        groups=() if stack.settles else _by_response(at, rows),
        said=stack.done_with or HANDED_IN in at.work.get(FINISHED, {}),
        n_all=len(stack.names),
        unit="disagreements" if stack.settles else "judgments",
    )


@router.post("/finish", dependencies=[FORM])
def finished(request: Request) -> Response:
    """Hand in: from now on a labeller's labels stand."""
    at = _sit(request)
    if at.stack.open:
        at.who.note(FINISHED, **{HANDED_IN: "yes"})
    return go_to("/finish")
