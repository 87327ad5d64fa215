"""A scenario of a study as a card: what was decided, why, and what is to be read.

In words for whoever reads it; every number stands in the tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from careeval.core.rating import Comment
from careeval.report.study_bars import bar, count_of
from careeval.report.study_words import DECISIONS, ROLES
from careeval.results.decided import Decision, ItemResult, ScenarioResult
from careeval.results.judged import Judged, Terms
from careeval.results.study import StudyResults
from careeval.results.withheld import WITHHELD

HEADINGS = {
    Decision.keep: "To be read before it is accepted",
    Decision.revise: "To be read when it is revised",
    Decision.drop: "To be read before it is given up",
    None: "To be read, whatever is decided",
}

_ORDER = (Decision.drop, Decision.revise, None, Decision.keep)
"""Of the list: what asks for work first."""


@dataclass(frozen=True)
class Remark:
    """What somebody wrote."""

    who: str
    text: str


@dataclass(frozen=True)
class OnScale:
    """One scale of a scenario: its bar, and what it comes to in words."""

    scale: str
    bar: Markup
    lines: tuple[str, ...]


@dataclass(frozen=True)
class OnItem:
    """An item of which there is something to read."""

    text: str
    name: str
    lines: tuple[str, ...]
    comments: tuple[Remark, ...]


@dataclass(frozen=True)
class Entry:
    """A scenario in the list."""

    id: str
    version: int
    text: str
    decision: Decision | None
    says: str
    scales: tuple[OnScale, ...]
    why: tuple[str, ...]
    heading: str
    to_read: tuple[str, ...]
    comments: tuple[Remark, ...]
    items: tuple[OnItem, ...]
    before: tuple[str, ...]
    n_withheld: int

    @property
    def n_comments(self) -> int:
        """On it and its items, those that are withheld too."""
        shown = len(self.comments) + sum(len(item.comments) for item in self.items)
        return shown + self.n_withheld

    @property
    def says_something(self) -> bool:
        """Whether there is more to read of it than its numbers."""
        return bool(self.to_read or self.comments or self.items or self.n_withheld)


def in_order(results: Iterable[ScenarioResult]) -> list[ScenarioResult]:
    """What asks for work first."""
    return sorted(results, key=lambda s: (_ORDER.index(s.decision), s.subject.scenario))


def entry(of: ScenarioResult, found: StudyResults) -> Entry:
    """A scenario's card, and how it did in earlier rounds."""
    earlier = (e for e in found.earlier if e.subject.scenario == of.subject.scenario)
    return Entry(
        id=of.subject.scenario,
        version=of.subject.version,
        text=of.text,
        decision=of.decision,
        says=DECISIONS[of.decision],
        scales=tuple(OnScale(j.scale.value, bar(j), tuple(_in_words(j))) for j in of.judged),
        why=of.why_dropped,
        heading=HEADINGS[of.decision],
        to_read=of.low_ratings,
        comments=_remarks(of.comments),
        items=tuple(on for item in of.items if (on := _on_item(item)).lines or on.comments),
        before=tuple(_before(each) for each in earlier),
        n_withheld=_n_withheld(of),
    )


def _on_item(of: ItemResult) -> OnItem:
    return OnItem(of.text, of.name, of.to_read, _remarks(of.comments))


def _before(of: ScenarioResult) -> str:
    counts = ", ".join(f"{j.scale} {count_of(j)}" for j in of.judged)
    what = DECISIONS[of.decision].lower()
    return f"Round {of.subject.round}, version {of.subject.version}: {counts}; {what}."


def _remarks(comments: Iterable[Comment]) -> tuple[Remark, ...]:
    return tuple(
        Remark(f"{c.rater.id}, {ROLES[c.rater.role]}", c.text)
        for c in comments
        if c.text != WITHHELD
    )


def _n_withheld(of: ScenarioResult) -> int:
    """Comments on it and its items that are not shown."""
    all_of_it = (*of.comments, *(c for item in of.items for c in item.comments))
    return sum(comment.text == WITHHELD for comment in all_of_it)


def _in_words(of: Judged) -> Iterable[str]:
    if of.at_cut is None:
        yield f"{of.n_asked} were asked; {of.reason}."
        return
    k, n = of.at_cut.k, of.at_cut.n
    needed = f"{of.reason}." if of.least is None else f"{of.least} were needed."
    yield f"{k} of {n} gave {of.terms.endorsing}; {needed}"
    if of.cut_sensitive:
        yield _otherwise(of.terms, passes=not of.passes)
    if of.n_asked > n:
        left = of.n_asked - n
        have = "has" if left == 1 else "have"
        yield f"{left} of {of.n_asked} who were asked {have} not rated it."


def _otherwise(terms: Terms, *, passes: bool) -> str:
    """What the other cut would decide, where it differs."""
    between = " and ".join(map(str, range(*sorted((terms.cut, terms.other_cut)))))
    counted = "counted too" if terms.other_cut < terms.cut else "not counted"
    return f"With {between} {counted} it would{'' if passes else ' not'} pass."
