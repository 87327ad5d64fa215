"""Sheets on one grader at a time: its agreement with the labels of the probes, and contradictions.

A contradiction is among a grader's judgments of one response.
"""

from __future__ import annotations

from collections.abc import Mapping

from careeval.results.findings import Findings
from careeval.results.graders import Contradiction
from careeval.results.probe_check import LabelCounts
from careeval.sheets.agreement_fields import AGREEMENT_NOTE
from careeval.sheets.kinds import COUNT, SHARE, text_kind
from careeval.sheets.names import plain
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.sheets.trust.graders import CLASS, GRADER, class_row, with_brief_names

_AGREEMENT = (
    Field("present", "labelled present, and judged", COUNT),
    Field("found", "of these, judged present", COUNT),
    Field("sensitivity", "found / present; null if unknown", SHARE, "Finds"),
    Field("absent", "labelled absent, and judged", COUNT),
    Field("cleared", "of these, judged absent", COUNT),
    Field("specificity", "cleared / absent; null if unknown", SHARE, "Clears"),
    Field("unresolved", "labelled, not judged", COUNT),
)


def _agreement_row(agreement: LabelCounts) -> Row:
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
            **_agreement_row(card.probes.by_points[key]),
        }
        for card in findings.cards.values()
        if card.probes
        for key, by_class in card.probes.agreement_by_points.items()
    ]
    holds, caption = "a grader and a point class", "Agreement with the probes, by points"
    fields = (GRADER, *CLASS[:2], *_AGREEMENT, *CLASS[-2:])
    return Sheet("probes_by_points", holds, fields, rows, caption, AGREEMENT_NOTE)


def probes_by_trap_sheet(findings: Findings) -> Sheet:
    """Return a sheet of how far graders agree with the labels of the probes, by trap."""
    rows = [
        {"grader": card.grader, "trap": trap, **_agreement_row(agreement)}
        for card in findings.cards.values()
        if card.probes
        for trap, agreement in card.probes.by_trap.items()
    ]
    trap_field = Field("trap", "the trap of the probes", text_kind(shown_name=plain))
    holds, caption = "a grader and a trap", "Agreement with the probes, by trap"
    return Sheet("probes_by_trap", holds, (GRADER, trap_field, *_AGREEMENT), rows, caption)


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
