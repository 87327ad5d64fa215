"""Cards of a study's scenarios: the decision, its reasons, and the comments to read.

A card is text; the full numbers are in the tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from careeval.core.rating import Comment
from careeval.people.study.kinds import DECISIONS, ROLES, SHARE_ALONE, UNDECIDED
from careeval.people.study.results import StudyResults
from careeval.people.study.scale_ratings import LEVELS, DecisionTerms, ScaleRatings
from careeval.people.study.scenario_decisions import Decision, ItemResult, ScenarioResult
from careeval.results.held_out_words import WITHHELD
from careeval.sheets.kinds import DASH, Form

HEADINGS = {
    Decision.keep: "To be read before it is accepted",
    Decision.revise: "To be read when it is revised",
    Decision.drop: "To be read before it is given up",
    None: "To be read, whatever is decided",
}


@dataclass(frozen=True)
class StudyCard:
    """The card of one scenario."""

    result: ScenarioResult  # Result of the newest round of the scenario
    earlier: tuple[ScenarioResult, ...]  # Results of the rounds before

    @property
    def decision(self) -> str:
        """Decision on the scenario."""
        return decision_text(self.result)

    @property
    def heading(self) -> str:
        """Heading above the comments and ratings to read."""
        return HEADINGS[self.result.decision]

    @property
    def earlier_results(self) -> Iterator[str]:
        """Yield a sentence on each earlier round."""
        for each in self.earlier:
            counts = ", ".join(f"{j.scale} {_count(j)}" for j in each.judged)
            about = f"Round {each.subject.round}, version {each.subject.version}"
            yield f"{about}: {counts}; {decision_text(each).lower()}."

    @property
    def earlier_comments(self) -> Iterator[tuple[int, list[tuple[str, tuple[Comment, ...]]]]]:
        """Yield each earlier round that has comments that may be shown.

        Comments are listed with the text and name of their item; the text is empty for comments on
        the scenario itself.
        """
        for each in self.earlier:
            on_items = ((f"{i.text} ({i.name})".strip(), i.comments) for i in each.items)
            by_subject = (("", each.comments), *on_items)
            to_show = [
                (name, comments) for name, comments in by_subject if shown_comments(comments)
            ]
            if to_show:
                yield each.subject.round, to_show

    @property
    def items(self) -> list[ItemResult]:
        """Items with ratings or comments to read."""
        return [i for i in self.result.items if i.to_read or shown_comments(i.comments)]

    @property
    def n_withheld(self) -> int:
        """Number of comments on the scenario and its items that are not shown."""
        groups = (self.result.comments, *(item.comments for item in self.result.items))
        return sum(len(comments) - len(shown_comments(comments)) for comments in groups)

    @property
    def has_more_to_read(self) -> bool:
        """True if the card has comments or ratings to read, besides numbers."""
        result = self.result
        current = result.low_ratings or result.comments or self.items or self.n_withheld
        return bool(current) or any(True for _ in self.earlier_comments)


def cards(study: StudyResults) -> list[StudyCard]:
    """Return a card for each scenario, those that need work first."""
    earlier: dict[str, tuple[ScenarioResult, ...]] = {}
    for each in study.earlier:
        name = each.subject.scenario
        earlier[name] = (*earlier.get(name, ()), each)
    return [StudyCard(each, earlier.get(each.subject.scenario, ())) for each in study.worst_first]


def _count(judged: ScaleRatings) -> str:
    return SHARE_ALONE.text(judged.at_cut, Form.of_many) if judged.at_cut else DASH


def decision_text(result: ScenarioResult) -> str:
    """Return the decision on a scenario as text."""
    return DECISIONS[result.decision or UNDECIDED]


_TOPICS = {"": "", "missing": ", on what is missing", "country": ", on other countries"}


def shown_comments(comments: tuple[Comment, ...]) -> list[tuple[str, str]]:
    """Return the rater and the text of each comment that may be shown."""
    return [
        (f"{each.rater.id}, {ROLES[each.rater.role]}{_TOPICS[each.topic]}", each.text)
        for each in comments
        if each.text != WITHHELD
    ]


def bar_label(judged: ScaleRatings) -> str:
    """Return the ratings that a bar shows, as in "1 gave 3, 7 gave 5"."""
    counts = zip(LEVELS, judged.counts, strict=True)
    return f"{judged.scale}: {', '.join(f'{n} gave {level}' for level, n in counts if n)}"


def rating_sentences(judged: ScaleRatings) -> Iterator[str]:
    """Yield sentences on the ratings of a scenario or item on one scale."""
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


def _otherwise(terms: DecisionTerms, *, passes: bool) -> str:
    """Return a sentence on the decision at the other cut."""
    between = " and ".join(map(str, range(*sorted((terms.cut, terms.other_cut)))))
    counted = "counted too" if terms.other_cut < terms.cut else "not counted"
    return f"With {between} {counted} it would{'' if passes else ' not'} pass."
