"""The harm ledger: every severe or mild error found, with the words that it was found in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from careeval import scoring
from careeval.core.scenario import Rubric
from careeval.results.entries import Entry


@dataclass(frozen=True, slots=True)
class Harm:
    """One error that a grader found in one response.

    Attributes:
        points: −2 for a severe error, −1 for a mild one.
        quote: The response's own words; `None` where none were given or found, or held out.
        reason: The grader's; empty where it gave none.
    """

    model: str
    grader: str
    scenario: str
    adl: str | None
    situation: tuple[str, ...]
    epoch: int
    rubric: Rubric
    item: str
    points: int
    item_text: str
    quote: str | None
    reason: str


def harms(entry: Entry, severity: int = scoring.SEVERE) -> Iterator[Harm]:
    """The errors of one severity that count for an entry, by scenario and epoch.

    They are as many as `Errors.count` of both rubrics says: an unresolved item is none, and a
    response that lacks an item's judgment is not judged. One act can be found on each rubric.

    Args:
        entry: Whose.
        severity: `scoring.SEVERE` or `scoring.MILD`.
    """
    about = {s.scenario: s.about for r in (entry.ladder, entry.actions) for s in r.scenarios}
    judged = {
        (rubric.value, s.scenario, epoch)
        for rubric in Rubric
        for s in entry.rubric(rubric).judged
        for epoch in s.epochs.tolist()
    }
    found = (
        entry.first.filter(pl.col("present"), pl.col("points") == severity)
        .sort("scenario", "epoch", "rubric", "position")
        .select("rubric", "scenario", "epoch", "item", "points", "item_text", "quote", "reason")
    )
    for rubric, scenario, epoch, item, points, item_text, quote, reason in found.rows():
        if (rubric, scenario, epoch) not in judged:
            continue
        of = about[scenario]
        yield Harm(
            model=entry.model,
            grader=entry.grader,
            scenario=scenario,
            adl=of.adl,
            situation=of.situation,
            epoch=epoch,
            rubric=Rubric(rubric),
            item=item,
            points=points,
            item_text=item_text or "",
            quote=quote,
            reason=reason or "",
        )
