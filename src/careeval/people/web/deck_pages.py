"""The pages of decks: practice, one card at a time, the overview, and the end of each deck."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from careeval.people.deck import (
    SKIPPED,
    Answers,
    Card,
    Deck,
    Progress,
    TypedAnswers,
    card_fields,
    duration_in_words,
    missing_questions,
    notices,
    read_answers,
    read_form_id,
    shows_late_questions,
)
from careeval.people.forms import ANSWER, FormId
from careeval.people.web.access import (
    FORM,
    PageRoute,
    PostedForm,
    RedirectError,
    RefusedError,
)
from careeval.people.web.pages import (
    PRACTISED,
    OpenSeat,
    expect_decks_before,
    go_to,
    not_found,
    open_seat,
    page,
    refusal,
    wants_json,
)

Row = tuple[str, str, Progress]
"""A card in a list: its address, empty if it does not open yet, its name, and its progress."""


def router(paths: Sequence[str], ends: Sequence[str]) -> APIRouter:
    """Return the pages of decks.

    Args:
        paths: The addresses of their cards, without their numbers.
        ends: The addresses of the pages that finish them.
    """
    pages = APIRouter(route_class=PageRoute)
    pages.add_api_route("/overview", overview, methods=["GET"])
    pages.add_api_route("/practice/{n}", show_practice, methods=["GET"])
    pages.add_api_route("/practice/{n}", check_practice, methods=["POST"])
    for path in paths:
        pages.add_api_route(f"{path}/{{n}}", show_card, methods=["GET"])
        pages.add_api_route(f"{path}/{{n}}", save_card, methods=["POST"])
    for end in ends:
        pages.add_api_route(end, show_end, methods=["GET"])
        pages.add_api_route(end, finish, methods=["POST"], dependencies=[FORM])
    return pages


# Practice


def show_practice(request: Request, n: int) -> Response:
    """Show a made-up card to try the questions on."""
    return _practice(request, n, None)


def check_practice(request: Request, n: int, form: PostedForm) -> Response:
    """Show the notes on a practice card, and save only that the card was seen."""
    return _practice(request, n, form)


def _practice(request: Request, n: int, form: Mapping[str, str] | None) -> Response:
    seat = open_seat(request)
    expect_decks_before(request, seat)
    cards, go = seat.visitor.workbench.practice, (form or {}).get("go", "")
    if not 1 <= n <= len(cards):
        raise not_found()
    if go == "skip":
        seat.visitor.note(PRACTISED, **{str(k): "seen" for k in range(1, len(cards) + 1)})
        return go_to("/")
    if go == "next":
        seat.visitor.note(PRACTISED, **{str(n): "seen"})
        return go_to(f"/practice/{n + 1}" if n < len(cards) else "/")
    card = cards[n - 1]
    answers = {q.field: (form or {}).get(ANSWER + q.name, "") for q in card.questions}
    shown = card_fields(card.questions, answers, TypedAnswers())
    return page(
        request,
        card.template,
        f"Practice {n} of {len(cards)}",
        n=n,
        tried=form is not None,
        fields=[f for f in shown if form is not None or not f.question.late],
        notes={f"q{k}": note for k, note in enumerate(card.notes, 1)},
        **card.shows,
    )


# One card


@dataclass(frozen=True)
class OpenCard:
    """One card of a deck, opened by a visitor."""

    seat: OpenSeat
    deck: Deck
    n: int

    @property
    def card(self) -> Card:
        """Card number `n` of the deck, which the visitor has opened."""
        return self.deck.cards[self.n - 1]

    def answers(self) -> Answers:
        """Return the present answers on the card."""
        visitor = self.seat.visitor
        return visitor.workbench.store.answers(visitor.rater.id, self.card.task)


def _open_card(request: Request, n: int) -> OpenCard:
    seat = open_seat(request, for_one=True)
    path = request.url.path.rpartition("/")[0]
    deck = next((deck for deck in seat.decks if deck.path == path), None)
    if deck is None:
        raise not_found()
    expect_decks_before(request, seat, deck)
    if deck.waits:
        raise RefusedError(
            403,
            "There is nothing to settle yet",
            "You can settle what labellers disagree on once all of them have handed in.",
        )
    if not 1 <= n <= len(deck.cards):
        raise not_found()
    return OpenCard(seat, deck, n)


def show_card(request: Request, n: int) -> Response:
    """Show a card to fill in."""
    open_card = _open_card(request, n)
    if open_card.deck.locked and not open_card.deck.locked_template:
        raise RedirectError(open_card.deck.end)
    return _page(request, open_card, TypedAnswers(), ())


def save_card(request: Request, n: int, form: PostedForm) -> Response:
    """Save the answers on a card, unless its deck is handed in."""
    open_card = _open_card(request, n)
    respond = _respond_locked if open_card.deck.locked else _save_form
    return respond(request, open_card, form)


def _respond_locked(request: Request, open_card: OpenCard, form: Mapping[str, str]) -> Response:
    """Respond to a form sent after the deck was handed in: refuse it if it changes an answer."""
    store, rater, task = (
        open_card.seat.visitor.workbench.store,
        open_card.seat.visitor.rater.id,
        open_card.card.task,
    )
    standing = {ANSWER + name: answer.value for name, answer in open_card.answers().items()}
    sent = {name: text.strip() for name, text in form.items() if name.startswith(ANSWER)}
    if form.get("task") == task and all(standing.get(k, "") == text for k, text in sent.items()):
        if wants_json(request):
            seen = store.newest(rater, task)
            return JSONResponse({"seen": seen, "notices": [], "errors": {}})
        return go_to(f"{open_card.deck.path}/{open_card.n}")
    words = "What you handed in stands, and can no longer be changed; this was not saved."
    return refusal(request, 409, "Handed in already", words, retry=False)


def _save_form(request: Request, open_card: OpenCard, form: Mapping[str, str]) -> Response:
    """Save the answers that a form or our script sends, and go to the page that it asks for."""
    card, deck, n = open_card.card, open_card.deck, open_card.n
    if form.get("task") != card.task:
        words = "It belongs to another round or another rater; nothing was saved."
        return refusal(request, 409, "This page is out of date", words, retry=False)
    clear, go = form.get("clear", ""), form.get("go", "")
    if clear.startswith(ANSWER):
        form = {**form, clear: ""}
    typed, sent = read_answers(form, card.questions), read_form_id(form)
    if typed is None or sent is None:
        words = "It is not one of the forms of this page; nothing was saved."
        return refusal(request, 400, "This form cannot be read", words, retry=False)
    values = {**typed.values, **_skipping(open_card, typed, go)}
    visitor = open_card.seat.visitor
    saved = visitor.workbench.store.save(visitor.rater.id, card.task, values, sent, place=n)
    messages = notices(saved, card.questions)
    shown = card_fields(card.questions, {}, typed)
    if wants_json(request):
        errors = {each.id: each.error for each in shown if each.error}
        content = {"seen": saved.seen, "notices": messages, "errors": errors}
        return JSONResponse(content, 422 if errors else 200)
    if typed.errors or (messages and not saved.replayed):
        return _page(request, open_card, typed, messages)
    again = "?again=1" if saved.replayed else ""
    if cleared := next((each.id for each in shown if each.name == clear), ""):
        return go_to(f"{deck.path}/{n}{again}#{cleared}")
    if go == "back":
        return go_to(f"{deck.path}/{max(1, n - 1)}{again}")
    if go == "next" and missing_questions(card.questions, answers := open_card.answers()):
        late = [question.field for question in card.questions if question.late]
        opens = shows_late_questions(card.questions, answers) and not typed.raw.keys() & set(late)
        return go_to(f"{deck.path}/{n}{'#items' if late and opens else '?missing=1'}")
    return go_to(f"{deck.path}/{n + 1}{again}" if n < len(deck.cards) else deck.end)


def _skipping(open_card: OpenCard, typed: TypedAnswers, go: str) -> Mapping[str, str | None]:
    """Return the field that records skipping, if the form sets it; else nothing."""
    if go == "skip":
        return {SKIPPED: "yes"}
    if not open_card.deck.declines:
        return {SKIPPED: None} if go else {}
    answers = open_card.answers()
    standing = {name: answers[name].value if name in answers else None for name in typed.values}
    # to go back does not undo that somebody declined; to write on does
    return {SKIPPED: None} if go == "next" or typed.values != standing else {}


def _page(
    request: Request, open_card: OpenCard, typed: TypedAnswers, messages: Sequence[str]
) -> Response:
    deck, card, query = open_card.deck, open_card.card, request.query_params
    store, rater = open_card.seat.visitor.workbench.store, open_card.seat.visitor.rater.id
    # in this order: an event between the two is shown, and at worst announced as well
    seen = store.newest(rater, card.task)
    work = store.work(rater)
    answers = work.get(card.task, {})
    opened = shows_late_questions(card.questions, answers)
    values = {name: answer.value for name, answer in answers.items()}
    every = card_fields(card.questions, values, typed, card.before)
    shown = [each for each in every if opened or not each.question.late]
    states = deck.states(work)
    gaps = [each for each in shown if each.question.required and not each.value]
    return page(
        request,
        deck.locked_template if deck.locked else deck.template,
        f"{deck.title} {open_card.n} of {len(states)}",
        422 if typed.errors else 200,
        deck=deck,
        n=open_card.n,
        task=card.task,
        fields=shown,
        opened=opened,
        skipped=SKIPPED in answers,
        form=FormId.new(seen),
        n_done=states.count(Progress.done),
        n_all=len(states),
        saved=max((answer.at for answer in answers.values()), default=""),
        notices=messages or (["That page had been saved already."] if "again" in query else []),
        gaps=gaps if "missing" in query else [],
        errors=[each for each in shown if each.error],
        **card.shows(answers),
    )


# Overview and end


@dataclass(frozen=True, slots=True)
class CardGroup:
    """Cards that a list shows together."""

    number: int  # From 1, in the order of the deck
    rows: tuple[Row, ...]  # A row for each card
    open: bool  # True if the group is unfolded, since it has the next card to fill in

    @property
    def n_done(self) -> int:
        """The number of cards of the group that are done."""
        return sum(state is Progress.done for _, _, state in self.rows)


def _groups(deck: Deck, states: Sequence[Progress], rows: Mapping[int, Row]) -> list[CardGroup]:
    """Gather rows, keyed by the card's number, into groups; cards without a group are left out."""
    grouped: dict[int, dict[int, Row]] = {}
    for n, row in rows.items():
        if number := deck.cards[n - 1].group:
            grouped.setdefault(number, {})[n] = row
    current = deck.first_open(states)
    return [
        CardGroup(number, tuple(group.values()), current in group)
        for number, group in grouped.items()
    ]


