"""Tables for other programs of what was found in the judgments, and how far they can be trusted."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from careeval import scoring
from careeval.results.audit import AuditResults
from careeval.results.class_agreement import ClassAgreement, PointClass
from careeval.results.export_columns import ENTRY, RUBRIC, ExportTable, Row, number, of_number
from careeval.results.findings import Findings
from careeval.results.grader_card import NOT_AUDITED, NOT_TRIED
from careeval.results.harms import harms as found_harms
from careeval.results.ladder_check import Contradiction
from careeval.results.probes import Agreement, ProbeAgreement
from careeval.results.tables import Column
from careeval.stats import Estimate


def items(findings: Findings) -> ExportTable:
    """Rubric items over the systems of one grader."""
    columns = (
        Column("grader", pl.String, "who judged"),
        Column("scenario", pl.String, "id of the scenario"),
        RUBRIC,
        Column("item", pl.String, "id of the item"),
        Column("points", pl.Int64, "-2 to 2"),
        Column("text", pl.String, "the item"),
        Column("n_systems", pl.Int64, "systems judged"),
        Column("n", pl.Int64, "judgments made, over all of them"),
        *number("presence", "mean over systems of the share of responses with the item"),
        Column("always", pl.Boolean, "present in every response"),
        Column("never", pl.Boolean, "present in none"),
        *number("rest", "over systems, correlation of its points with those of the other items"),
    )
    plain = [c.name for c in columns if not c.name.startswith(("presence", "rest"))]
    rows = [
        {name: getattr(of, name) for name in plain}
        | of_number("presence", of.presence)
        | of_number("rest", of.rest)
        for of in findings.items
    ]
    return ExportTable.of("items", "a rubric item over the systems of one grader", columns, rows)


def harms(findings: Findings) -> ExportTable:
    """Severe and mild errors, a row each."""
    columns = (
        *ENTRY,
        Column("scenario", pl.String, "id of the scenario"),
        Column("adl", pl.String, "activity; null if not known"),
        Column("situation", pl.List(pl.String), "what makes the moment hard, the primary first"),
        Column("epoch", pl.Int64, "the k-th response to it, from 1"),
        Column("item", pl.String, "id of the item"),
        Column("points", pl.Int64, "-2 for a severe error, -1 for a mild one"),
        Column("item_text", pl.String, "the item"),
        Column("quote", pl.String, "the response's own words; null where none were given or found"),
        Column("reason", pl.String, "the grader's; empty where it gave none"),
    )
    rows = [
        {column.name: getattr(harm, column.name) for column in columns}
        for entry in findings.entries
        for severity in (scoring.SEVERE, scoring.MILD)
        for harm in found_harms(entry, severity)
    ]
    return ExportTable.of("harms", "an error that a grader found in a response", columns, rows)


_AGREEMENT = {
    "n": "labelled judgments, unresolved ones included",
    "found": "labelled present, judged present",
    "missed": "labelled present, judged absent",
    "invented": "labelled absent, judged present",
    "cleared": "labelled absent, judged absent",
    "unresolved": "not judged",
}
_SHARES = {
    "sensitivity": "share found of what is there",
    "specificity": "share cleared of the rest",
}


def _agreement_columns(name: str, with_what: str) -> Iterator[Column]:
    for count, holds in _AGREEMENT.items():
        yield Column(f"{name}.{count}", pl.Int64, f"{with_what}: {holds}; null if not tried")
    for share, holds in _SHARES.items():
        yield Column(f"{name}.{share}", pl.Float64, f"{with_what}: {holds}; null if unknown")
    yield Column(f"{name}.reason", pl.String, "why there is none; else empty")


def _of_agreement(name: str, agreement: Agreement | None, why_not: str) -> Row:
    row = {f"{name}.reason": "" if agreement else why_not}
    if agreement is None:
        return row
    return row | {f"{name}.{part}": getattr(agreement, part) for part in (*_AGREEMENT, *_SHARES)}


def grader_cards(findings: Findings) -> ExportTable:
    """What is known of each grader."""
    columns = [
        Column("grader", pl.String, "name of the grader, with its mode and its prompt's hash"),
        Column("vendor", pl.String, "who made it; null where its name does not say"),
        Column("systems", pl.List(pl.String), "whom it judged here"),
        Column("own_vendor", pl.List(pl.String), "those of them that share its vendor"),
        Column("n_judgments", pl.Int64, "first gradings, over all of them"),
        Column("n_unresolved", pl.Int64, "those that it could not be brought to make"),
        *_agreement_columns("probes", "against the labels of the bank's probes"),
        Column(
            "probes.failed",
            pl.List(pl.String),
            "why it fails the probes; empty if it does not, null if not tried",
        ),
        Column("pairs.n", pl.Int64, "probes of twins that hold one right act; null if not tried"),
        *(
            column
            for name, what in _PAIRS.items()
            for column in number(f"pairs.{name}", f"of the probes of twins, {what}")
        ),
        *_agreement_columns("human", "against people's labels"),
        Column("human.n_raters", pl.Int64, "people who labelled; null if not tried"),
        Column("human.n_single", pl.Int64, "judgments that rest on one of them; null if not tried"),
        Column("human.n_tied", pl.Int64, "left out, not yet adjudicated; null if not tried"),
        Column("human.n_unsure", pl.Int64, "left out, nobody is sure; null if not tried"),
        *(
            column
            for name, what in _AUDITED.items()
            for column in number(f"human.{name}", f"weighted back to all judgments: {what}")
        ),
    ]
    for kind in Contradiction:
        name = kind.replace(" ", "_")
        columns += [
            Column(f"contradictions.{name}.count", pl.Int64, f"contradictions: {kind}"),
            Column(f"contradictions.{name}.opportunities", pl.Int64, "times it could have been"),
        ]
    rows = []
    for card in findings.cards.values():
        row: Row = {column.name: getattr(card, column.name) for column in columns[:6]}
        probes = card.probes.overall if card.probes else None
        row |= _of_agreement("probes", probes, NOT_TRIED)
        row["probes.failed"] = card.failed
        row |= _of_pairs(card.probes)
        row |= _of_agreement("human", card.human.counts if card.human else None, NOT_AUDITED)
        if card.human:
            # people read what was drawn by the grader's verdict: only weighted shares mean anything
            overall = card.human.overall
            row["human.sensitivity"] = overall.sensitivity.value
            row["human.specificity"] = overall.specificity.value
        row |= _of_audit(card.human)
        for kind, found in card.contradictions.items():
            name = f"contradictions.{kind.replace(' ', '_')}"
            row |= {f"{name}.count": found.count, f"{name}.opportunities": found.opportunities}
        rows.append(row)
    return ExportTable.of("grader_cards", "a grader, and how far it can be trusted", columns, rows)


_PAIRS = {
    "mistaken": "share of which a right act is judged otherwise than labelled",
    "swapped": "share judged to hold the other right act instead",
}


def _of_pairs(probes: ProbeAgreement | None) -> Row:
    """Return a grader's slips on twins' probes; null, with the reason, where there are none."""
    pairs = probes.pairs if probes else None
    if pairs is None:
        unknown = Estimate.unknown("no probes of twins" if probes else NOT_TRIED)
        return {k: v for name in _PAIRS for k, v in of_number(f"pairs.{name}", unknown).items()}
    row: Row = {"pairs.n": pairs.n}
    for name in _PAIRS:
        row |= of_number(f"pairs.{name}", getattr(pairs, name))
    return row


_AUDITED = {
    "severe.sensitivity": "share found of the −2 items that are there",
    "severe.specificity": "share cleared of the −2 items that are not",
    "overall.sensitivity": "share found of all that is there",
    "overall.specificity": "share cleared of all that is not",
}


def _of_audit(human: AuditResults | None) -> Row:
    """An audit on a grader's card; all null, with the reason, where there is none."""
    if human is None:
        unknown = Estimate.unknown(NOT_AUDITED)
        numbers = dict.fromkeys(_AUDITED, unknown)
        return {
            k: v for name, e in numbers.items() for k, v in of_number(f"human.{name}", e).items()
        }
    numbers = {
        "severe.sensitivity": human.severe.sensitivity,
        "severe.specificity": human.severe.specificity,
        "overall.sensitivity": human.overall.sensitivity,
        "overall.specificity": human.overall.specificity,
    }
    row: Row = {
        f"human.{name}": getattr(human, name) for name in ("n_single", "n_tied", "n_unsure")
    }
    row["human.n_raters"] = len(human.raters)
    for name, estimate in numbers.items():
        row |= of_number(f"human.{name}", estimate)
    return row


