"""The worst response of each system to a scenario, with its judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from careeval.core.response import ResponseState
from careeval.core.scenario import WHEN, Rubric
from careeval.report.plan_rows import (
    ANSWER_KEYS,
    PlanJudgment,
    PlanTable,
    answer_of,
    plan_table,
)
from careeval.report.quotes import QuoteFinder
from careeval.report.site.contents import Contents, SiteEntry
from careeval.sheets.kinds import SHARE, SIGNED

LONGEST = 8_000
"""Characters of a response that a page shows at most; the rest is in the logs."""

_ORDER = ("harm", "mild", "open", "good")

_STATES = {
    "empty": "The response has no words: 0 points.",
    "refused": "The provider refused to answer: 0 points.",
    "malformed": "The words are no plan: 0 points ({note}).",
    "not_executable": (
        "The plan breaks off ({note}); goals there count nothing, dangers before it count."
    ),
}


@dataclass(frozen=True)
class Piece:
    """A piece of a response, with the labels of the items that quote it."""

    text: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class JudgedItem:
    """One rubric item that was found in a response, or is unresolved."""

    label: str
    points: str
    kind: str  # CSS class of the item: `harm`, `mild`, `good` or `open`
    verdict: str  # The meaning of `kind`, as text
    text: str
    reason: str
    answer: int | None = None
    """Position of the answer under which a plan is judged; `None` if there is none."""


@dataclass(frozen=True)
class ItemGroup:
    """Items under one head; the head is empty if there is only one group."""

    head: str
    items: tuple[JudgedItem, ...]


@dataclass(frozen=True)
class WorstResponse:
    """One system's worst response to a scenario."""

    system: str
    page: str
    epoch: int
    n_epochs: int
    score: str  # Score with the name of the rubric
    severe: bool  # True if the response has a severe error
    state: str  # Sentence on the state in which the response ended; empty if it was answered
    pieces: tuple[Piece, ...]
    shortened: bool  # True if the page leaves out the end of the response
    items: tuple[JudgedItem, ...]  # Items that are present or unresolved, errors first
    n_absent: int  # Number of absent items
    plan: PlanTable | None = None  # The plan as a table; `None` if the response is no plan
    judged: tuple[JudgedItem | None, ...] = ()
    """Every item of a plan, in the order of its rubric; absent ones are `None`."""

    @property
    def groups(self) -> list[ItemGroup]:
        """Return the items by answer; those without an answer are one group, the last."""
        groups = [
            ItemGroup(WHEN[key], tuple(item for item in self.items if item.answer == place))
            for place, key in enumerate(ANSWER_KEYS)
        ]
        groups = [group for group in groups if group.items]
        rest = tuple(item for item in self.items if item.answer is None)
        return [*groups, ItemGroup("", rest)] if rest or not groups else groups


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
    graded, score = entry.graded, entry.graded.scores.get(scenario)
    scored = [(e, k) for k, e in enumerate(score.epochs if score else (), 1) if e is not None]
    if not scored:
        return None
    least, epoch = min(scored)
    response, judgments = graded.response(scenario, epoch), graded.judged(scenario, epoch)
    judged = tuple(map(_judged_item, judgments))
    items = [item for item in judged if item is not None]
    state, text = ResponseState(response["state"]), response["text"] or ""
    plan = _plan(state, text, judgments)
    return least, WorstResponse(
        system=entry.name,
        page=entry.page,
        epoch=epoch,
        n_epochs=entry.summary.n_epochs,
        score=f"{SHARE.page_text(least)}, {entry.rubric.value}",
        severe=any(item.kind == "harm" for item in items),
        state=_STATES.get(state, "").format(note=response["note"]),
        pieces=tuple(_pieces(text[:LONGEST], judgments)) if state.has_words else (),
        shortened=state.has_words and len(text) > LONGEST,
        items=tuple(sorted(items, key=lambda item: _ORDER.index(item.kind))),
        n_absent=len(judgments) - len(items),
        plan=plan,
        judged=judged if plan else (),
    )


def _plan(
    state: ResponseState, text: str, judgments: Sequence[Mapping[str, Any]]
) -> PlanTable | None:
    """Return the table of a plan that was carried out; `None` for any other response."""
    if not state.is_graded or not any(row["rubric"] == Rubric.plan.value for row in judgments):
        return None
    return plan_table(
        text,
        [
            PlanJudgment(row["item"], row["present"], row["quote"], row["reason"])
            for row in judgments
        ],
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
    answer = answer_of(row["item"]) if row["rubric"] == Rubric.plan.value else None
    if answer is not None:
        text = text.removeprefix(f"{WHEN[ANSWER_KEYS[answer]]}: ")
    return JudgedItem(label(row), SIGNED.text(points), kind, verdict, text, reason, answer)


def label(row: Mapping[str, Any]) -> str:
    """Return the label of an item: a letter for a rung, a number for any other."""
    position = int(row["position"])
    if row["rubric"] == Rubric.ladder.value:
        return chr(ord("A") + position % 26)
    return str(position + 1)


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
