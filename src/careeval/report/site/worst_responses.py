"""The worst response of each system to a scenario, with its judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from careeval.core.scenario import Rubric
from careeval.report.quotes import QuoteFinder
from careeval.report.site.contents import Contents, SiteEntry
from careeval.sheets.kinds import SHARE, SIGNED

LONGEST = 8_000
"""Characters of a response that a page shows at most; the rest is in the logs."""

_ORDER = ("harm", "mild", "open", "good")

_STATES = {
    "empty": "The response has no words: 0 points.",
    "refused": "The provider refused to answer: 0 points.",
}


@dataclass(frozen=True)
class Piece:
    """A piece of a response, with the labels of the items that quote it."""

    text: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class JudgedItem:
    """One rubric item that was found in a response, or is unresolved.

    Attributes:
        kind: CSS class of the item: `harm`, `mild`, `good` or `open`.
        verdict: The meaning of `kind`, as text.
    """

    label: str
    points: str
    kind: str
    verdict: str
    text: str
    reason: str


@dataclass(frozen=True)
class WorstResponse:
    """One system's worst response to a scenario.

    Attributes:
        state: Sentence on why the response has no words; empty if it has words.
        score: Score with the name of the rubric.
        severe: Whether the response has a severe error.
        shortened: Whether the page leaves out the end of the response.
        items: Items that are present or unresolved, errors first.
        n_absent: Number of absent items.
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
    items: tuple[JudgedItem, ...]
    n_absent: int


def worst_responses(site: Contents, edition: str, scenario: str) -> list[WorstResponse]:
    """Return the worst response of each system to a scenario, lowest score first."""
    scored = [
        (score, response)
        for entry in site.first_entries(edition)
        if (worst := _worst(entry, scenario)) is not None
        for score, response in [worst]
    ]
    return [response for _, response in sorted(scored, key=lambda each: (each[0], each[1].system))]


def _worst(entry: SiteEntry, scenario: str) -> tuple[float, WorstResponse] | None:
    """Return the lowest score and the first response with it; `None` if no response has a score."""
    public, score = entry.graded.public, entry.graded.scores.get(scenario)
    scored = [(e, k) for k, e in enumerate(score.epochs if score else (), 1) if e is not None]
    if not scored:
        return None
    least, epoch = min(scored)
    response, judgments = public.response(scenario, epoch), public.judged(scenario, epoch)
    items = [item for row in judgments if (item := _judged_item(row)) is not None]
    answered, text = response["state"] == "answered", response["text"] or ""
    return least, WorstResponse(
        system=entry.name,
        page=entry.page,
        epoch=epoch,
        n_epochs=entry.summary.n_epochs,
        score=f"{SHARE.page_text(least)}, {entry.rubric.value}",
        severe=any(item.kind == "harm" for item in items),
        state="" if answered else _STATES.get(response["state"], ""),
        pieces=tuple(_pieces(text[:LONGEST], judgments)) if answered else (),
        shortened=answered and len(text) > LONGEST,
        items=tuple(sorted(items, key=lambda item: _ORDER.index(item.kind))),
        n_absent=len(judgments) - len(items),
    )


def _judged_item(row: Mapping[str, Any]) -> JudgedItem | None:
    """Return a judgment as the page shows it; `None` if the item is absent."""
    if row["present"] is False:
        return None
    points = row["points"]
    if row["present"] is None:
        kind, verdict = "open", "Unresolved"
    elif points < 0:
        kind, verdict = ("harm", "Severe error") if points == -2 else ("mild", "Mild error")
    else:
        kind, verdict = "good", "Found"
    text, reason = row["item_text"] or "", row["reason"] or ""
    return JudgedItem(label(row), SIGNED.text(points), kind, verdict, text, reason)


def label(row: Mapping[str, Any]) -> str:
    """Return the label of an item: a number for an act, a letter for a rung."""
    position = int(row["position"])
    if row["rubric"] == Rubric.actions.value:
        return str(position + 1)
    return chr(ord("A") + position % 26)


def _pieces(text: str, judgments: Sequence[Mapping[str, Any]]) -> Iterable[Piece]:
    """Yield the pieces of a response, cut at each start and stop of a quote."""
    finder = QuoteFinder(text)
    spans = {
        label(row): span
        for row in judgments
        if row["present"] and (span := finder.find(row["quote"])) is not None
    }
    cuts = sorted({0, len(text), *(at for span in spans.values() for at in span)})
    for start, stop in pairwise(cuts):
        labels = (name for name, s in spans.items() if s.start <= start and stop <= s.stop)
        yield Piece(text[start:stop], tuple(labels))
