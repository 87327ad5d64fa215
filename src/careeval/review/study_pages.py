"""The pages of a study: practice, one scenario at a time, the overview, the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fastapi import APIRouter, Request
from starlette.responses import Response

from careeval.bank import Bank
from careeval.core.rating import Rater
from careeval.core.scenario import Scenario
from careeval.review import own_answers
from careeval.review.answering import Gap, Typed, keep, leave_practice, next_practice
from careeval.review.asking import Progress, about, first_open, missing, progress
from careeval.review.changes import Form
from careeval.review.desk import (
    FINISHED,
    FORM,
    Desk,
    Here,
    Load,
    Posted,
    RedirectError,
    RefusedError,
    agreed,
)
from careeval.review.forms import ANSWER
from careeval.review.guard import Settings
from careeval.review.pages import go_to, page
from careeval.review.practice import PRACTICE
from careeval.review.questions import Question, minutes, questions
from careeval.review.store import Answer, Store, Work
from careeval.review.study import Seat, StudyPlan, read_plan, scenarios_of
from careeval.review.study_form import fields, notices
from careeval.review.turns import Page

router = APIRouter(route_class=Page)


@dataclass(frozen=True)
class Round:
    """One round of a study with the scenarios that it asks about."""

    plan: StudyPlan
    scenarios: Mapping[str, Scenario]
    _asked: dict[tuple[str, str], tuple[Question, ...]] = field(default_factory=dict)

    def asked(self, seat: Seat, scenario: str) -> tuple[Question, ...]:
        """What a rater is asked about a scenario."""
        key = (seat.id, scenario)
        if key not in self._asked:  # every page counts how far all of them are
            self._asked[key] = questions(self.plan, self.scenarios[scenario], seat.id)
        return self._asked[key]

    def how_far(self, seat: Seat, work: Work) -> tuple[Progress, ...]:
        """How far a rater is with each scenario, in the rater's order."""
        return tuple(
            progress(self.asked(seat, name), work.get(self.plan.task(name), {}))
            for name in seat.scenarios
        )

    def own_answers(self, seat: Seat, work: Work) -> tuple[Progress, ...]:
        """How far a rater is with each answer of their own, in the rater's order."""
        tasks = map(self.plan.answer_task, seat.answers)
        return tuple(own_answers.progress(work.get(task, {})) for task in tasks)


def open_round(bank: Bank, store: Store) -> Round:
    """The newest round of a store; raises as `careeval.review.app.create_app`."""
    plan = read_plan(store.plans("study")[-1])
    return Round(plan, scenarios_of(plan, bank))


def desk(study: Round, store: Store, settings: Settings) -> Desk:
    """What the common pages need to know of a study."""
    plan = study.plan

    def load(rater: Rater) -> Load | None:
        seat = plan.seat(rater.id)
        if seat is None:
            return None
        total = sum(minutes(plan, study.scenarios[name], rater.id) for name in seat.scenarios)
        return Load(_amount(seat), about(total))

    def next_stop(rater: Rater, work: Work) -> str:
        seat = plan.seat(rater.id)
        if seat is None:
            return "/overview"
        if _owes(seat, work.get(own_answers.HANDED_IN, {})):
            return next_answer(study.own_answers(seat, work))
        practice = next_practice(work, len(PRACTICE))
        return practice or _next_stop(study.how_far(seat, work))

    return Desk(
        store,
        settings,
        plan.title,
        plan.consent,
        _asks(plan),
        "study_help.html",
        "1 to 5",
        load,
        next_stop,
    )


def _asks(plan: StudyPlan) -> str:
    found = (
        "You read short care situations, and say how real they are and how well they test what a "
        "carer decides"
    )
    if not plan.rubrics:
        return f"{found}."
    wanted = {"is worth looking for": plan.relevance, "has the right points": plan.points}
    asked = " and ".join(words for words, is_asked in wanted.items() if is_asked)
    return f"{found}; and of things that an answer may contain, whether each {asked}."


def _amount(seat: Seat) -> str:
    n, m = len(seat.scenarios), len(seat.answers)
    scenarios = f"{n} scenarios" if n > 1 else "1 scenario"
    answers = f"{m} short answers" if m > 1 else "1 short answer"
    return f"{answers} to write, then {scenarios}" if m else scenarios


def _owes(seat: Seat, said: Mapping[str, Answer]) -> bool:
    """Whether a rater's own answers still come first; `said` is of `own_answers.HANDED_IN`."""
    return bool(seat.answers) and not own_answers.handed_in(said)


def next_answer(states: Sequence[Progress]) -> str:
    """Where a rater goes on whose answers come first; one they would rather not is settled."""
    places = (n for n, state in enumerate(states, 1) if state is Progress.untouched)
    n = next(places, None)
    return f"/answer/{n}" if n else "/answers"


