"""Tables of how far the numbers can be trusted: the grader, people, the items."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TypeVar

from careeval.core.scenario import Rubric
from careeval.report import words
from careeval.report.tables import LAST, Cell, Head, Table, brief, count, estimated, text, written
from careeval.results.amounts import percent
from careeval.results.audit import AuditResults, People
from careeval.results.class_agreement import ClassAgreement
from careeval.results.corrected import Corrected, as_graded
from careeval.results.findings import Findings
from careeval.results.grader_card import GraderCard
from careeval.results.graders import GraderPair
from careeval.results.items import ItemStatistic
from careeval.results.measured import Measured
from careeval.results.summary import Summary
from careeval.sheets.kinds import UNKNOWN
from careeval.sheets.words import brief_grader_names, entry_names

T = TypeVar("T")

# The grader


def corrected(findings: Findings) -> Table:
    """Scores as people correct them, with what that means; no row where nobody was audited."""
    corrected = _of_entries(findings, lambda card: card.corrected)
    rows = [
        (
            text(name),
            text(s.rubric.value.capitalize()),
            _graded(score),
            estimated(score.corrected),
            count(score.n_responses),
            count(score.n_judgments),
            text(score.sentence()),
        )
        for name, s, score in corrected
    ]
    heads = (
        Head("System"), Head("Rubric"), Head("Score as graded", True),
        Head("Corrected by people", True), Head("Responses read", True),
        Head("Judgments read", True), Head("What it means"),
    )  # fmt: skip
    note = as_graded(
        (s, findings.cards[s.grader].corrected.get((s.system, s.rubric)))
        for s in findings.summaries
    )
    return Table("Scores, corrected by people", heads, rows, note, "telling")


def corrected_in_short(card: GraderCard) -> Table:
    """The same for a grader's card, where there is little room."""
    rows = [
        (
            text(system, rubric.value),
            _graded(of),
            estimated(of.corrected, with_bounds=False),
        )
        for (system, rubric), of in card.corrected.items()
    ]
    heads = (Head("System"), Head("As graded", True), Head("Corrected", True))
    return Table(f"Scores by {card.grader}, corrected by people", heads, rows)


def _graded(of: Corrected) -> Cell:
    if of.graded is None:
        return Cell(UNKNOWN, ("no response was judged whole",), LAST)
    return Cell(f"{percent(of.graded)}%", (), of.graded)


def against_people(grader: str, human: AuditResults) -> Table:
    """A grader against people who read the same answers, beside people against each other."""
    rows = [
        *(
            _measured(name, of)
            for name, of in (("−2 items", human.severe), ("All items", human.overall))
        ),
        *(
            _between(name, of)
            for name, of in (
                ("People, −2 items", human.people_severe),
                ("People, all items", human.people),
            )
        ),
    ]
    heads = (
        Head("Over"), Head("Judgments", True), Head("Finds, of what is there", True),
        Head("Clears, of what is not", True), Head("Right, of what it finds", True),
        Head("The same", True),
    )  # fmt: skip
    note = (
        "Beneath a number: its 95% interval. People: those who labelled against each other, before "
        "anything was settled; a grader cannot be held to more."
    )
    return Table(f"{grader} against people", heads, rows, note)


def _measured(name: str, of: Measured) -> tuple[Cell, ...]:
    return (
        text(name),
        count(of.n, f"{of.n_present:,} are there"),
        *(estimated(e) for e in (of.sensitivity, of.specificity, of.ppv)),
        Cell("–", key=LAST),
    )


def _between(name: str, of: People) -> tuple[Cell, ...]:
    return (
        text(name),
        count(of.n, "by two or more"),
        *[Cell("–", key=LAST)] * 3,
        estimated(of.same),
    )


_AGREEMENT = Head("Judgments", True), Head("Positive agreement", True), Head("AC1", True)
_AGREEMENT_NOTE = (
    "Positive agreement: of what one calls present, the share that the other does too. AC1 counts "
    "agreement on what is absent as well, and takes chance away. Beneath a number: its "
    "95% interval."
)


