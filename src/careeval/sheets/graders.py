"""Sheets of the errors and items that graders found, and of how far graders can be trusted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from careeval import scoring
from careeval.results.findings import Findings
from careeval.results.grader_accuracy import ClassAgreement, LabelCounts, PeopleAudit, PointClass
from careeval.results.graders import NOT_AUDITED, NOT_TRIED, Contradiction
from careeval.results.harms import harms
from careeval.results.item_statistics import ItemStatistic
from careeval.results.metrics import WORST_AT_N
from careeval.results.probe_check import ProbeAgreement
from careeval.sheets.entries import ENTRY, GIVEN, GRADER, RUBRIC, STEP, metric_field, with_names
from careeval.sheets.kinds import (
    AGREEMENT_COEFFICIENT,
    AGREEMENT_SHARE,
    COEFFICIENT,
    COUNT,
    ESTIMATE,
    FLAG,
    SHARE,
    SIGNED,
    WORD_LIST,
    text_kind,
)
from careeval.sheets.sheet import Field, Row, Sheet, row_of
from careeval.sheets.words import brief_grader_names, worst_n
from careeval.stats.estimate import Estimate

POINTS = Field("points", "-2 to 2: points of the items", SIGNED)

LABEL_COUNTS = (
    Field("n", "labelled judgments, unresolved ones included", COUNT),
    Field("found", "labelled present, judged present", COUNT),
    Field("missed", "labelled present, judged absent", COUNT),
    Field("invented", "labelled absent, judged present", COUNT),
    Field("cleared", "labelled absent, judged absent", COUNT),
    Field("unresolved", "labelled, not judged", COUNT),
)
"""The counts of `careeval.results.grader_accuracy.LabelCounts`."""

FINDS = Field(
    "sensitivity",
    "share of the present items that are judged present",
    AGREEMENT_SHARE,
    "Finds, of the present",
    "finds",
)
CLEARS = Field(
    "specificity",
    "share of the absent items that are judged absent",
    AGREEMENT_SHARE,
    "Clears, of the absent",
    "clears",
)
MACRO_F1 = Field(
    "macro_f1",
    "mean of the F1 of present items and the F1 of absent items",
    AGREEMENT_COEFFICIENT,
    "Macro F1",
    "macro F1",
)
ACCURACY = (
    Field("n", "judgments with a true label", COUNT, "Judgments", "n"),
    Field("n_present", "of n, judgments of items that are present", COUNT, "Present"),
    Field("n_unresolved", "of n, judgments that the grader failed to make", COUNT, "Not judged"),
    FINDS,
    Field(
        "miss_rate",
        "share of the present items that are not judged present",
        AGREEMENT_SHARE,
        "Misses, of the present",
        "misses",
    ),
    CLEARS,
    Field(
        "ppv",
        "share of the items judged present that are present",
        AGREEMENT_SHARE,
        "Right, of those it finds",
        "right of found",
    ),
    MACRO_F1,
)
"""The numbers of a grader against true labels, as in `careeval.results.grader_accuracy`."""

AGREEMENT = (
    Field("n", "judgments that both made", COUNT, "Judgments", "n"),
    Field("n_unresolved", "judgments that either failed to make", COUNT),
    Field("n_both", "of n, judgments whose item both call present", COUNT, "Both"),
    Field("n_either", "of n, judgments whose item either calls present", COUNT, "Either"),
    Field(
        "positive_agreement",
        "share of the items called present by one that the other calls present too",
        AGREEMENT_SHARE,
    ),
    Field(
        "ac1",
        "Gwet's AC1: agreement on present and absent, beyond chance",
        AGREEMENT_COEFFICIENT,
        "AC1",
        "AC1",
    ),
)
"""The numbers of `careeval.results.grader_accuracy.ClassAgreement`."""

AGREEMENT_NOTE = (
    "Positive agreement: of the items that one calls present, the share that the other calls "
    "present too. AC1 also counts agreement on absent items, and subtracts agreement by chance."
)

PEOPLE = (
    AGREEMENT[0],
    Field("n_left_out", "judgments of kinds of which no two people labelled any", COUNT),
    Field(
        "same",
        "share of judgments that two people label alike",
        AGREEMENT_SHARE,
        "Labelled alike",
        "the same",
    ),
    MACRO_F1,
)
"""The numbers of people against each other, as in `careeval.results.grader_accuracy`."""

PAIR_SLIPS = (
    Field("n", "probes of twins that have one of the two right acts", COUNT),
    Field(
        "mistaken",
        "share in which a right act is judged otherwise than labelled",
        AGREEMENT_SHARE,
    ),
    Field("swapped", "share judged to have the other right act instead", AGREEMENT_SHARE),
)
"""The numbers of `careeval.results.probe_check.TwinPairErrors`."""


def point_class(key: PointClass) -> Row:
    """Return a point class (rubric and points of items) as a row with `rubric` and `points`."""
    rubric, points = key
    return {"rubric": rubric.value, "points": points}


def class_name(key: PointClass) -> str:
    """Return the name of a point class as text, such as "actions −2"."""
    rubric, points = key
    return f"{rubric} {SIGNED.text(points)}"


def with_brief_names(field: Field, graders: Iterable[str]) -> Field:
    """Return a field of graders that shows each grader by its shortest unique name."""
    return replace(field, kind=text_kind(names=brief_grader_names(graders)))


def entry_fields(graders: Iterable[str]) -> tuple[Field, ...]:
    """Return the fields `ENTRY`, which show each grader by its shortest unique name."""
    graders = list(graders)
    return tuple(with_brief_names(each, graders) if each is GRADER else each for each in ENTRY)


def items_sheet(items: Iterable[ItemStatistic]) -> Sheet:
    """Return a sheet of rubric items: statistics over the systems that one grader judged."""
    fields = (
        Field("grader", "name of the grader"),
        GIVEN,
        STEP,
        Field("scenario", "id of the scenario"),
        RUBRIC,
        Field("item", "id of the item"),
        Field("points", "-2 to 2", SIGNED),
        Field("text", "text of the item", head="Item"),
        Field("n_systems", "number of systems judged", COUNT, "Systems"),
        Field("n", "judgments of all systems, without unresolved ones", COUNT),
        Field(
            "presence",
            "mean over systems of the share of responses with the item",
            ESTIMATE,
            "Present",
        ),
        Field("always", "whether it is present in every response", FLAG),
        Field("never", "whether it is present in no response", FLAG),
        Field(
            "rest",
            "correlation over systems of its points with those of the other items",
            COEFFICIENT,
            "With the other items",
        ),
    )
    rows = [row_of(item, fields) for item in items]
    holds = "a rubric item over the systems of one grader"
    return Sheet("items", holds, fields, rows, "Items over systems")


def harms_sheet(findings: Findings) -> Sheet:
    """Return a sheet of the severe and mild errors that graders found, a row per error."""
    facts = (
        Field("scenario", "id of the scenario"),
        Field("adl", "activity; null if not known"),
        Field("situation", "what makes the moment hard, the primary first", WORD_LIST),
        Field("epoch", "number of the response to the scenario, from 1", COUNT),
        Field("item", "id of the item"),
        Field("points", "-2 for a severe error, -1 for a mild one", SIGNED),
        Field("item_text", "text of the item"),
        Field(
            "quote",
            "words of the response that the grader quotes; null if it quotes none, or none that "
            "are in the response, or if they are held out",
        ),
        Field("reason", "the grader's reason; empty if it gave none"),
    )
    rows = [
        {**names, **row_of(harm, facts)}
        for names, entry in with_names(findings.entries)
        for severity in (scoring.SEVERE, scoring.MILD)
        for harm in harms(entry, severity)
    ]
    return Sheet("harms", "an error that a grader found in a response", (*ENTRY, *facts), rows)


def _agreement_fields(name: str, reference: str) -> Iterator[Field]:
    for count in LABEL_COUNTS:
        yield count.within(name, f"{reference}: {{}}; null if not checked")
    for share in (FINDS, CLEARS):
        yield replace(share, kind=SHARE).within(name, f"{reference}: {{}}; null if unknown")
    yield Field(f"{name}.reason", "why the numbers are unknown; else empty")


def _agreement_row(name: str, agreement: LabelCounts | None, reason: str) -> Row:
    if agreement is None:
        return {f"{name}.reason": reason}
    return {f"{name}.reason": "", **row_of(agreement, (*LABEL_COUNTS, FINDS, CLEARS), name)}


def grader_cards_sheet(findings: Findings) -> Sheet:
    """Return a sheet of grader cards: probe check, audit and contradictions, a row per grader."""
    facts = (
        GRADER,
        Field("vendor", "maker of the grader; null if its name does not say"),
        Field("systems", "systems that it judged here", WORD_LIST),
        Field("own_vendor", "those of the systems that share its vendor", WORD_LIST),
        Field("n_judgments", "judgments of all systems, first gradings only", COUNT),
        Field("n_unresolved", "of n_judgments, those that it failed to make", COUNT),
    )
    fields = [
        *facts,
        *_agreement_fields("probes", "against the labels of the bank's probes"),
        Field(
            "probes.failed",
            "why it fails the probes; empty if it does not, null if not checked",
            WORD_LIST,
        ),
        _N_PAIRS.within("pairs", "{}; null if not checked"),
        *(field.within("pairs", "of the probes of twins, {}") for field in _PAIRS),
        *_agreement_fields("human", "against people's labels"),
        Field("human.n_raters", "people who labelled; null if not audited", COUNT),
        Field("human.n_single", "judgments that rest on one person; null if not audited", COUNT),
        Field("human.n_tied", "judgments left out until adjudicated; null if not audited", COUNT),
        Field("human.n_unsure", "judgments left out as nobody is sure; null if not audited", COUNT),
        *(field.within("human", "weighted to all judgments, {}") for field in _AUDITED),
    ]
    for kind in Contradiction:
        name = kind.replace(" ", "_")
        fields += [
            Field(f"contradictions.{name}.count", f"contradictions found: {kind}", COUNT),
            Field(f"contradictions.{name}.opportunities", "contradictions possible", COUNT),
        ]
    rows = []
    for card in findings.cards.values():
        row = row_of(card, facts)
        probes = card.probes.overall if card.probes else None
        row |= _agreement_row("probes", probes, NOT_TRIED)
        row["probes.failed"] = card.failed
        row |= _pairs_row(card.probes)
        row |= _agreement_row("human", card.human.counts if card.human else None, NOT_AUDITED)
        if card.human:
            # the sample was drawn by the grader's verdicts, so unweighted shares mean nothing
            overall = card.human.overall
            row["human.sensitivity"] = overall.sensitivity.value
            row["human.specificity"] = overall.specificity.value
        row |= _audit_row(card.human)
        for kind, count in card.contradictions.items():
            name = f"contradictions.{kind.replace(' ', '_')}"
            row |= {f"{name}.count": count.count, f"{name}.opportunities": count.opportunities}
        rows.append(row)
    return Sheet("grader_cards", "a grader, and how far it can be trusted", tuple(fields), rows)


_N_PAIRS, *_PAIRS = PAIR_SLIPS


def _pairs_row(probes: ProbeAgreement | None) -> Row:
    """Return the fields of a grader's row on the probes of twins: its errors, or why unknown."""
    if probes and probes.pairs:
        return row_of(probes.pairs, PAIR_SLIPS, "pairs")
    unknown = Estimate.unknown("no probes of twins" if probes else NOT_TRIED)
    return {f"pairs.{field.key}": unknown for field in _PAIRS}


