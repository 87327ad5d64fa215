"""Sheets of what graders found, and of how far they can be trusted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from careeval import scoring
from careeval.results.findings import Findings
from careeval.results.score.harms import harms as found_harms
from careeval.results.score.metrics import COMPARED
from careeval.results.trust.audit.results import AuditResults
from careeval.results.trust.class_agreement import ClassAgreement, PointClass
from careeval.results.trust.contradictions import Contradiction
from careeval.results.trust.grader_card import NOT_AUDITED, NOT_TRIED
from careeval.results.trust.item_statistics import ItemStatistic
from careeval.results.trust.probe_check import Agreement, ProbeAgreement
from careeval.sheets.agreement_fields import (
    AGREEMENT,
    AGREEMENT_NOTE,
    CLEARS,
    FINDS,
    LABEL_COUNTS,
    PAIR_SLIPS,
    POINTS,
    point_class,
)
from careeval.sheets.entries.numbers import ENTRY, RUBRIC, metric_field
from careeval.sheets.estimate_kinds import COEFFICIENT, MEASURE
from careeval.sheets.kinds import COUNT, FLAG, SHARE, SIGNED, WORD_LIST, Words
from careeval.sheets.sheet import Field, Row, Sheet, row_of
from careeval.sheets.words import brief_grader_names, worst_n
from careeval.stats import Estimate

GRADER = Field("grader", "name of the grader, with its mode and its prompt's hash")


def told_apart(field: Field, graders: Iterable[str]) -> Field:
    """Return a field of graders that people read by as much of a name as tells it apart."""
    return replace(field, kind=Words(names=brief_grader_names(graders)))


def items_sheet(items: Iterable[ItemStatistic]) -> Sheet:
    """Return rubric items over the systems of one grader."""
    fields = (
        Field("grader", "who judged"),
        Field("scenario", "id of the scenario"),
        RUBRIC,
        Field("item", "id of the item"),
        Field("points", "-2 to 2", SIGNED),
        Field("text", "the item", head="Item"),
        Field("n_systems", "systems judged", COUNT, "Systems"),
        Field("n", "judgments made, over all of them", COUNT),
        Field(
            "presence",
            "mean over systems of the share of responses with the item",
            MEASURE,
            "Present",
        ),
        Field("always", "present in every response", FLAG),
        Field("never", "present in none", FLAG),
        Field(
            "rest",
            "over systems, correlation of its points with those of the other items",
            COEFFICIENT,
            "With the rest",
        ),
    )
    rows = [row_of(item, fields) for item in items]
    holds = "a rubric item over the systems of one grader"
    return Sheet("items", holds, fields, rows, "Items over systems")


def harms_sheet(findings: Findings) -> Sheet:
    """Return severe and mild errors, a row each."""
    fields = (
        *ENTRY,
        Field("scenario", "id of the scenario"),
        Field("adl", "activity; null if not known"),
        Field("situation", "what makes the moment hard, the primary first", WORD_LIST),
        Field("epoch", "the k-th response to it, from 1", COUNT),
        Field("item", "id of the item"),
        Field("points", "-2 for a severe error, -1 for a mild one", SIGNED),
        Field("item_text", "the item"),
        Field("quote", "the response's own words; null where none were given or found"),
        Field("reason", "the grader's; empty where it gave none"),
    )
    rows = [
        row_of(harm, fields)
        for entry in findings.entries
        for severity in (scoring.SEVERE, scoring.MILD)
        for harm in found_harms(entry, severity)
    ]
    return Sheet("harms", "an error that a grader found in a response", fields, rows)


def _agreement_fields(name: str, with_what: str) -> Iterator[Field]:
    for count in LABEL_COUNTS:
        yield count.within(name, f"{with_what}: {{}}; null if not tried")
    for share in (FINDS, CLEARS):
        yield replace(share, kind=SHARE).within(name, f"{with_what}: {{}}; null if unknown")
    yield Field(f"{name}.reason", "why there is none; else empty")


def _of_agreement(name: str, agreement: Agreement | None, why_not: str) -> Row:
    if agreement is None:
        return {f"{name}.reason": why_not}
    return {f"{name}.reason": "", **row_of(agreement, (*LABEL_COUNTS, FINDS, CLEARS), name)}


def grader_cards_sheet(findings: Findings) -> Sheet:
    """Return what is known of each grader."""
    facts = (
        GRADER,
        Field("vendor", "who made it; null where its name does not say"),
        Field("systems", "whom it judged here", WORD_LIST),
        Field("own_vendor", "those of them that share its vendor", WORD_LIST),
        Field("n_judgments", "first gradings, over all of them", COUNT),
        Field("n_unresolved", "those that it could not be brought to make", COUNT),
    )
    fields = [
        *facts,
        *_agreement_fields("probes", "against the labels of the bank's probes"),
        Field(
            "probes.failed",
            "why it fails the probes; empty if it does not, null if not tried",
            WORD_LIST,
        ),
        _N_PAIRS.within("pairs", "{}; null if not tried"),
        *(field.within("pairs", "of the probes of twins, {}") for field in _PAIRS),
        *_agreement_fields("human", "against people's labels"),
        Field("human.n_raters", "people who labelled; null if not tried", COUNT),
        Field("human.n_single", "judgments that rest on one of them; null if not tried", COUNT),
        Field("human.n_tied", "left out, not yet adjudicated; null if not tried", COUNT),
        Field("human.n_unsure", "left out, nobody is sure; null if not tried", COUNT),
        *(field.within("human", "weighted back to all judgments, {}") for field in _AUDITED),
    ]
    for kind in Contradiction:
        name = kind.replace(" ", "_")
        fields += [
            Field(f"contradictions.{name}.count", f"contradictions: {kind}", COUNT),
            Field(f"contradictions.{name}.opportunities", "times it could have been", COUNT),
        ]
    rows = []
    for card in findings.cards.values():
        row = row_of(card, facts)
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
        for kind, count in card.contradictions.items():
            name = f"contradictions.{kind.replace(' ', '_')}"
            row |= {f"{name}.count": count.count, f"{name}.opportunities": count.opportunities}
        rows.append(row)
    return Sheet("grader_cards", "a grader, and how far it can be trusted", tuple(fields), rows)


_N_PAIRS, *_PAIRS = PAIR_SLIPS


def _of_pairs(probes: ProbeAgreement | None) -> Row:
    """Return a grader's slips on twins' probes; null, with the reason, where there are none."""
    if probes and probes.pairs:
        return row_of(probes.pairs, PAIR_SLIPS, "pairs")
    unknown = Estimate.unknown("no probes of twins" if probes else NOT_TRIED)
    return {f"pairs.{field.key}": unknown for field in _PAIRS}


_AUDITED = tuple(
    field.within(name, f"{over}: {{}}")
    for name, over in (("severe", "on −2 items"), ("overall", "on all items"))
    for field in (FINDS, CLEARS)
)


def _of_audit(human: AuditResults | None) -> Row:
    """Return an audit on a grader's card; all null, with the reason, where there is none."""
    if human is None:
        return {f"human.{field.key}": Estimate.unknown(NOT_AUDITED) for field in _AUDITED}
    return {
        "human.n_raters": len(human.raters),
        **{f"human.{name}": getattr(human, name) for name in ("n_single", "n_tied", "n_unsure")},
        **row_of(human, _AUDITED, "human"),
    }