def agreement_with_people(grader: str, human: AuditResults) -> Table:
    """Agreement on each point class: the grader with people, and people with each other."""
    rows = [
        (
            text(f"{rubric.value.capitalize()}, {words.signed(points)}"),
            *_agreement(human.agreement_by_points[rubric, points]),
            *_agreement(human.people_by_points[rubric, points]),
        )
        for rubric, points in human.agreement_by_points
    ]
    heads = (
        Head("Items"), *_AGREEMENT,
        Head("People: judgments", True), Head("People: positive agreement", True),
        Head("People: AC1", True),
    )  # fmt: skip
    return Table(f"{grader} and people, by points of the item", heads, rows, _AGREEMENT_NOTE)


def _agreement(by_class: ClassAgreement) -> tuple[Cell, ...]:
    """The cells of `_AGREEMENT`."""
    return (
        count(by_class.n, f"{by_class.n_either:,} present to either"),
        estimated(by_class.positive_agreement),
        estimated(by_class.ac1, unit="", scale=1),
    )


def noise(findings: Findings) -> Table:
    """What judging the same responses again shows."""
    worst = words.worst_of(findings.summaries)
    rows = [
        (
            text(name),
            text(s.rubric.value.capitalize()),
            count(again.n_regraded, f"up to {again.n_gradings} gradings"),
            estimated(again.flipped),
            *(
                Cell(UNKNOWN, (again.reason,), LAST)
                if share is None
                else Cell(f"{percent(share)}%", (), share)
                for share in (again.scenario_share, again.response_share, again.grading_share)
            ),
            estimated(s.worst_at_n),
            estimated(again.corrected_worst_at_n),
        )
        for name, s, again in _of_entries(findings, lambda card: card.noise)
    ]
    heads = (
        Head("System"), Head("Rubric"), Head("Judged again", True), Head("Judgments changed", True),
        Head("Variance: scenario", True), Head("Variance: response", True),
        Head("Variance: grading", True), Head(worst, True),
        Head(f"{worst} without grading noise", True),
    )  # fmt: skip
    return Table("What judging again shows", heads, rows)


def _of_entries(
    findings: Findings, take: Callable[[GraderCard], Mapping[tuple[str, Rubric], T]]
) -> Iterator[tuple[str, Summary, T]]:
    """What the graders' cards hold of each entry, with its name, where they hold anything."""
    for name, s in zip(entry_names(findings.summaries), findings.summaries, strict=True):
        held = take(findings.cards[s.grader]).get((s.system, s.rubric))
        if held is not None:
            yield name, s, held


def pairs(found: Sequence[GraderPair]) -> Table:
    """Graders held against each other, a row a point class."""
    short = brief_grader_names(name for pair in found for name in (pair.a, pair.b))
    rows = [
        (
            text(f"{short[pair.a]} and {short[pair.b]}", f"on {', '.join(pair.systems)}"),
            text(f"{rubric.value.capitalize()}, {words.signed(points)}"),
            *_agreement(by_class),
        )
        for pair in found
        for (rubric, points), by_class in pair.by_points.items()
    ]
    heads = Head("Graders"), Head("Items"), *_AGREEMENT
    return Table("Graders held against each other", heads, rows, _AGREEMENT_NOTE)


MOST_ITEMS = 100
"""Items that the page lists; a table file has all."""


HIDDEN = "An item of a scenario that is not public"


def odd_items(found: Sequence[ItemStatistic], hidden: Container[str]) -> Table:
    """Items to send to experts: always present, never present, or at odds with the rest.

    Args:
        found: All items.
        hidden: The scenarios whose items may not be read.
    """
    odd = [item for item in found if item.always or item.never or (item.rest.value or 0) < 0]
    rows = [
        (
            text(
                HIDDEN if item.scenario in hidden else item.text,
                f"{item.scenario}, {item.rubric.value}",
            ),
            Cell(words.signed(item.points), (), float(item.points)),
            text(
                "always present"
                if item.always
                else "never present"
                if item.never
                else "goes against the rest"
            ),
            brief(item.presence, f"of {item.n:,}"),
            Cell("–", key=LAST)
            if item.rest.value is None
            else Cell(written(item.rest.value, 1), (), item.rest.value),
        )
        for item in odd[:MOST_ITEMS]
    ]
    heads = (
        Head("Item"), Head("Points", True), Head("Why"), Head("Present", True),
        Head("Correlation with the rest", True),
    )  # fmt: skip
    note = f"The first {MOST_ITEMS} of {len(odd):,}." if len(odd) > MOST_ITEMS else ""
    return Table(f"{len(odd):,} of {len(found):,} items", heads, rows, note)
