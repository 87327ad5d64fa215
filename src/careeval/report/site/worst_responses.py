"""The worst response of each system to a scenario, with what was found in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from careeval.core.scenario import Rubric
from careeval.report.quotes import Quoted
from careeval.report.site.contents import Contents, Listed
from careeval.sheets.kinds import SHARE, SIGNED

LONGEST = 8_000
"""Characters of a response that a page shows; the rest is in the logs."""

_ORDER = ("harm", "mild", "open", "good")

_STATES = {
    "empty": "The response has no words: 0 points.",
    "refused": "The provider refused to answer: 0 points.",
}


@dataclass(frozen=True)
class Piece:
    """A piece of a response, with the labels of the items that it is quoted for."""

    text: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """One rubric item found in a response, or unresolved.

    Attributes:
        kind: `harm`, `mild`, `good` or `open`: how it is marked.
        said: The same in words.
    """

    label: str
    points: str
    kind: str
    said: str
    text: str
    reason: str


@dataclass(frozen=True)
class Answer:
    """One system's worst response to a scenario.

    Attributes:
        state: Why there are no words; empty where there are.
        score: With the name of its rubric.
        severe: Whether a severe error was found in it.
        shortened: Whether there is more of it than the page shows.
        n_absent: Items that were not found in it.
    """

    system: str
    page: str
    epoch: int
    n_epochs: int
    score: str
    severe: bool
    state: str
    pieces: tuple[Piece, ...]
    shortened: bool
    lines: tuple[Line, ...]
    n_absent: int


def answers(site: Contents, edition: str, scenario: str) -> list[Answer]:
    """Return the worst response of each system to a scenario, the worst first."""
    ranked = [
        (rank, answer)
        for listed in site.first_entries(edition)
        if (worst := _worst(listed, scenario)) is not None
        for rank, answer in [worst]
    ]
    return [answer for _, answer in sorted(ranked, key=lambda each: (each[0], each[1].system))]


def _worst(listed: Listed, scenario: str) -> tuple[float, Answer] | None:
    """Return the response that scored least, its score first; the earliest of several."""
    public, score = listed.graded.public, listed.graded.scores.get(scenario)
    scored = [(e, k) for k, e in enumerate(score.epochs if score else (), 1) if e is not None]
    if not scored:
        return None
    least, epoch = min(scored)
    response, judged = public.response(scenario, epoch), public.judged(scenario, epoch)
    lines = [line for row in judged if (line := _line(row)) is not None]
    answered, text = response["state"] == "answered", response["text"] or ""
    return least, Answer(
        system=listed.name,
        page=listed.page,
        epoch=epoch,
        n_epochs=listed.summary.n_epochs,
        score=f"{SHARE.on_page(least)}, {listed.rubric.value}",
        severe=any(line.kind == "harm" for line in lines),
        state="" if answered else _STATES.get(response["state"], ""),
        pieces=tuple(_pieces(text[:LONGEST], judged)) if answered else (),
        shortened=answered and len(text) > LONGEST,
        lines=tuple(sorted(lines, key=lambda line: _ORDER.index(line.kind))),
        n_absent=len(judged) - len(lines),
    )


def _line(row: Mapping[str, Any]) -> Line | None:
    """A judgment as a line; `None` for an item that was not found."""
    if row["present"] is False:
        return None
    points = row["points"]
    if row["present"] is None:
        kind, said = "open", "Unresolved"
    elif points < 0:
        kind, said = ("harm", "Severe error") if points == -2 else ("mild", "Mild error")
    else:
        kind, said = "good", "Found"
    text, reason = row["item_text"] or "", row["reason"] or ""
    return Line(label(row), SIGNED.text(points), kind, said, text, reason)


def label(row: Mapping[str, Any]) -> str:
    """Return how a page names an item: an act by its number, a rung by a letter."""
    position = int(row["position"])
    if row["rubric"] == Rubric.actions.value:
        return str(position + 1)
    return chr(ord("A") + position % 26)


def _pieces(text: str, judged: Sequence[Mapping[str, Any]]) -> Iterable[Piece]:
    """A response cut wherever a quote begins or ends."""
    quoted = Quoted(text)
    places = {
        label(row): place
        for row in judged
        if row["present"] and (place := quoted.place(row["quote"])) is not None
    }
    cuts = sorted({0, len(text), *(at for place in places.values() for at in place)})
    for start, stop in pairwise(cuts):
        items = (item for item, p in places.items() if p.start <= start and stop <= p.stop)
        yield Piece(text[start:stop], tuple(items))