def grading_noise_sheet(findings: Findings) -> Sheet:
    """Return what judging the same responses again shows."""
    shares = {
        "scenario": "of the variance of one judged response, what is between scenarios",
        "response": "what is between responses to one scenario",
        "grading": "what is between gradings of one response",
    }
    n = worst_n(findings.summaries)
    worst = {(s.system, s.grader, s.rubric): s.worst_at_n for s in findings.summaries}
    numbers = (
        Field("n_regraded", "responses judged more than once", COUNT, "Judged again"),
        Field("n_gradings", "the most gradings of any response", COUNT),
        Field(
            "flipped",
            "share of the items whose judgment differs between two gradings",
            MEASURE,
            "Judgments changed",
        ),
        *(
            Field(f"{name}_share", f"{what}; null if unknown", SHARE, name.capitalize())
            for name, what in shares.items()
        ),
        Field("reason", "why the variance is not split; else empty"),
        Field(
            "corrected_worst_at_n",
            "worst of n if the grader did not vary",
            MEASURE,
            f"Worst of {n}",
        ),
    )
    shown = replace(metric_field(COMPARED["worst_at_n"], n), in_files=False)
    rows = [
        {"system": system, "grader": card.grader, "rubric": rubric.value}
        | row_of(noise, numbers)
        | {shown.key: worst[system, card.grader, rubric]}
        for card in findings.cards.values()
        for (system, rubric), noise in card.noise.items()
    ]
    holds = "a system and a rubric that one grader judged again"
    caption = "Where the spread of scores comes from"
    fields = (ENTRY[0], told_apart(ENTRY[1], findings.cards), ENTRY[2], *numbers, shown)
    return Sheet("grading_noise", holds, fields, rows, caption)


CLASS = (RUBRIC, POINTS, *AGREEMENT)
"""How far two agree on the items of one point class."""


def of_class(key: PointClass, by_class: ClassAgreement) -> Row:
    """Return a point class under the fields `CLASS`."""
    return point_class(key) | row_of(by_class, AGREEMENT)


def grader_pairs_sheet(findings: Findings) -> Sheet:
    """Return graders held against each other, a row a point class."""
    fields = (
        told_apart(Field("a", "name of the one grader", head="One"), findings.cards),
        told_apart(Field("b", "name of the other", head="Other"), findings.cards),
        Field("systems", "whose responses both judged", WORD_LIST),
        *CLASS,
    )
    rows = [
        {"a": pair.a, "b": pair.b, "systems": pair.systems, **of_class(key, by_class)}
        for pair in findings.grader_pairs
        for key, by_class in pair.by_points.items()
    ]
    holds = "two graders that judged the same responses, and a point class"
    return Sheet("grader_pairs", holds, fields, rows, "Graders two by two", AGREEMENT_NOTE)


def grader_agreement_sheet(findings: Findings) -> Sheet:
    """Return graders held against labels and people, and people against each other."""
    fields = (
        GRADER,
        Field(
            "between",
            "probes: the grader and the labels of the bank's probes; people: the grader and "
            "people who read the same responses, weighted back to all judgments; raters: those "
            "people with each other",
        ),
        *CLASS,
    )
    rows = [
        {"grader": card.grader, "between": between, **of_class(key, by_class)}
        for card in findings.cards.values()
        for between, classes in (
            ("probes", card.probes.agreement_by_points if card.probes else {}),
            ("people", card.human.agreement_by_points if card.human else {}),
            ("raters", card.human.people_by_points if card.human else {}),
        )
        for key, by_class in classes.items()
    ]
    holds = "a grader, what it is held against, and a point class"
    return Sheet("grader_agreement", holds, fields, rows, note=AGREEMENT_NOTE)
