"""One round of a study as it came in: who was asked, and what they said. Nothing is counted yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from careeval.core.rating import Comment, PointsView, Rater, Rating, Scale, Subject, Sufficiency
from careeval.core.scenario import Rubric, Scenario, Split
from careeval.results.withheld import WITHHELD, names_by_place

T = TypeVar("T", Rating, PointsView, Comment, Sufficiency)


@dataclass(frozen=True, slots=True)
class Seated:
    """A rater in a round: what was asked for, and how the answers came.

    Attributes:
        scenarios: What the rater was given.
        n_typed: Answers that somebody else typed for them.
        agreed: Whether they agreed to the terms, in the app or as recorded from paper.
        years: Of experience; `None` where it was not said.
    """

    rater: Rater
    scenarios: tuple[str, ...]
    n_typed: int = 0
    agreed: bool = False
    years: int | None = None


@dataclass(frozen=True, slots=True)
class Proposed:
    """What a bank proposes of an item: its points, and whether what it describes harms rights."""

    points: int
    rights: bool = False


@dataclass(frozen=True, slots=True)
class RoundSaid:
    """One round as it came in.

    Attributes:
        number: From 1.
        versions: What was rated: scenario → version.
        seats: Who is still in; who has withdrawn is not here, nor in what follows.
        note: What could not be read, as a sentence; empty where all could.
        words: What raters read: scenario or item → its text, those that may be shown.
        hashes: Of the texts that were rated, as `careeval.bank.rated_hash`: scenario → hash.
        items: Scenario → each of its items, as the bank proposes it; no key where the text that was
            rated is lost.
        held_out: Scenarios of which no words may be shown: their items are called by their places,
            and comments on them are `WITHHELD`.
        sufficiency: Who had the information needed; none in a round that did not ask.
    """

    number: int
    versions: Mapping[str, int]
    seats: tuple[Seated, ...]
    ratings: tuple[Rating, ...]
    views: tuple[PointsView, ...]
    comments: tuple[Comment, ...]
    note: str = ""
    words: Mapping[Subject, str] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)
    items: Mapping[str, Mapping[Subject, Proposed]] = field(default_factory=dict)
    held_out: frozenset[str] = frozenset()
    sufficiency: tuple[Sufficiency, ...] = ()

    def subject(self, scenario: str) -> Subject:
        """A scenario of this round."""
        return Subject(scenario, self.versions[scenario], self.number)


def without_held_out_words(
    said: RoundSaid, scenarios: Mapping[str, Scenario | None], public: Collection[str]
) -> RoundSaid:
    """The same numbers, without what tells the words of held-out scenarios.

    Args:
        said: As it came in.
        scenarios: Those of the round as they were rated; `None` where that is lost.
        public: Ids that are public in some bank: of a lost one, all there is to go by.
    """
    secret = {
        name
        for name, scenario in scenarios.items()
        if (name not in public if scenario is None else scenario.split is Split.held_out)
    }
    if not secret:
        return said
    places = {s.id: names_by_place(s) for s in scenarios.values() if s and s.id in secret}

    def called(of: Subject) -> Subject:
        if of.scenario not in secret or of.rubric is None:
            return of
        return replace(of, item=places[of.scenario][of.rubric, of.item])

    return replace(
        said,
        ratings=tuple(replace(r, subject=called(r.subject)) for r in said.ratings),
        views=tuple(replace(v, subject=called(v.subject)) for v in said.views),
        comments=tuple(
            replace(c, subject=called(c.subject), text=WITHHELD)
            if c.subject.scenario in secret
            else c
            for c in said.comments
        ),
        items={
            name: {called(item): proposed for item, proposed in items.items()}
            for name, items in said.items.items()
        },
        held_out=frozenset(secret),
    )


def words_shown(scenario: Scenario, round_: int) -> dict[Subject, str]:
    """The texts of a scenario and its items; of a held-out one none, since they stay sealed."""
    if scenario.split is Split.held_out:
        return {}
    found = {Subject(scenario.id, scenario.version, round_): scenario.text}
    for rubric in Rubric:
        for item in scenario.rubric(rubric):
            found[Subject(scenario.id, scenario.version, round_, rubric, item.id)] = item.text
    return found


class Answers:
    """A round's answers, found by what they are about."""

    def __init__(self, said: RoundSaid) -> None:
        self.said = said
        self.ratings = _by_subject(said.ratings)
        self.views = _by_subject(said.views)
        self.comments = _by_subject(said.comments)
        self.sufficiency = _by_subject(said.sufficiency)
        self._items: defaultdict[str, set[Subject]] = defaultdict(set)
        for subject in (*self.ratings, *self.views, *self.comments):
            if subject.rubric is not None:
                self._items[subject.scenario].add(subject)

    def proposed(self, item: Subject) -> Proposed | None:
        """Return what the bank proposes of an item; `None` where its text is lost."""
        return self.said.items.get(item.scenario, {}).get(item)

    def rated(self, subject: Subject, scale: Scale) -> tuple[Rating, ...]:
        """What was given it on a scale."""
        return tuple(r for r in self.ratings.get(subject, ()) if r.scale is scale)

    def items(self, scenario: str) -> list[Subject]:
        """Every item that anybody said anything of; the ladder first, by id."""
        order = list(Rubric)
        return sorted(
            self._items[scenario],
            key=lambda item: (order.index(item.rubric or order[0]), item.item),
        )

    def n_asked(self, scenario: str) -> int:
        """How many were to rate it."""
        return sum(scenario in seat.scenarios for seat in self.said.seats)


def _by_subject(given: Iterable[T]) -> dict[Subject, tuple[T, ...]]:
    found: dict[Subject, list[T]] = {}
    for each in given:
        found.setdefault(each.subject, []).append(each)
    return {subject: tuple(all_of_it) for subject, all_of_it in found.items()}