def corrected_scores(findings: Findings) -> ExportTable:
    """Scores as people correct them; no row where nobody was audited."""
    columns = (
        *ENTRY,
        Column("graded", pl.Float64, "by the grader, over public responses that it judged whole"),
        *number("corrected", "by the grader, and by people where they differ from it"),
        Column("n_responses", pl.Int64, "responses of which people settled anything"),
        Column("n_judgments", pl.Int64, "judgments in them that people settled"),
        Column("meaning", pl.String, "the same in a sentence"),
    )
    rows = [
        {"system": system, "grader": card.grader, "rubric": rubric.value, "graded": of.graded}
        | {"n_responses": of.n_responses, "n_judgments": of.n_judgments, "meaning": of.sentence()}
        | of_number("corrected", of.corrected)
        for card in findings.cards.values()
        for (system, rubric), of in card.corrected.items()
    ]
    holds = "a system's score on a rubric as people who read its answers correct it"
    return ExportTable.of("corrected_scores", holds, columns, rows)


def grading_noise(findings: Findings) -> ExportTable:
    """What judging the same responses again shows."""
    shares = {
        "scenario_share": "of the variance of one judged response, what is between scenarios",
        "response_share": "what is between responses to one scenario",
        "grading_share": "what is between gradings of one response",
    }
    columns = (
        *ENTRY,
        Column("n_regraded", pl.Int64, "responses judged more than once"),
        Column("n_gradings", pl.Int64, "the most gradings of any response"),
        *number("flipped", "share of the items whose judgment differs between two gradings"),
        *(Column(name, pl.Float64, f"{what}; null if unknown") for name, what in shares.items()),
        Column("reason", pl.String, "why the variance is not split; else empty"),
        *number("corrected_worst_at_n", "worst of n if the grader did not vary"),
    )
    rows = [
        {"system": system, "grader": card.grader, "rubric": rubric.value, "reason": noise.reason}
        | {name: getattr(noise, name) for name in ("n_regraded", "n_gradings", *shares)}
        | of_number("flipped", noise.flipped)
        | of_number("corrected_worst_at_n", noise.corrected_worst_at_n)
        for card in findings.cards.values()
        for (system, rubric), noise in card.noise.items()
    ]
    holds = "a system and a rubric that one grader judged again"
    return ExportTable.of("grading_noise", holds, columns, rows)