_AUDITED = tuple(
    field.within(name, f"{over}: {{}}")
    for name, over in (("severe", "on −2 items"), ("overall", "on all items"))
    for field in (FINDS, CLEARS)
)


def _audit_row(human: PeopleAudit | None) -> Row:
    """Return the fields of a grader's row on its audit: the results, or why unknown."""
    if human is None:
        return {f"human.{field.key}": Estimate.unknown(NOT_AUDITED) for field in _AUDITED}
    return {
        "human.n_raters": len(human.raters),
        **{f"human.{name}": getattr(human, name) for name in ("n_single", "n_tied", "n_unsure")},
        **row_of(human, _AUDITED, "human"),
    }


def grading_noise_sheet(findings: Findings) -> Sheet:
    """Return a sheet of grading noise, from responses that a grader judged more than once.

    Each system, grader and rubric with such responses has a row.
    """
    shares = {
        "scenario": "share of the variance of a judged response that is between scenarios",
        "response": "share of it that is between responses to one scenario",
        "grading": "share of it that is between gradings of one response",
    }
    n = worst_n(findings.entries)
    numbers = (
        Field("n_regraded", "responses judged more than once", COUNT, "Judged again"),
        Field("n_gradings", "largest number of gradings of a response", COUNT),
        Field(
            "flipped",
            "share of the items whose judgment differs between two gradings",
            ESTIMATE,
            "Judgments changed",
        ),
        *(
            Field(f"{name}_share", f"{holds}; null if unknown", SHARE, name.capitalize())
            for name, holds in shares.items()
        ),
        Field("reason", "why the shares of variance are unknown; else empty"),
        Field(
            "corrected_worst_at_n",
            "worst of n, corrected for the noise of the grader",
            ESTIMATE,
            f"Worst of {n}",
        ),
    )
    shown = replace(metric_field(WORST_AT_N, n), in_files=False)
    named = {
        (s.name, s.grader, s.rubric): {**names, shown.key: s.worst_at_n}
        for names, s in with_names(findings.entries)
    }
    rows = [
        {**named[name, card.grader, rubric], **row_of(noise, numbers)}
        for card in findings.cards.values()
        for (name, rubric), noise in card.noise.items()
    ]
    holds = "a system and a rubric that one grader judged again"
    caption = "Where the spread of scores comes from"
    fields = (*entry_fields(findings.cards), *numbers, shown)
    return Sheet("grading_noise", holds, fields, rows, caption)


