"""A scenario of a study as a card: what was decided, why, and what is to be read.

In words for whoever reads it; every number stands in the tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from careeval.core.rating import Comment
from careeval.results.study.results import StudyResults
from careeval.results.study.scale_ratings import LEVELS, Judged, Terms
from careeval.results.study.scenario_decisions import Decision, ItemResult, ScenarioResult
from careeval.results.withheld import WITHHELD
from careeval.sheets.kinds import DASH, Form
from careeval.sheets.study.kinds import DECISIONS, ROLES, SHARE_ALONE, UNDECIDED

HEADINGS = {
    Decision.keep: "To be read before it is accepted",
    Decision.revise: "To be read when it is revised",
    Decision.drop: "To be read before it is given up",
    None: "To be read, whatever is decided",
}


@dataclass(frozen=True)
class Card:
    """A scenario in the list.

    Attributes:
        result: In its newest round.
        earlier: In the rounds before that.
    """

    result: ScenarioResult
    earlier: tuple[ScenarioResult, ...]

    @property
    def decision(self) -> str:
        """What was decided."""
        return decided(self.result)

    @property
    def heading(self) -> str:
        """What stands above what is to be read."""
        return HEADINGS[self.result.decision]

    @property
    def before(self) -> Iterator[str]:
        """How it did in earlier rounds."""
        for each in self.earlier:
            counts = ", ".join(f"{j.scale} {_count(j)}" for j in each.judged)
            about = f"Round {each.subject.round}, version {each.subject.version}"
            yield f"{about}: {counts}; {decided(each).lower()}."

    @property
    def said_before(self) -> Iterator[tuple[int, list[tuple[str, tuple[Comment, ...]]]]]:
        """Yield each earlier round in which somebody wrote, with what is shown of it.

        Comments stand beside what they are on: an item's text and name, or nothing for the scenario
        itself.
        """
        for each in self.earlier:
            on_items = ((f"{i.text} ({i.name})".strip(), i.comments) for i in each.items)
            remarked = [(called, c) for called, c in (("", each.comments), *on_items) if shown(c)]
            if remarked:
                yield each.subject.round, remarked

    @property
    def items(self) -> list[ItemResult]:
        """Its items of which there is something to read."""
        return [i for i in self.result.items if i.to_read or shown(i.comments)]

    @property
    def n_withheld(self) -> int:
        """Comments on it and its items that are not shown."""
        groups = (self.result.comments, *(item.comments for item in self.result.items))
        return sum(len(comments) - len(shown(comments)) for comments in groups)

    @property
    def says_something(self) -> bool:
        """Whether there is more to read of it than its numbers."""
        result = self.result
        here = result.low_ratings or result.comments or self.items or self.n_withheld
        return bool(here) or any(True for _ in self.said_before)


def cards(study: StudyResults) -> list[Card]:
    """Return a card a scenario: what asks for work first."""
    earlier: dict[str, tuple[ScenarioResult, ...]] = {}
    for each in study.earlier:
        name = each.subject.scenario
        earlier[name] = (*earlier.get(name, ()), each)
    return [Card(each, earlier.get(each.subject.scenario, ())) for each in study.worst_first]


def _count(judged: Judged) -> str:
    return SHARE_ALONE.text(judged.at_cut, Form.of_many) if judged.at_cut else DASH


def decided(result: ScenarioResult) -> str:
    """Return what was decided, in a word."""
    return DECISIONS[result.decision or UNDECIDED]


_TOPICS = {"": "", "missing": ", on what is missing", "country": ", on other countries"}


def shown(comments: tuple[Comment, ...]) -> list[tuple[str, str]]:
    """Return who wrote, and what, of comments that may be shown."""
    return [
        (f"{each.rater.id}, {ROLES[each.rater.role]}{_TOPICS[each.topic]}", each.text)
        for each in comments
        if each.text != WITHHELD
    ]


def spoken(judged: Judged) -> str:
    """Return what the bar of its ratings shows: "1 gave 3, 7 gave 5"."""
    counts = zip(LEVELS, judged.counts, strict=True)
    return f"{judged.scale}: {', '.join(f'{n} gave {level}' for level, n in counts if n)}"


def in_words(judged: Judged) -> Iterator[str]:
    """Yield what the ratings on a scale come to."""
    if judged.at_cut is None:
        yield f"{judged.n_asked} were asked; {judged.reason}."
        return
    k, n = judged.at_cut.k, judged.at_cut.n
    needed = judged.reason if judged.least is None else f"{judged.least} were needed"
    yield f"{k} of {n} gave {judged.terms.endorsing}; {needed}."
    if judged.cut_sensitive:
        yield _otherwise(judged.terms, passes=not judged.passes)
    if (left := judged.n_asked - n) > 0:
        have = "has" if left == 1 else "have"
        yield f"{left} of {judged.n_asked} who were asked {have} not rated it."


def _otherwise(terms: Terms, *, passes: bool) -> str:
    """Return what the other cut would decide, where it differs."""
    between = " and ".join(map(str, range(*sorted((terms.cut, terms.other_cut)))))
    counted = "counted too" if terms.other_cut < terms.cut else "not counted"
    return f"With {between} {counted} it would{'' if passes else ' not'} pass."