_CLASS = (
    RUBRIC,
    Column("points", pl.Int64, "-2 to 2: points of the items"),
    Column("n", pl.Int64, "judgments that both made"),
    Column("n_unresolved", pl.Int64, "judgments that either could not be brought to make"),
    Column("n_both", pl.Int64, "of n, those whose item both call present"),
    Column("n_either", pl.Int64, "of n, those whose item either calls present"),
    *number("positive_agreement", "of what one calls present, the share that both do"),
    *number("ac1", "Gwet's AC1: agreement on present and absent, beyond chance"),
)


def _of_class(key: PointClass, by_class: ClassAgreement) -> Row:
    """What stands in the columns `_CLASS`."""
    counts = ("n", "n_unresolved", "n_both", "n_either")
    return (
        {"rubric": key[0].value, "points": key[1]}
        | {name: getattr(by_class, name) for name in counts}
        | of_number("positive_agreement", by_class.positive_agreement)
        | of_number("ac1", by_class.ac1)
    )


def grader_pairs(findings: Findings) -> ExportTable:
    """Graders held against each other, a row a point class."""
    columns = (
        Column("a", pl.String, "name of the one grader"),
        Column("b", pl.String, "name of the other"),
        Column("systems", pl.List(pl.String), "whose responses both judged"),
        *_CLASS,
    )
    rows = [
        {"a": pair.a, "b": pair.b, "systems": pair.systems} | _of_class(key, by_class)
        for pair in findings.grader_pairs
        for key, by_class in pair.by_points.items()
    ]
    holds = "two graders that judged the same responses, and a point class"
    return ExportTable.of("grader_pairs", holds, columns, rows)


def grader_agreement(findings: Findings) -> ExportTable:
    """Graders held against labels and people, and people against each other, by point class."""
    columns = (
        Column("grader", pl.String, "name of the grader, with its mode and its prompt's hash"),
        Column(
            "between",
            pl.String,
            "probes: the grader and the labels of the bank's probes; people: the grader and people "
            "who read the same responses, weighted back to all judgments; raters: those people "
            "with each other",
        ),
        *_CLASS,
    )
    rows = [
        {"grader": card.grader, "between": between} | _of_class(key, by_class)
        for card in findings.cards.values()
        for between, classes in (
            ("probes", card.probes.agreement_by_points if card.probes else {}),
            ("people", card.human.agreement_by_points if card.human else {}),
            ("raters", card.human.people_by_points if card.human else {}),
        )
        for key, by_class in classes.items()
    ]
    holds = "a grader, what it is held against, and a point class"
    return ExportTable.of("grader_agreement", holds, columns, rows)
