"""How values are said on the page. Nothing is computed here."""

from __future__ import annotations

import re
from collections.abc import Iterable

from careeval.results.amounts import percent
from careeval.results.score.summary import Summary
from careeval.sheets.estimate_kinds import MEASURE
from careeval.stats import Estimate

# C0 and C1 controls but tab and newline, and what turns the direction of the text around it.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def visible(text: str) -> str:
    """The text without control characters; newlines and tabs stay."""
    # most texts have nothing of the sort, and saying so is far quicker than looking for it
    return text if text.isprintable() else _INVISIBLE.sub("", text)


def value(estimate: Estimate) -> str:
    """The percentage, or `unknown`."""
    return MEASURE.on_page(estimate)


def in_full(estimate: Estimate) -> str:
    """Return the percentage with all that is known about how sure it is, in one line."""
    parts = [value(estimate)]
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
    """The score with the name of its rubric; of entries on several, their own names have it."""
    rubrics = {s.rubric for s in summaries}
    return f"Score, {rubrics.pop()}" if len(rubrics) == 1 else "Score"
