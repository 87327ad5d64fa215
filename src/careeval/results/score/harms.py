"""Severe or mild errors of an entry, each with the response's words that show it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from careeval import scoring
from careeval.core.scenario import Rubric
from careeval.results.score.entries import Entry


@dataclass(frozen=True, slots=True)
class Harm:
    """One error that a grader found in one response."""

    system: str
    grader: str
    rubric: Rubric
    scenario: str
    adl: str | None
    situation: tuple[str, ...]
    epoch: int
    item: str
    points: int  # −2 for a severe error, −1 for a mild one
    item_text: str
    quote: str | None
    """The response's own words; `None` if the grader quoted none, its quote is not in the response,
    or the words are held out."""
    reason: str  # The grader's reason; empty if it gave none


def harms(entry: Entry, severity: int = scoring.SEVERE) -> Iterator[Harm]:
    """Yield the errors of one severity that count for an entry, by scenario and epoch.

    Unresolved items are no errors, and responses that lack an item's judgment do not count.

    Args:
        entry: The entry.
        severity: `scoring.SEVERE` or `scoring.MILD`.
    """
    abouts = {s.scenario: s.about for s in entry.graded.scenarios}
    judged = {(s.scenario, epoch) for s in entry.graded.judged for epoch in s.epochs.tolist()}
    rows = (
        entry.first.filter(pl.col("present"), pl.col("points") == severity)
        .sort("scenario", "epoch", "position")
        .select("scenario", "epoch", "item", "points", "item_text", "quote", "reason")
    )
    for scenario, epoch, item, points, item_text, quote, reason in rows.rows():
        if (scenario, epoch) not in judged:
            continue
        about = abouts[scenario]
        yield Harm(
            system=entry.system,
            grader=entry.grader,
            rubric=entry.rubric,
            scenario=scenario,
            adl=about.adl,
            situation=about.situation,
            epoch=epoch,
            item=item,
            points=points,
            item_text=item_text or "",
            quote=quote,
            reason=reason or "",
        )