def _next_stop(states: Sequence[Progress]) -> str:
    n = first_open(states)
    return f"/rate/{n}" if n else "/finish"


# Practice


@router.get("/practice/{n}")
def practise(request: Request, n: int) -> Response:
    """A made-up scenario to try the form on."""
    return _practice(request, n, None)


@router.post("/practice/{n}")
def practised(request: Request, n: int, form: Posted) -> Response:
    """What there was to notice. No answer is kept, only that it was seen."""
    who = _nothing_first(request, agreed(request))
    _expect_practice(n)
    further = leave_practice(who, n, len(PRACTICE), form.get("go", ""))
    return go_to(further) if further else _practice(request, n, form)


def _practice(request: Request, n: int, form: Mapping[str, str] | None) -> Response:
    _nothing_first(request, agreed(request))
    _expect_practice(n)
    study: Round = request.app.state.study
    plan, practice = study.plan, PRACTICE[n - 1]
    on_items = bool(plan.rubrics)
    asked = practice.asked(relevance=on_items and plan.relevance, points=on_items and plan.points)
    given = {
        question.field: Answer(text, 0, "")
        for question, _ in asked
        if (text := (form or {}).get(ANSWER + question.field, ""))
    }
    own, cards = fields([question for question, _ in asked], given, Typed())
    notes = {f"q{k}": note for k, (_, note) in enumerate(asked, 1)}
    return page(
        request,
        "practice",
        f"Practice {n} of {len(PRACTICE)}",
        n=n,
        text=practice.text,
        plan=plan,
        fields=own,
        cards=cards,
        notes=notes if form is not None else {},
    )


def _expect_practice(n: int) -> None:
    if not 1 <= n <= len(PRACTICE):
        raise nothing()


# One scenario


@dataclass(frozen=True)
class Place:
    """Where a rater is: one scenario of theirs."""

    study: Round
    who: Here
    seat: Seat
    n: int

    @property
    def scenario(self) -> Scenario:
        """What is rated here."""
        return self.study.scenarios[self.seat.scenarios[self.n - 1]]

    @property
    def task(self) -> str:
        """What the store calls it."""
        return self.study.plan.task(self.scenario.id)

    @property
    def asked(self) -> tuple[Question, ...]:
        """What is asked here."""
        return self.study.asked(self.seat, self.scenario.id)

    def answers(self) -> Mapping[str, Answer]:
        """What they have answered here."""
        return self.who.desk.store.answers(self.who.rater.id, self.task)


def sit(request: Request) -> tuple[Round, Here, Seat]:
    """Who asks, having agreed, and their seat in the round; raises where there is none."""
    who = agreed(request)
    study: Round = request.app.state.study
    seat = study.plan.seat(who.rater.id)
    if seat is None:
        raise RefusedError(
            404,
            "There is nothing for you in this round",
            "Thank you: what you rated before is kept. If that surprises you, ask: "
            + who.desk.consent.contact,
        )
    return study, who, seat


def _nothing_first(request: Request, who: Here) -> Here:
    """The one who asks, as given; raises where their own answers come first.

    This stands before all that shows a rubric, or tells what is looked for in a scenario.
    """
    study: Round = request.app.state.study
    seat, store = study.plan.seat(who.rater.id), who.desk.store
    # most studies ask for no answers, and every save comes by here
    if seat and seat.answers and _owes(seat, store.answers(seat.id, own_answers.HANDED_IN)):
        if request.method == "GET":
            raise RedirectError(next_answer(study.own_answers(seat, store.work(seat.id))))
        raise RefusedError(
            403,
            "Your own answers come first",
            "Nothing was saved. Hand in your answers, or say that you would rather not; then this "
            "page opens.",
        )
    return who


def _place(request: Request, n: int) -> Place:
    study, who, seat = sit(request)
    _nothing_first(request, who)
    if not 1 <= n <= len(seat.scenarios):
        raise nothing()
    return Place(study, who, seat, n)


def nothing() -> RefusedError:
    """For an address that is nobody's, or not theirs."""
    return RefusedError(404, "There is nothing here", "Go to the overview to see what is yours.")


@router.get("/rate/{n}")
def show(request: Request, n: int) -> Response:
    """A scenario with its questions."""
    return _rate(request, _place(request, n), Typed(), ())


@router.post("/rate/{n}")
def save(request: Request, n: int, form: Posted) -> Response:
    """Keep what a form or our script sends, and go where it says."""
    place = _place(request, n)
    kept = keep(
        request, place.who, place.task, n, place.asked, form, lambda s: notices(s, place.asked)
    )
    if isinstance(kept, Response):
        return kept
    if kept.stays:
        return _rate(request, place, kept.typed, kept.told)
    gaps = bool(missing(place.asked, place.answers()))
    return go_to(kept.leads_to("/rate", n, len(place.seat.scenarios), gaps=gaps))


