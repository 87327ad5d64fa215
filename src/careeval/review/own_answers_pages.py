"""The pages on which raters write their own answers, and hand them in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from careeval.core.scenario import Scenario
from careeval.review.answering import Field, Typed, keep, notices
from careeval.review.asking import SKIPPED, Progress
from careeval.review.changes import Form, Saved
from careeval.review.desk import FORM, Here, Posted
from careeval.review.forms import ANSWER
from careeval.review.own_answers import HANDED_IN, QUESTION, handed_in, written
from careeval.review.pages import go_to, page, refusal, wants_json
from careeval.review.store import Answer
from careeval.review.study import Seat
from careeval.review.study_pages import Round, nothing, own_called, sit
from careeval.review.turns import Page

router = APIRouter(route_class=Page)


@dataclass(frozen=True)
class OwnPlace:
    """Where a rater is: at one scenario that they answer."""

    study: Round
    who: Here
    seat: Seat
    n: int

    @property
    def scenario(self) -> Scenario:
        """What is answered here."""
        return self.study.scenarios[self.seat.answers[self.n - 1]]

    @property
    def task(self) -> str:
        """What the store calls it."""
        return self.study.plan.answer_task(self.scenario.id)

    def answers(self) -> Mapping[str, Answer]:
        """What is written here."""
        return self.who.desk.store.answers(self.seat.id, self.task)

    @property
    def stands(self) -> bool:
        """Whether the answers are handed in, and can no longer be changed."""
        return handed_in(self.who.desk.store.answers(self.seat.id, HANDED_IN))


def _place(request: Request, n: int) -> OwnPlace:
    study, who, seat = sit(request)
    if not 1 <= n <= len(seat.answers):
        raise nothing()
    return OwnPlace(study, who, seat, n)


@router.get("/answer/{n}")
def show(request: Request, n: int) -> Response:
    """A scenario, with room for an answer; or with the answer that stands."""
    return _page(request, _place(request, n), Typed(), ())


@router.post("/answer/{n}")
def save(request: Request, n: int, form: Posted) -> Response:
    """Keep what a form or our script sends, and go where it says."""
    place = _place(request, n)
    if place.stands:
        return _stands(request, place, form)
    skipped, go = SKIPPED in place.answers(), form.get("go", "")
    seen: list[Saved] = []

    def tell(saved: Saved) -> Sequence[str]:
        seen.append(saved)
        return notices(saved, [QUESTION.field], _called)

    # to go back says nothing about an answer that somebody would rather not give
    said = {name: text for name, text in form.items() if name != "go" or text != "back"}
    kept = keep(request, place.who, place.task, n, [QUESTION], said, tell)
    if skipped and go in ("", "back") and seen and QUESTION.field in seen[0].changed:
        place.who.note(place.task, **{SKIPPED: None})  # who writes on has thought again
    if isinstance(kept, Response):
        return kept
    if kept.stays:
        return _page(request, place, kept.typed, kept.told)
    again = "?again=1" if kept.replayed else ""
    if go == "back":
        return go_to(f"/answer/{max(1, n - 1)}{again}")
    if go == "next" and written(place.answers()) is None:
        return go_to(f"/answer/{n}?missing=1")
    return go_to(f"/answer/{n + 1}{again}" if n < len(place.seat.answers) else "/answers")


def _stands(request: Request, place: OwnPlace, form: Mapping[str, str]) -> Response:
    """For a form that comes after the answers were handed in: what says the same had arrived."""
    store = place.who.desk.store
    standing = place.answers().get(QUESTION.field)
    if form.get(ANSWER + QUESTION.field, "").strip() == (standing.value if standing else ""):
        if wants_json(request):
            seen = store.newest(place.seat.id, place.task)
            return JSONResponse({"seen": seen, "notices": [], "errors": {}})
        return go_to(f"/answer/{place.n}")
    words = "Your answers are handed in, and can no longer be changed; this was not saved."
    return refusal(request, 409, "Handed in already", words, retry=False)


def _called(_: str, value: str | None) -> tuple[str, str]:
    return "your answer", "nothing" if value is None else f"“{value}”"


def _page(request: Request, place: OwnPlace, typed: Typed, told: Sequence[str]) -> Response:
    seat, store = place.seat, place.who.desk.store
    # in this order: an event between the two is shown, and at worst told of too
    seen = store.newest(seat.id, place.task)
    work = store.work(seat.id)
    answers = work.get(place.task, {})
    field = _field(answers, typed, place.study.plan.told)
    states = place.study.own_answers(seat, work)
    query = request.query_params
    return page(
        request,
        "answer",
        f"Your own answer {place.n} of {len(seat.answers)}",
        422 if typed.errors else 200,
        place=place,
        stands=place.stands,
        skipped=SKIPPED in answers,
        task=place.task,
        field=field,
        form=Form.new(seen),
        n_done=states.count(Progress.done),
        n_all=len(states),
        saved=max((answer.at for answer in answers.values()), default=""),
        notices=told or (["That page had been saved already."] if "again" in query else []),
        gaps=[field] if "missing" in query and not field.value else [],
        errors=[field] if field.error else [],
        unit="answer",
        leave="say that you would rather not",
        skip="I would rather not answer this one",
    )


def _field(answers: Mapping[str, Answer], typed: Typed, told: str) -> Field:
    name = QUESTION.field
    error = typed.errors.get(name, "")
    value = answers[name].value if name in answers else ""
    return Field(
        name=ANSWER + name,
        id="q1",
        kind="comment",
        asked="Your answer",
        item="",
        options=(),
        value=typed.raw[name] if error else value,
        error=error,
        hint=told,
    )


@router.get("/answers")
def all_answers(request: Request) -> Response:
    """All that somebody wrote, to be handed in."""
    study, who, seat = sit(request)
    if not seat.answers:
        raise nothing()
    work = who.desk.store.work(seat.id)
    states = study.own_answers(seat, work)
    rows = [
        (f"/answer/{n}", own_called(n, study.scenarios[name]), _IN_WORDS[state], state)
        for n, (name, state) in enumerate(zip(seat.answers, states, strict=True), 1)
    ]
    stands = handed_in(work.get(HANDED_IN, {}))
    n_written = states.count(Progress.done)
    title = "Your answers are handed in" if stands else "Hand in your own answers"
    return page(request, "answers", title, rows=rows, stands=stands, n_written=n_written)


_IN_WORDS = {
    Progress.done: "written",
    Progress.skipped: "you would rather not",
    Progress.untouched: "not written",
}


@router.post("/answers", dependencies=[FORM])
def hand_in(request: Request) -> Response:
    """Keep that they are handed in: from now on they stand, and the rest opens."""
    study, who, seat = sit(request)
    if not seat.answers:
        raise nothing()
    if not handed_in(who.desk.store.answers(seat.id, HANDED_IN)):
        who.note(HANDED_IN, **{str(study.plan.round): "yes"})
    return go_to("/")
