"""Texts of values on a page, such as percentages. Nothing is computed here."""

from __future__ import annotations

import re
from collections.abc import Iterable

from careeval.core.text import percent
from careeval.results.summary import Summary
from careeval.sheets.kinds import ESTIMATE
from careeval.stats.estimate import Estimate

# C0 and C1 controls except tab and newline, and marks that change the direction of text
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def strip_controls(text: str) -> str:
    """Return the text without control characters; newlines and tabs stay."""
    # most texts have none, and isprintable is much faster than the regex
    return text if text.isprintable() else _INVISIBLE.sub("", text)


def percent_text(estimate: Estimate) -> str:
    """Return the value of an estimate as a percentage; "unknown" if it is."""
    return ESTIMATE.page_text(estimate)


def in_full(estimate: Estimate) -> str:
    """Return an estimate on one line: percentage, bounds and interval, or why it is unknown."""
    parts = [percent_text(estimate)]
    if estimate.low != estimate.high:
        low, high = percent(estimate.low), percent(estimate.high)
        parts.append(f"{low} to {high}, as the unresolved judgments fall")
    if estimate.ci95 is not None:
        parts.append("95% interval {} to {}".format(*map(percent, estimate.ci95)))
    elif estimate.value is not None:
        parts.append(f"no interval: {estimate.reason}")
    else:
        parts.append(estimate.reason)
    return ", ".join(filter(None, parts))


def score_name(summaries: Iterable[Summary]) -> str:
    """Return "Score" and the rubric; "Score" alone if entries differ in it."""
    rubrics = {s.rubric for s in summaries}
    return f"Score, {rubrics.pop()}" if len(rubrics) == 1 else "Score"
