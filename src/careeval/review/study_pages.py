"""The pages of a study: practice, one scenario at a time, the overview, the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fastapi import APIRouter, Request
from starlette.responses import Response

from careeval.bank import Bank
from careeval.core.rating import Rater
from careeval.core.scenario import Scenario
from careeval.review.answering import Gap, Typed, keep
from careeval.review.asking import Progress, about, first_open, missing, progress
from careeval.review.desk import FORM, Desk, Here, Load, Posted, RefusedError, agreed
from careeval.review.forms import ANSWER
from careeval.review.guard import Settings
from careeval.review.pages import go_to, page
from careeval.review.practice import PRACTICE
from careeval.review.questions import Question, minutes, questions
from careeval.review.store import Answer, Form, Store, Work
from careeval.review.study import Seat, StudyPlan, read_plan, scenarios_of
from careeval.review.study_form import as_field, fields, notices

router = APIRouter()

PRACTISED, FINISHED = "practice", "finish"


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
        n = len(seat.scenarios)
        total = sum(minutes(plan, study.scenarios[name], rater.id) for name in seat.scenarios)
        return Load(f"{n} scenarios" if n > 1 else "1 scenario", about(total))

    def next_stop(rater: Rater, work: Work) -> str:
        seat = plan.seat(rater.id)
        if seat is None:
            return "/overview"
        seen = work.get(PRACTISED, {})
        for n in range(1, len(PRACTICE) + 1):
            if str(n) not in seen:
                return f"/practice/{n}"
        return _next_stop(study.how_far(seat, work))

    return Desk(
        store, settings, plan.title, plan.consent, "study_help.html", "1 to 5", load, next_stop
    )


def _next_stop(states: Sequence[Progress]) -> str:
    n = first_open(states)
    return f"/rate/{n}" if n else "/finish"


# Practice


@router.get("/practice/{n}")
async def practise(request: Request, n: int) -> Response:
    """A made-up scenario to try the form on."""
    return _practice(request, n, None)


@router.post("/practice/{n}")
async def practised(request: Request, n: int, form: Posted) -> Response:
    """What there was to notice. No answer is kept, only that it was seen."""
    who = agreed(request)
    if form.get("go") == "skip":
        who.note(PRACTISED, **{str(k): "seen" for k in range(1, len(PRACTICE) + 1)})
        return go_to("/")
    if form.get("go") == "next":
        who.note(PRACTISED, **{str(n): "seen"})
        return go_to(f"/practice/{n + 1}" if n < len(PRACTICE) else "/")
    return _practice(request, n, form)


def _practice(request: Request, n: int, form: Mapping[str, str] | None) -> Response:
    agreed(request)
    if not 1 <= n <= len(PRACTICE):
        raise _nothing()
    practice = PRACTICE[n - 1]
    shown = [
        as_field(Question(scale, scale), k, (form or {}).get(ANSWER + scale, ""))
        for k, scale in enumerate(practice.notes, 1)
    ]
    notes = list(practice.notes.values()) if form is not None else []
    title = f"Practice {n} of {len(PRACTICE)}"
    return page(request, "practice", title, n=n, text=practice.text, fields=shown, notes=notes)


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


def _sit(request: Request) -> tuple[Round, Here, Seat]:
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


def _place(request: Request, n: int) -> Place:
    study, who, seat = _sit(request)
    if not 1 <= n <= len(seat.scenarios):
        raise _nothing()
    return Place(study, who, seat, n)


def _nothing() -> RefusedError:
    return RefusedError(404, "There is nothing here", "Go to the overview to see what is yours.")


@router.get("/rate/{n}")
async def show(request: Request, n: int) -> Response:
    """A scenario with its questions."""
    return _rate(request, _place(request, n), Typed(), ())


@router.post("/rate/{n}")
async def save(request: Request, n: int, form: Posted) -> Response:
    """Keep what a form or our script sends, and go where it says."""
    place = _place(request, n)
    kept = keep(
        request, place.who, place.task, n, place.asked, form, lambda s: notices(s, place.asked)
    )
    if isinstance(kept, Response):
        return kept
    if kept.stays:
        return _rate(request, place, kept.typed, kept.told)
    again = "?again=1" if kept.replayed else ""
    if kept.go == "back":
        return go_to(f"/rate/{max(1, n - 1)}{again}")
    if kept.go == "next" and missing(place.asked, place.answers()):
        return go_to(f"/rate/{n}?missing=1")
    return go_to(f"/rate/{n + 1}{again}" if n < len(place.seat.scenarios) else "/finish")


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
async def overview(request: Request) -> Response:
    """Everything that is somebody's, and how far each is."""
    study, who, seat = _sit(request)
    states = study.how_far(seat, who.desk.store.work(who.rater.id))
    rows = [
        (f"/rate/{n}", _called(n, study.scenarios[name]), state)
        for n, (name, state) in enumerate(zip(seat.scenarios, states, strict=True), 1)
    ]
    counts = {state: states.count(state) for state in Progress}
    n = first_open(states)
    going = (f"/rate/{n}", f"Go on with scenario {n}") if n else None
    return page(request, "overview", "Overview", rows=rows, counts=counts, going=going)


def _called(n: int, scenario: Scenario) -> str:
    return f"Scenario {n}, {scenario.adl}"


@router.get("/finish")
async def finish(request: Request) -> Response:
    """What is missing, or thanks."""
    study, who, seat = _sit(request)
    work = who.desk.store.work(who.rater.id)
    gaps: list[Gap] = []
    for n, name in enumerate(seat.scenarios, 1):
        asked = study.asked(seat, name)
        wanted = missing(asked, work.get(study.plan.task(name), {}))
        if wanted:
            first = f"/rate/{n}?missing=1#q{asked.index(wanted[0]) + 1}"
            whole = len(wanted) == sum(question.required for question in asked)
            gaps.append(Gap(_called(n, study.scenarios[name]), len(wanted), whole, first))
    said = work.get(FINISHED, {}).get(str(study.plan.round))
    title = "Thank you" if said and not gaps else "Finish"
    return page(
        request, "finish", title, gaps=gaps, said=said, n_all=len(seat.scenarios), unit="scenarios"
    )


@router.post("/finish", dependencies=[FORM])
async def finished(request: Request) -> Response:
    """Keep that somebody says to have finished; they may still change anything."""
    study, who, _ = _sit(request)
    who.note(FINISHED, **{str(study.plan.round): "yes"})
    return go_to("/finish")