def overview(request: Request) -> Response:
    """Show all cards of a visitor, and the progress with each."""
    seat = open_seat(request)
    last = seat.decks[-1]
    if last.locked:
        raise RedirectError(last.end)
    if last.waits:
        return page(request, "settle_wait", "Nothing to settle yet")
    rows = [row for deck in seat.decks for row in _rows(seat, deck)]
    now = seat.owed or last
    states = now.states(seat.work)
    n = now.first_open(states)
    going = (f"{now.path}/{n}", f"Go on with {now.unit} {n}") if n else None
    if seat.owed:
        going = (now.next_address(states), "Go on with your own answers")
    left = sum(deck.minutes(seat.work) for deck in seat.decks)
    return page(
        request,
        "overview",
        "Overview",
        rows=rows,
        groups=_groups(last, last.states(seat.work), dict(enumerate(_rows(seat, last), 1))),
        counts={state: [s for _, _, s in rows].count(state) for state in Progress},
        going=going,
        owes=seat.owed is not None,
        left=duration_in_words(left) if left else "",
    )


def _rows(seat: OpenSeat, deck: Deck) -> list[Row]:
    """Return a list row for each card of a deck."""
    states = deck.states(seat.work)
    if deck.locked:  # what was not handed in can no longer be
        states = tuple(s if s is Progress.done else Progress.skipped for s in states)
    opens = seat.owed in (None, deck) or deck.locked
    return [
        (f"{deck.path}/{n}" if opens else "", card.name, state)
        for n, (card, state) in enumerate(zip(deck.cards, states, strict=True), 1)
    ]


