"""Sheets of graders against labels: on the probes, against people, and in contradiction.

A contradiction is among a grader's judgments of one response.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from careeval import scoring
from careeval.core.scenario import Rubric
from careeval.results.findings import Findings
from careeval.results.grader_accuracy import LabelCounts, PeopleAudit
from careeval.results.graders import Contradiction
from careeval.results.probe_check import LIMITS, ProbeTrial
from careeval.sheets import words
from careeval.sheets.entries import CORRECTED, GRADER, GRADER_NAME, RUBRIC, SYSTEM
from careeval.sheets.graders import (
    ACCURACY,
    AGREEMENT,
    AGREEMENT_NOTE,
    CLASS,
    CLEARS,
    FINDS,
    MACRO_F1,
    PEOPLE,
    POINTS,
    class_row,
    point_class,
    with_brief_names,
)
from careeval.sheets.kinds import (
    COUNT,
    DOLLARS,
    ESTIMATE,
    SECONDS,
    SHARE,
    Form,
    flag_kind,
    text_kind,
)
from careeval.sheets.sheet import Document, Field, Row, Sheet, Shown, View, row_of
from careeval.sheets.words import plain

_FOUND = (
    Field("present", "labelled present, and judged", COUNT),
    Field("found", "of these, judged present", COUNT),
    Field("sensitivity", "found / present; null if unknown", SHARE, "Finds"),
    Field("absent", "labelled absent, and judged", COUNT),
    Field("cleared", "of these, judged absent", COUNT),
    Field("specificity", "cleared / absent; null if unknown", SHARE, "Clears"),
    Field("unresolved", "labelled, not judged", COUNT),
)


def _found_row(agreement: LabelCounts) -> Row:
    keys = ("found", "sensitivity", "cleared", "specificity", "unresolved")
    return {key: getattr(agreement, key) for key in keys} | {
        "present": agreement.found + agreement.missed,
        "absent": agreement.cleared + agreement.invented,
    }


def probes_by_points_sheet(findings: Findings) -> Sheet:
    """Return a sheet of how far graders agree with the labels of the probes, by point class."""
    rows = [
        {
            "grader": card.grader,
            **class_row(key, by_class),
            **_found_row(card.probes.by_points[key]),
        }
        for card in findings.cards.values()
        if card.probes
        for key, by_class in card.probes.agreement_by_points.items()
    ]
    holds, caption = "a grader and a point class", "Agreement with the probes, by points"
    fields = (GRADER, *CLASS[:2], *_FOUND, *CLASS[-2:])
    return Sheet("probes_by_points", holds, fields, rows, caption, AGREEMENT_NOTE)


def probes_by_trap_sheet(findings: Findings) -> Sheet:
    """Return a sheet of how far graders agree with the labels of the probes, by trap."""
    rows = [
        {"grader": card.grader, "trap": trap, **_found_row(agreement)}
        for card in findings.cards.values()
        if card.probes
        for trap, agreement in card.probes.by_trap.items()
    ]
    trap_field = Field("trap", "the trap of the probes", text_kind(shown_name=plain))
    holds, caption = "a grader and a trap", "Agreement with the probes, by trap"
    return Sheet("probes_by_trap", holds, (GRADER, trap_field, *_FOUND), rows, caption)


_CONTRADICTIONS: Mapping[str, str] = {
    Contradiction.top_without_next: "+2 without the +1 that is a part of it",
    Contradiction.rung_without_act: "a rung without an act that it is made of",
    Contradiction.acts_without_rung: "all acts of a rung, and not the rung",
    Contradiction.excluded_pair: "two acts that exclude each other",
}


def contradictions_sheet(findings: Findings) -> Sheet:
    """Return a sheet of how often a grader's judgments of one response contradict each other.

    Each grader and kind of contradiction has a row.
    """
    fields = (
        with_brief_names(GRADER, findings.cards),
        Field("kind", "kind of contradiction", text_kind(names=_CONTRADICTIONS), "Contradiction"),
        Field("count", "number found; null if unknown", COUNT, "Found"),
        Field("opportunities", "number possible; null if unknown", COUNT),
        Field("share", "count / opportunities; null if unknown", SHARE),
        Field("reason", "why the numbers are unknown; else empty"),
    )
    rows = [
        {"grader": card.grader, "kind": kind.value}
        | {field.key: getattr(count, field.key) for field in fields[2:]}
        for card in findings.cards.values()
        for kind, count in card.contradictions.items()
    ]
    caption = "Judgments that contradict each other"
    return Sheet("contradictions", "a grader and a contradiction", fields, rows, caption)


UNITS = (
    "finds: % of the present items that the grader judges present; clears: % of the absent items "
    "that it judges absent. Positive agreement: of the items that one calls present, the % that "
    "the other calls present too. In brackets 95% intervals, over scenarios like these."
)
ITEMS = Field("items", "the items: all, or those of a point class", in_files=False)
WITH_TRUTH = tuple(field.within("agreement") for field in AGREEMENT)


def part_view(sheet: Sheet, name: str, rows: Iterable[Row], caption: str, *columns: Shown) -> View:
    """Return a view of some rows of a sheet, under a new sheet name."""
    return View(replace(sheet, name=name, rows=[*rows]), columns, caption)


# Graders on the labelled probes

_ON_SEVERE = tuple(
    replace(field, brief=f"{field.brief} of −2", in_files=False).within("severe")
    for field in (FINDS, CLEARS)
)
_PROBES = (
    GRADER,
    RUBRIC,
    POINTS,
    Field("trap", "the trap of the probes; null for all"),
    *ACCURACY,
    *WITH_TRUTH,
    Field("cost", "of all judgments", DOLLARS),
    Field(
        "seconds", "duration in seconds of the calls for all judgments", SECONDS, "Time of calls"
    ),
    Field("passed", "whether it passes the probes", flag_kind(yes="passed", no="failed"), "Probes"),
    *_ON_SEVERE,
    GRADER_NAME,
)
_SHOWN_ACCURACY = (*map(Shown, ("n", "n_present", "sensitivity", "specificity", "macro_f1")),)
SHOWN_AGREEMENT = (Shown("agreement.positive_agreement"), Shown("agreement.ac1"))


def probes_document(bank: str, bank_version: str, trials: Sequence[ProbeTrial]) -> Document:
    """Return the document of how graders did on the labelled probes of a bank.

    Args:
        bank: Name of the bank.
        bank_version: Version N-X of the bank.
        trials: The probe check of each grader.
    """
    names = words.grader_names(trial.grader for trial in trials)
    overall, severe, classes, traps = list[Row](), list[Row](), list[Row](), list[Row]()
    for trial in trials:
        agreement, name = trial.agreement, {"grader": trial.grader, "judge": names[trial.grader]}
        overall.append(
            {**name, **row_of(agreement.accuracy, ACCURACY)}
            | row_of(agreement.severe_accuracy, (FINDS, CLEARS), "severe")
            | {"cost": trial.cost, "seconds": trial.seconds, "passed": not agreement.failed}
        )
        severe.append(
            {**name, "points": scoring.SEVERE, **row_of(agreement.severe_accuracy, ACCURACY)}
        )
        classes += [
            {**name, **point_class(key), **row_of(measured, ACCURACY)}
            | row_of(agreement.agreement_by_points[key], AGREEMENT, "agreement")
            for key, measured in agreement.accuracy_by_points.items()
        ]
        traps += [
            {**name, "trap": trap, **row_of(measured, ACCURACY)}
            for trap, measured in agreement.accuracy_by_trap.items()
        ]
    # sorting is stable, so graders keep their order in each group
    rubrics = [rubric.value for rubric in Rubric]
    classes.sort(key=lambda row: (row["points"], rubrics.index(row["rubric"])))
    traps.sort(key=lambda row: str(row["trap"]))
    holds = "a grader and a group of the probes' judgments: all, or of one point class or trap"
    data = Sheet("probes", holds, _PROBES, [*overall, *severe, *classes, *traps])
    views = (
        part_view(data, "probes", overall, "On the bank's labelled probes", Shown("judge"),
              *(Shown(field.key) for field in (*_ON_SEVERE, FINDS, CLEARS, MACRO_F1)),
              *map(Shown, ("n", "n_unresolved", "cost", "seconds", "passed"))),
        part_view(data, "probes_by_points", classes, "By points of the item",
              *map(Shown, ("points", "rubric", "judge")), *_SHOWN_ACCURACY, *SHOWN_AGREEMENT),
        part_view(data, "probes_by_trap", traps, "By trap",
              *map(Shown, ("trap", "judge")), *_SHOWN_ACCURACY),
    )  # fmt: skip
    notes = (*_verdicts(trials), *_pairs(trials), _pass_rule(), UNITS)
    return Document(views, notes, data, f"Probes of bank {bank} {bank_version}.")


def _verdicts(trials: Iterable[ProbeTrial]) -> Iterator[str]:
    for trial in trials:
        if trial.agreement.failed:
            yield f"{trial.grader} fails the probes: {'; '.join(trial.agreement.failed)}."
        else:
            yield f"{trial.grader} does not fail the probes."


def _pairs(trials: Iterable[ProbeTrial]) -> Iterator[str]:
    for trial in trials:
        if pairs := trial.agreement.pairs:
            yield (
                f"{trial.grader}, {pairs.n} probes of twins: mistaken "
                f"{ESTIMATE.text(pairs.mistaken, Form.whole)}%, one right act taken for the other "
                f"{ESTIMATE.text(pairs.swapped, Form.whole)}%."
            )


def _pass_rule() -> str:
    limits = ", ".join(f"{limit.what} {limit.minimum:g}" for limit in LIMITS)
    return (
        f"A grader fails if it is below any of these on either rubric: {limits}. Items that the "
        "grader did not judge count as wrong. The rule is careeval's own."
    )


# Graders against people

_WITH_EACH_OTHER = tuple(
    field.within("people", "people against each other: {}")
    for field in dict.fromkeys((*AGREEMENT, *PEOPLE))
)
AGAINST_PEOPLE = (
    GRADER, SYSTEM, RUBRIC, POINTS,
    *ACCURACY, *WITH_TRUTH, *_WITH_EACH_OTHER, *CORRECTED, ITEMS,
)  # fmt: skip


def against_people_sheet(audit: PeopleAudit) -> Sheet:
    """Return a sheet of how far the grader agrees with people, and people with each other.

    It has a row for −2 items and a row for all items.
    """
    rows = [
        {"grader": audit.grader, "items": name, "points": points, **row_of(measured, ACCURACY)}
        | row_of(people, PEOPLE, "people")
        for name, points, measured, people in (
            ("−2 items", scoring.SEVERE, audit.severe, audit.people_severe),
            ("all items", None, audit.overall, audit.people),
        )
    ]
    return Sheet(
        "against_people", "judgments of the grader, all or of −2 items", AGAINST_PEOPLE, rows
    )
