"""Boards: the entries that can be compared, each with its two main numbers first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from careeval.report.panels.entries import Report
from careeval.report.panels.graders import trust_line
from careeval.results.compare import Basis, Ranked, Ranking, basis
from careeval.results.entry import Entry
from careeval.results.findings import Findings
from careeval.results.metrics import HEADLINE
from careeval.sheets.entries import metric_field
from careeval.sheets.kinds import COUNT, ESTIMATE, RANKS, Kind
from careeval.sheets.words import brief_grader_names, headline_sentence

_LOOKS = {"severe": "harm", "score": "score", "mild": "mild"}
"""Key of a metric → CSS class of its colour."""


@dataclass(frozen=True)
class Fact:
    """One number on the card of an entry."""

    head: str
    look: str
    text: str
    lines: tuple[str, ...]  # Small lines below the number
    rank: str = ""  # The ranks that the entry may have; empty if fewer than two entries are ranked

    @staticmethod
    def of(kind: Kind, value: object, head: str, look: str = "", rank: str = "") -> Fact:
        """Return the fact that shows a value of this kind."""
        return Fact(head, look, kind.page_text(value), kind.lines(value), rank)


@dataclass(frozen=True)
class EntryCard:
    """The card of one entry on the first screen."""

    name: str
    sentence: str  # The two main numbers as a sentence
    facts: tuple[Fact, ...]  # All headline numbers
    notes: tuple[str, ...]  # Numbers of scenarios, epochs, and missing or unresolved data
    not_ranked_reason: str  # Reason why the entry may not be ranked; empty if it may


@dataclass(frozen=True)
class ReportBoard:
    """A board: entries that can be compared, in the order of all tables of the report."""

    caption: str  # The rubric, and other differences from the other boards
    trust: str  # One line on how far the grader can be trusted
    cards: tuple[EntryCard, ...]
    is_ranked: bool  # True if at least two entries are ranked


def boards(report: Report) -> Iterator[ReportBoard]:
    """Yield a board for each ranking, the largest first."""
    rankings = report.findings.rankings
    for ranking in sorted(rankings, key=lambda r: -len(r.ranked) - len(r.left_out)):
        yield _board(ranking, report.findings)


def _board(ranking: Ranking, findings: Findings) -> ReportBoard:
    ranked = {each.place: each for each in ranking.ranked}
    places = (
        place
        for place, each in enumerate(findings.entries)
        if place in ranked or basis(each) == ranking.basis
    )
    several = len(ranked) > 1
    cards = []
    for place in places:
        each, rank = findings.entries[place], ranked.get(place)
        s, corrected = each, each.corrected
        not_ranked_reason = "; ".join(s.not_ranked) or ranking.left_out.get(s.system, "")
        facts = [*_facts(s, rank if several else None)]
        notes = [*_notes(s)]
        if corrected:
            facts.append(Fact.of(ESTIMATE, corrected.corrected, "Score, corrected by people"))
            n, n_responses = COUNT.text(corrected.n_judgments), COUNT.text(corrected.n_responses)
            notes.append(f"{n} judgments read by people in {n_responses} responses")
        cards.append(
            EntryCard(
                s.system,
                headline_sentence(s),
                tuple(facts),
                tuple(notes),
                "" if rank else not_ranked_reason,
            )
        )
    trust = trust_line(findings.cards[ranking.basis.grader])
    return ReportBoard(_caption(ranking.basis, findings), trust, tuple(cards), several)


def _facts(s: Entry, ranked: Ranked | None) -> Iterator[Fact]:
    ranks = {"score": ranked.ranks, "severe": ranked.severe_ranks} if ranked else {}
    for metric in HEADLINE:
        field = metric_field(metric, str(s.n_epochs))
        # name the rubric, since scores on two rubrics do not compare
        head = f"{field.heading}, {s.rubric}" if metric.key == "score" else field.heading
        rank = RANKS.text(ranks[metric.key]) if metric.key in ranks else ""
        yield Fact.of(field.kind, s.numbers[metric.key], head, _LOOKS.get(metric.key, ""), rank)


def _notes(s: Entry) -> Iterator[str]:
    yield f"{s.n_scenarios} scenarios × {s.n_epochs} epochs"
    if s.n_missing:
        yield f"{s.n_missing} missing"
    if s.n_unresolved:
        yield f"{s.n_unresolved} of {COUNT.text(s.n_judgments)} judgments unresolved"


_DIFFERENCES = {
    "grader": "judged by {}",
    "bank": "bank {}",
    "bank_n": "version {} of the bank",
    "bank_hash": "scenarios {}",
    "protocol_n": "asked by protocol {}",
    "grading_n": "judged by protocol {}",
}
"""Properties besides the rubric in which boards can differ → their wording."""


def _caption(own: Basis, findings: Findings) -> str:
    """Return the rubric, and the properties that differ between the boards of a report."""
    others = [ranking.basis._asdict() for ranking in findings.rankings]
    graders = brief_grader_names(s.grader for s in findings.entries)
    names = own._asdict() | {"grader": graders[own.grader]}
    parts = [
        words.format(names[key])
        for key, words in _DIFFERENCES.items()
        if len({other[key] for other in others}) > 1
    ]
    return ", ".join([f"Rubric: {own.rubric.value}", *parts])
