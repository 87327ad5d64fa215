"""How far the numbers can be trusted: the graders' judgments, and the two rubrics as measures."""

from __future__ import annotations

from careeval.core.scenario import Rubric
from careeval.report.site.boards import worst_of
from careeval.report.site.contents import Contents, short
from careeval.report.site.sheets import (
    Cell,
    Column,
    Scale,
    Sheet,
    amounts,
    correlation,
    estimate,
    estimates,
    kappa,
    number,
    share,
    words,
)
from careeval.report.words import signed
from careeval.results.details import Instrument
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
            words(_CONTRADICTIONS[kind]),
            number(found.count),
            number(found.opportunities),
            share(found.share),
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
    """Graders that judged the same responses, two by two."""
    rows = []
    for pair in site.found.grader_pairs:
        parts = "; ".join(
            f"{signed(p)}: {agree:.0%} of {n:,}" for p, (agree, n) in pair.by_points.items()
        )
        rows.append(
            (
                site.judge(pair.a),
                site.judge(pair.b),
                words(", ".join(pair.systems)),
                number(pair.n),
                estimate(pair.agree),
                kappa(pair.kappa),
                words(parts),
            )
        )
    return Sheet(
        "grader-pairs",
        "Graders two by two",
        (
            Column("a", "One"),
            Column("b", "Other"),
            Column("systems", "Systems"),
            amounts("n", "Judgments"),
            estimates("agree", "The same"),
            amounts("kappa", "Cohen’s kappa", parts=("", "low", "high", "unknown")),
            Column("by_points", "By points of the item"),
        ),
        tuple(rows),
        sortable=False,
    )


def own_vendor(site: Contents) -> Sheet:
    """Scores without graders of the system's own vendor."""
    found = site.found.own_vendor_out
    scale = Scale.over([e for o in found for e in (o.score, o.action_score)])
    return Sheet(
        "own-vendor-out",
        "Scores without graders of a system’s own vendor",
        (
            Column("system", "System"),
            Column("left_out", "Left out"),
            Column("kept", "Kept"),
            Column("vendor_unknown", "Vendor not known"),
            estimates("score", "Score", "ladder"),
            estimates("action_score", "Score", "actions"),
        ),
        tuple(
            (
                words(o.model),
                _names(o.left_out),
                _names(o.kept),
                _names(o.unknown),
                estimate(o.score, scale),
                estimate(o.action_score, scale),
            )
            for o in found
        ),
        sortable=False,
    )


def instruments(site: Contents) -> Sheet:
    """The two rubrics as measures."""
    rows = []
    origins = []
    for listed in site.listed:
        d = listed.detail
        rows.append(
            (
                words(listed.name, href=listed.page),
                site.judge(listed.summary.grader),
                *(_reliability(d.instruments[rubric]) for rubric in Rubric),
                correlation(d.rubric_correlation.value, d.rubric_correlation.ci95),
                estimate(d.instruments[Rubric.ladder].best_rung, brief=True),
                Cell(*_words_of(d.length.words.value)),
                estimate(d.length.per_100_words, unit="", brief=True),
            )
        )
        origins.append(listed.provenance)
    return Sheet(
        "instruments",
        "The two rubrics as measures",
        (
            Column("system", "System"),
            Column("grader", "Grader"),
            amounts(
                "ladder_reliability",
                "Ladder",
                "reliability of a scenario’s mean",
                parts=("", "icc", "n"),
            ),
            amounts(
                "action_reliability",
                "Actions",
                "reliability of a scenario’s mean",
                parts=("", "icc", "n"),
            ),
            amounts(
                "correlation",
                "Correlation",
                "of the two, over scenarios",
                parts=("", "low", "high"),
            ),
            estimates("best_rung", "Best rung only", "score, if the ladder were not nested"),
            amounts("words", "Words", "in an answer"),
            estimates("per_100_words", "100 more words", "points, within scenarios"),
        ),
        tuple(rows),
        origins=tuple(origins),
    )


def _reliability(instrument: Instrument) -> Cell:
    found, n = instrument.reliability, instrument.n_reliability
    if found is None:
        why = (instrument.why_no_reliability,)
        return Cell("unknown", (None, None, n), asides=why, tone="weak")
    asides = f"ICC {found.icc:.2f}", f"over {n} scenarios"
    return Cell(f"{found.of_mean:.2f}", (found.of_mean, found.icc, n), found.of_mean, asides)


def _words_of(value: float | None) -> tuple[str, tuple[float | None], float | None]:
    return ("unknown" if value is None else f"{value:.0f}"), (value,), value


def _names(graders: tuple[str, ...]) -> Cell:
    return Cell(", ".join(map(short, graders)) or "none", ("; ".join(graders) or None,))