def _at_end(request: Request) -> tuple[OpenSeat, Deck]:
    seat = open_seat(request)
    deck = next((deck for deck in seat.decks if deck.end == request.url.path), None)
    if deck is None:
        raise not_found()
    expect_decks_before(request, seat, deck)
    return seat, deck


def show_end(request: Request) -> Response:
    """Show what is missing before a deck is finished, and how it stands after."""
    seat, deck = _at_end(request)
    if deck.waits:
        raise RedirectError("/overview")
    states, gaps = deck.states(seat.work), deck.gaps(seat.work)
    missing_rows = {gap.n: (gap.first, gap.name, states[gap.n - 1]) for gap in gaps}
    return page(
        request,
        deck.end_template,
        deck.end_titles[deck.locked or (deck.finished and not gaps)],
        deck=deck,
        gaps=gaps,
        groups=_groups(deck, states, missing_rows),
        rows=_rows(seat, deck),
        n_done=states.count(Progress.done),
        n_all=len(deck.cards),
        before=[
            (each, each.states(seat.work).count(Progress.done))
            for each in seat.decks[: seat.decks.index(deck)]
        ],
    )


def finish(request: Request) -> Response:
    """Note that a deck is finished, and go on."""
    seat, deck = _at_end(request)
    task, name = deck.note
    if not deck.waits and not deck.locked:
        seat.visitor.note(task, **{name: "yes"})
    return go_to(deck.end if deck is seat.decks[-1] else "/")
