"""A page's questions as they stand there, and a form of the page: read, kept, and answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fastapi import Request
from starlette.responses import JSONResponse, Response

from careeval.review.asking import SKIPPED, Asked
from careeval.review.changes import Form, Saved
from careeval.review.desk import Here
from careeval.review.forms import ANSWER
from careeval.review.pages import refusal, wants_json
from careeval.review.store import Work

PRACTISED = "practice"
"""The task in which somebody says to have seen a page of practice: its field is the page."""

OPTIONAL = "If you like. Please name nobody."


@dataclass(frozen=True, slots=True)
class Field:
    """A question as it stands on a page.

    Attributes:
        name: Of its inputs.
        id: Of its first input, where links to it lead.
        kind: `comment` where words are asked for; else what the choices are, as `scale`.
        asked: The question in words.
        item: What the page calls the item, "Item 3"; empty where the page has no items.
        options: Values with their words; empty where words are asked for.
        value: What is chosen or typed.
        error: Why it is not saved; empty where it is.
        hint: Beside the question, where words are asked for.
        keys: By value, the key that chooses it while the question has the focus.
    """

    name: str
    id: str
    kind: str
    asked: str
    item: str
    options: tuple[tuple[str, str], ...]
    value: str
    error: str
    hint: str = OPTIONAL
    keys: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gap:
    """A page that is not done.

    Attributes:
        called: What the overview calls it.
        count: Questions that want an answer.
        whole: Whether these are all of its questions.
        first: Where the first of them is.
    """

    called: str
    count: int
    whole: bool
    first: str


@dataclass(frozen=True)
class Typed:
    """What a form says of a page's questions.

    Attributes:
        values: By field, what can be kept.
        errors: By field, why something cannot.
        raw: By field, as it was typed.
    """

    values: Mapping[str, str | None] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    raw: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of a form.

    Attributes:
        typed: What it says.
        told: What its sender is to be told.
        go: The button that sent it; empty where none did.
        cleared: The id of the question whose answer it takes back; empty where it does not.
        replayed: It had come before, and has changed nothing.
    """

    typed: Typed
    told: Sequence[str]
    go: str
    cleared: str
    replayed: bool

    @property
    def stays(self) -> bool:
        """Whether the page is shown again, with what there is to tell."""
        return bool(self.typed.errors or (self.told and not self.replayed))

    def leads_to(self, path: str, n: int, of: int, *, gaps: bool) -> str:
        """Where its sender goes on.

        Args:
            path: Of pages like it, "/rate".
            n: Which of them it is, from 1.
            of: How many there are.
            gaps: Whether it still wants an answer.
        """
        again = "?again=1" if self.replayed else ""
        if self.cleared:
            return f"{path}/{n}{again}#{self.cleared}"
        if self.go == "back":
            return f"{path}/{max(1, n - 1)}{again}"
        if self.go == "next" and gaps:
            return f"{path}/{n}?missing=1"
        return f"{path}/{n + 1}{again}" if n < of else "/finish"


def next_practice(work: Work, of: int) -> str | None:
    """The first of so many pages of practice that somebody has not seen; None where they have."""
    seen = work.get(PRACTISED, {})
    return next((f"/practice/{n}" for n in range(1, of + 1) if str(n) not in seen), None)


def leave_practice(who: Here, n: int, of: int, go: str) -> str | None:
    """Note that a page of practice has been seen.

    Args:
        who: By whom.
        n: Which, from 1.
        of: How many there are.
        go: The button that was pressed.

    Returns:
        Where that leads; None where they stay, to see what there was to notice.
    """
    if go == "skip":
        who.note(PRACTISED, **{str(k): "seen" for k in range(1, of + 1)})
        return "/"
    if go == "next":
        who.note(PRACTISED, **{str(n): "seen"})
        return f"/practice/{n + 1}" if n < of else "/"
    return None


def keep(
    request: Request,
    who: Here,
    task: str,
    n: int,
    asked: Sequence[Asked],
    form: Mapping[str, str],
    tell: Callable[[Saved], Sequence[str]],
) -> Kept | Response:
    """Keep what a form says.

    Args:
        request: That sent it.
        who: Whose answers these are.
        task: What the store calls the page's answers.
        n: The page's place in the rater's order.
        asked: What the page asks.
        form: What was sent.
        tell: What a rater is told whose other window has changed the same page.

    Returns:
        What became of it; or the answer, where our script asks or where nothing was kept.
    """
    if form.get("task") != task:
        words = "It belongs to another round or another rater; nothing was saved."
        return refusal(request, 409, "This page is out of date", words, retry=False)
    clear = form.get("clear", "")
    if clear.startswith(ANSWER):
        form = {**form, clear: ""}
    typed, sent = read_typed(form, asked), read_form_id(form)
    if typed is None or sent is None:
        words = "It is not one of the forms of this page; nothing was saved."
        return refusal(request, 400, "This form cannot be read", words, retry=False)
    values, go = dict(typed.values), form.get("go", "")
    if go:
        values[SKIPPED] = "yes" if go == "skip" else None
    saved = who.desk.store.save(who.rater.id, task, values, sent, place=n)
    told = tell(saved)
    if wants_json(request):
        places = enumerate(asked, 1)
        errors = {f"q{k}": typed.errors[q.field] for k, q in places if q.field in typed.errors}
        content = {"seen": saved.seen, "notices": told, "errors": errors}
        return JSONResponse(content, 422 if typed.errors else 200)
    cleared = next((f"q{k}" for k, q in enumerate(asked, 1) if ANSWER + q.field == clear), "")
    return Kept(typed, told, go, cleared, saved.replayed)


def read_typed(form: Mapping[str, str], asked: Sequence[Asked]) -> Typed | None:
    """What a form says; None where it answers what is not asked."""
    raw = {
        name.removeprefix(ANSWER): text for name, text in form.items() if name.startswith(ANSWER)
    }
    if raw.keys() - {question.field for question in asked}:
        return None
    values: dict[str, str | None] = {}
    errors: dict[str, str] = {}
    for question in asked:
        if question.field in raw:
            try:
                values[question.field] = question.read(raw[question.field])
            except ValueError as error:
                errors[question.field] = str(error)
    return Typed(values, errors, raw)


def read_form_id(form: Mapping[str, str]) -> Form | None:
    """Which form it is; None where it does not say.

    Older pages call it `seen`, and some of them count there the events of everybody: of such a
    page nothing is taken to be known, so that it replaces nothing without a word.
    """
    page_id, number = form.get("page", ""), form.get("number", "")
    seen = form.get("known", "0" if "seen" in form else "")
    numbers = [text for text in (number, seen) if text.isascii() and text.isdigit()]
    if not 0 < len(page_id) <= 64 or len(numbers) < 2 or max(map(len, numbers)) > 15:
        return None
    return Form(page_id, int(number), int(seen))


def notices(
    saved: Saved, fields: Iterable[str], words: Callable[[str, str | None], tuple[str, str]]
) -> list[str]:
    """What a rater is told whose other window has changed the same page.

    Args:
        saved: What became of this window's form.
        fields: Those that the page asks for.
        words: What a field is called, and what is said in it, for a page.
    """
    if saved.replayed:
        return ["This had been saved already; nothing was changed."]
    known = set(fields)
    found = []
    for others, ends in (
        (saved.overwritten, "What you gave here has replaced it."),
        (saved.kept, "That stands."),
    ):
        for name, value in others.items():
            if name in known:
                what, given = words(name, value)
                found.append(f"In another window you changed {what} to {given}. {ends}")
    return found