CLASS = (RUBRIC, POINTS, *AGREEMENT)
"""The fields of how far readers (graders, people, labels) agree on the items of a point class."""


def class_row(key: PointClass, by_class: ClassAgreement) -> Row:
    """Return the fields `CLASS` of a row: how far readers agree on the items of a point class."""
    return point_class(key) | row_of(by_class, AGREEMENT)


def grader_pairs_sheet(findings: Findings) -> Sheet:
    """Return a sheet of the agreement of pairs of graders, by point class."""
    fields = (
        with_brief_names(Field("a", "name of the first grader", head="One"), findings.cards),
        with_brief_names(Field("b", "name of the second grader", head="Other"), findings.cards),
        Field("systems", "systems whose responses both judged", WORD_LIST),
        *CLASS,
    )
    rows = [
        {"a": pair.a, "b": pair.b, "systems": pair.systems, **class_row(key, by_class)}
        for pair in findings.grader_pairs
        for key, by_class in pair.by_points.items()
    ]
    holds = "two graders that judged the same responses, and a point class"
    return Sheet("grader_pairs", holds, fields, rows, "Graders two by two", AGREEMENT_NOTE)


def grader_agreement_sheet(findings: Findings) -> Sheet:
    """Return a sheet of agreement: graders with labels or people, and people with each other."""
    fields = (
        GRADER,
        Field(
            "between",
            "probes: the grader and the labels of the bank's probes; people: the grader and "
            "people who read the same responses, weighted to all judgments; raters: those people "
            "and each other",
        ),
        *CLASS,
    )
    rows = [
        {"grader": card.grader, "between": between, **class_row(key, by_class)}
        for card in findings.cards.values()
        for between, classes in (
            ("probes", card.probes.agreement_by_points if card.probes else {}),
            ("people", card.human.agreement_by_points if card.human else {}),
            ("raters", card.human.people_by_points if card.human else {}),
        )
        for key, by_class in classes.items()
    ]
    holds = "a grader, its reference, and a point class"
    return Sheet("grader_agreement", holds, fields, rows, note=AGREEMENT_NOTE)
