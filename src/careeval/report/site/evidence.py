"""How far the graders' judgments can be trusted."""

from __future__ import annotations

from careeval.report.site.agreements import (
    AGREEMENT,
    AGREEMENT_NOTE,
    POINT_CLASS,
    agreement,
    point_class,
)
from careeval.report.site.boards import worst_of
from careeval.report.site.contents import Contents
from careeval.report.site.sheets import (
    Cell,
    Column,
    Sheet,
    amounts,
    estimate,
    estimates,
    number,
    share,
    words,
)
from careeval.results.ladder_check import Contradiction

_CONTRADICTIONS = {
    Contradiction.top_without_next: "+2 without the +1 that is a part of it",
    Contradiction.rung_without_act: "a rung without an act that it is made of",
    Contradiction.acts_without_rung: "all acts of a rung, and not the rung",
    Contradiction.excluded_pair: "two acts that exclude each other",
}


def contradictions(site: Contents) -> Sheet:
    """How often each grader's judgments contradict each other."""
    rows = [
        (
            site.judge(card.grader),
            Cell(_CONTRADICTIONS[kind], (kind.value,), asides=(found.reason,)),
            number(found.count),
            number(found.opportunities),
            share(found.share),
            words(found.reason),
        )
        for card in site.found.cards.values()
        for kind, found in card.contradictions.items()
    ]
    return Sheet(
        "contradictions",
        "Judgments that contradict each other",
        (
            Column("grader", "Grader"),
            Column("kind", "What cannot both be true"),
            amounts("count", "Found"),
            amounts("opportunities", "Opportunities"),
            amounts("share", "Share"),
            Column("reason", "Why it is unknown", hidden=True),
        ),
        tuple(rows),
        sortable=False,
    )


def noise(site: Contents) -> Sheet:
    """What judging the same responses again shows."""
    found = [
        (card.grader, system, noise)
        for card in site.found.cards.values()
        for (system, _), noise in card.noise.items()
    ]
    rows = [
        (
            words(system),
            site.judge(grader),
            words(n.rubric.value),
            Cell(f"{n.n_regraded:,}", (n.n_regraded,), n.n_regraded, (n.reason,)),
            estimate(n.flipped),
            share(n.scenario_share),
            share(n.response_share),
            share(n.grading_share),
            estimate(n.corrected_worst_at_n),
            words(n.reason or "–", tone="weak"),
        )
        for grader, system, n in found
    ]
    return Sheet(
        "grading-noise",
        "Where the spread of scores comes from",
        (
            Column("system", "System"),
            Column("grader", "Grader"),
            Column("rubric", "Rubric"),
            amounts("n_regraded", "Judged again", "responses"),
            estimates("flipped", "Judgments changed"),
            amounts("scenario_share", "Scenario", "of the variance"),
            amounts("response_share", "Response", "of the variance"),
            amounts("grading_share", "Grading", "of the variance"),
            estimates("corrected_worst_at_n", worst_of(site.listed), "without the grader’s noise"),
            Column("reason", "Why not split", hidden=True),
        ),
        tuple(rows),
    )


def grader_pairs(site: Contents) -> Sheet:
    """Graders that judged the same responses, two by two, a row a point class."""
    rows = [
        (
            site.judge(pair.a),
            site.judge(pair.b),
            words(", ".join(pair.systems)),
            *point_class(key),
            *agreement(by_class),
        )
        for pair in site.found.grader_pairs
        for key, by_class in pair.by_points.items()
    ]
    return Sheet(
        "grader-pairs",
        "Graders two by two",
        (
            Column("a", "One"),
            Column("b", "Other"),
            Column("systems", "Systems"),
            *POINT_CLASS,
            *AGREEMENT,
        ),
        tuple(rows),
        note=AGREEMENT_NOTE,
        sortable=False,
    )
