"""The errors that a grader found in the responses of an entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from careeval import scoring
from careeval.results.entry import Entry


@dataclass(frozen=True, slots=True)
class Harm:
    """One error that a grader found in one response."""

    entry: Entry
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
    graded = entry.graded
    places = {scenario: row for row, scenario in enumerate(graded.scenarios)}
    judged = graded.is_judged & graded.judged[:, np.newaxis]
    columns = ("scenario", "epoch", "item", "points", "item_text", "quote", "reason")
    rows = (
        entry.first_of(*columns, "position", "present")
        .filter(pl.col("present"), pl.col("points") == severity)
        .sort("scenario", "epoch", "position")
        .select(columns)
    )
    for scenario, epoch, item, points, item_text, quote, reason in rows.rows():
        if not judged[places[scenario], epoch - 1]:
            continue
        about = graded.traits[places[scenario]]
        yield Harm(
            entry=entry,
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