def _rate(request: Request, place: Place, typed: Typed, told: Sequence[str]) -> Response:
    seat, store = place.seat, place.who.desk.store
    # in this order: an event between the two is shown, and at worst told of too
    seen = store.newest(seat.id, place.task)
    work = store.work(seat.id)
    answers = work.get(place.task, {})
    own, cards = fields(place.asked, answers, typed)
    every = [*own, *(each for card in cards for each in card.fields)]
    states = place.study.how_far(seat, work)
    query = request.query_params
    return page(
        request,
        "rate",
        f"Scenario {place.n} of {len(seat.scenarios)}",
        422 if typed.errors else 200,
        place=place,
        task=place.task,
        fields=own,
        cards=cards,
        form=Form.new(seen),
        n_done=states.count(Progress.done),
        n_all=len(states),
        saved=max((answer.at for answer in answers.values()), default=""),
        notices=told or (["That page had been saved already."] if "again" in query else []),
        gaps=[f for f in every if not f.value and f.kind != "comment"]
        if "missing" in query
        else [],
        errors=[each for each in every if each.error],
        unit="scenario",
    )


# The whole


@router.get("/overview")
def overview(request: Request) -> Response:
    """Everything that is somebody's, and how far each is."""
    study, who, seat = sit(request)
    work = who.desk.store.work(who.rater.id)
    owes = _owes(seat, work.get(own_answers.HANDED_IN, {}))
    written = study.own_answers(seat, work)
    if not owes:  # what was not handed in is left out for good
        written = tuple(s if s is Progress.done else Progress.skipped for s in written)
    states = study.how_far(seat, work)
    rows = [
        (f"/answer/{n}", own_called(n, study.scenarios[name]), state)
        for n, (name, state) in enumerate(zip(seat.answers, written, strict=True), 1)
    ]
    rows += [
        ("" if owes else f"/rate/{n}", _called(n, study.scenarios[name]), state)
        for n, (name, state) in enumerate(zip(seat.scenarios, states, strict=True), 1)
    ]
    counts = {state: (*written, *states).count(state) for state in Progress}
    n = first_open(states)
    going = (f"/rate/{n}", f"Go on with scenario {n}") if n else None
    if owes:
        going = (next_answer(written), "Go on with your own answers")
    to_write = [n for n, s in zip(seat.answers, written, strict=True) if s is Progress.untouched]
    left = _minutes_left(study, seat, states, to_write)
    return page(
        request,
        "overview",
        "Overview",
        rows=rows,
        counts=counts,
        going=going,
        owes=owes,
        left=about(left) if left else "",
    )


def _minutes_left(
    study: Round, seat: Seat, states: Sequence[Progress], to_write: Sequence[str]
) -> float:
    """How long what is not done may take, scenarios counted whole; 0 where all is done."""
    names = zip(seat.scenarios, states, strict=True)
    undone = {name for name, state in names if state is not Progress.done}
    written = undone & set(seat.answers) - set(to_write)
    total = sum(minutes(study.plan, study.scenarios[name], seat.id) for name in undone)
    return total - own_answers.MINUTES * len(written)


def own_called(n: int, scenario: Scenario) -> str:
    """What the overview calls a rater's n-th own answer."""
    return f"Your own answer {n}, {scenario.adl}"


def _called(n: int, scenario: Scenario) -> str:
    return f"Scenario {n}, {scenario.adl}"


@router.get("/finish")
def finish(request: Request) -> Response:
    """What is missing, or thanks."""
    study, who, seat = sit(request)
    _nothing_first(request, who)
    work = who.desk.store.work(who.rater.id)
    gaps: list[Gap] = []
    for n, name in enumerate(seat.scenarios, 1):
        asked = study.asked(seat, name)
        wanted = missing(asked, work.get(study.plan.task(name), {}))
        if wanted:
            first = f"/rate/{n}?missing=1#q{asked.index(wanted[0]) + 1}"
            whole = len(wanted) == sum(question.required for question in asked)
            gaps.append(Gap(_called(n, study.scenarios[name]), len(wanted), whole, first))
    own = study.own_answers(seat, work)
    said = work.get(FINISHED, {}).get(str(study.plan.round))
    title = "Thank you" if said and not gaps else "Finish"
    return page(
        request,
        "finish",
        title,
        gaps=gaps,
        said=said,
        n_all=len(seat.scenarios),
        unit="scenarios",
        handed_in=(own.count(Progress.done), len(own)) if own else None,
    )


@router.post("/finish", dependencies=[FORM])
def finished(request: Request) -> Response:
    """Keep that somebody says to have finished; they may still change anything."""
    study, who, _ = sit(request)
    _nothing_first(request, who)
    who.note(FINISHED, **{str(study.plan.round): "yes"})
    return go_to("/finish")
