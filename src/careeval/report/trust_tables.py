"""Tables of how far the numbers can be trusted: the instruments, the grader, people, the items."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from careeval.core.scenario import Rubric
from careeval.report import words
from careeval.report.tables import LAST, Cell, Head, Table, brief, count, estimated, text, written
from careeval.report.words import UNKNOWN, entry_names
from careeval.results.audit import AuditResults, People
from careeval.results.corrected import Corrected, as_graded
from careeval.results.details import Detail
from careeval.results.exports import percent
from careeval.results.findings import Findings
from careeval.results.grader_card import GraderCard
from careeval.results.graders import GraderPair, OwnVendorOut
from careeval.results.items import ItemStatistic
from careeval.results.measured import Measured
from careeval.results.summary import Summary
from careeval.stats import Estimate

# The instruments


def instruments(summaries: Sequence[Summary], details: Sequence[Detail]) -> Table:
    """Both rubrics as measures, a row an entry."""
    rows = [
        (
            text(name),
            estimated(d.rubric_correlation, unit="", scale=1, with_bounds=False),
            estimated(d.instruments[Rubric.ladder].scenario_mean, with_bounds=False),
            estimated(d.instruments[Rubric.ladder].best_rung, with_bounds=False),
            _reliability(d, Rubric.ladder),
            estimated(d.instruments[Rubric.actions].scenario_mean, with_bounds=False),
            _reliability(d, Rubric.actions),
        )
        for name, d in zip(entry_names(summaries), details, strict=True)
    ]
    heads = (
        Head("System"), Head("Correlation", True), Head("Ladder: scenario mean", True),
        Head("Ladder: best rung only", True), Head("Ladder: reliability", True),
        Head("Actions: scenario mean", True), Head("Actions: reliability", True),
    )  # fmt: skip
    return Table("The two instruments in numbers", heads, rows)


def lengths(summaries: Sequence[Summary], details: Sequence[Detail]) -> Table:
    """How long answers are, and what goes with it."""
    rows = [
        (
            text(name),
            estimated(d.length.words, unit="", scale=1),
            estimated(d.length.per_100_words, unit=" points"),
        )
        for name, d in zip(entry_names(summaries), details, strict=True)
    ]
    heads = (
        Head("System"), Head("Words of an answer", True),
        Head("Score with 100 more words, same scenario", True),
    )  # fmt: skip
    return Table("Length of the answers", heads, rows)


def _reliability(detail: Detail, rubric: Rubric) -> Cell:
    measure = detail.instruments[rubric]
    if measure.reliability is None:
        return Cell(UNKNOWN, (measure.why_no_reliability,), LAST)
    found = measure.reliability
    asides = (f"one response {found.icc:.2f}", f"over {measure.n_reliability} scenarios")
    return Cell(f"{found.of_mean:.2f}", asides, found.of_mean)


# The grader


def corrected(findings: Findings) -> Table:
    """Scores as people correct them, with what that means; no row where nobody was audited."""
    names = _names(findings.summaries)
    rows = [
        (
            text(names.get((system, card.grader), system)),
            text(rubric.value.capitalize()),
            _graded(of),
            estimated(of.corrected),
            count(of.n_responses),
            count(of.n_judgments),
            text(of.sentence()),
        )
        for card in findings.cards.values()
        for (system, rubric), of in card.corrected.items()
    ]
    heads = (
        Head("System"), Head("Rubric"), Head("Score as graded", True),
        Head("Corrected by people", True), Head("Responses read", True),
        Head("Judgments read", True), Head("What it means"),
    )  # fmt: skip
    note = as_graded((s, findings.cards[s.grader].scores_of(s.model)) for s in findings.summaries)
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
        Head("The same", True), Head("Cohen’s kappa", True),
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
        estimated(of.kappa, unit="", scale=1),
    )


def _between(name: str, of: People) -> tuple[Cell, ...]:
    return (
        text(name),
        count(of.n, "by two or more"),
        *[Cell("–", key=LAST)] * 3,
        estimated(of.same),
        estimated(of.kappa, unit="", scale=1),
    )


def noise(findings: Findings) -> Table:
    """What judging the same responses again shows."""
    worst = words.worst_of(findings.summaries)
    names = _names(findings.summaries)
    rows = [
        (
            text(names.get((model, card.grader), model)),
            text(rubric.value.capitalize()),
            count(found.n_regraded, f"up to {found.n_gradings} gradings"),
            estimated(found.flipped),
            *(
                Cell(UNKNOWN, (found.reason,), LAST)
                if share is None
                else Cell(f"{percent(share)}%", (), share)
                for share in (found.scenario_share, found.response_share, found.grading_share)
            ),
            estimated(_worst_of(findings, model, card.grader, rubric)),
            estimated(found.corrected_worst_at_n),
        )
        for card in findings.cards.values()
        for (model, rubric), found in card.noise.items()
    ]
    heads = (
        Head("System"), Head("Rubric"), Head("Judged again", True), Head("Judgments changed", True),
        Head("Variance: scenario", True), Head("Variance: response", True),
        Head("Variance: grading", True), Head(worst, True),
        Head(f"{worst} without grading noise", True),
    )  # fmt: skip
    return Table("What judging again shows", heads, rows)


def _names(summaries: Sequence[Summary]) -> dict[tuple[str, str], str]:
    return {
        (s.model, s.grader): name for name, s in zip(entry_names(summaries), summaries, strict=True)
    }


def _worst_of(findings: Findings, model: str, grader: str, rubric: Rubric) -> Estimate:
    for s in findings.summaries:
        if (s.model, s.grader) == (model, grader):
            return s.worst_at_n if rubric is Rubric.ladder else s.action_worst_at_n
    return Estimate.unknown("it was not judged")


def pairs(found: Sequence[GraderPair]) -> Table:
    """Graders held against each other."""
    short = words.grader_names(name for pair in found for name in (pair.a, pair.b))
    rows = [
        (
            text(f"{short[pair.a]} and {short[pair.b]}", f"on {', '.join(pair.systems)}"),
            count(pair.n),
            estimated(pair.agree),
            estimated(pair.kappa, unit="", scale=1),
            *(_points_share(pair, points) for points in (2, 1, 0, -1, -2)),
        )
        for pair in found
    ]
    heads = (
        Head("Graders"), Head("Judgments of both", True), Head("The same", True),
        Head("Cohen’s kappa", True),
        *(Head(f"The same on {words.signed(points)}", True) for points in (2, 1, 0, -1, -2)),
    )  # fmt: skip
    return Table("Graders held against each other", heads, rows)


def _points_share(pair: GraderPair, points: int) -> Cell:
    if (found := pair.by_points.get(points)) is None:
        return Cell("–", key=LAST)
    share, n = found
    return Cell(f"{percent(share)}%", (f"of {n:,}",), share)


def own_vendor_out(found: Sequence[OwnVendorOut]) -> Table:
    """Scores without the graders of a system's own vendor."""
    short = words.grader_names(
        name for each in found for name in (*each.kept, *each.left_out, *each.unknown)
    )

    def said(names: Iterable[str]) -> str:
        return ", ".join(short.get(name, name) for name in names) or "none"

    rows = [
        (
            text(each.model),
            text(said(each.left_out)),
            text(said(each.kept), f"vendor unknown: {said(each.unknown)}" if each.unknown else ""),
            estimated(each.score),
            estimated(each.action_score),
        )
        for each in found
    ]
    heads = (
        Head("System"), Head("Graders left out"), Head("Graders kept"),
        Head("Score, ladder", True), Head("Score, actions", True),
    )  # fmt: skip
    return Table("Without the graders of its own vendor", heads, rows)


MOST_ITEMS = 100
"""Items that the page lists; a table file has all."""


HIDDEN = "An item of a scenario that is not public"


def odd_items(found: Sequence[ItemStatistic], public: Container[tuple[str, str]]) -> Table:
    """Items to send to experts: always present, never present, or at odds with the rest.

    Args:
        found: All items.
        public: The (bank, scenario) whose items may be read.
    """
    odd = [item for item in found if item.always or item.never or (item.rest.value or 0) < 0]
    rows = [
        (
            text(
                item.text if (item.bank, item.scenario) in public else HIDDEN,
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
