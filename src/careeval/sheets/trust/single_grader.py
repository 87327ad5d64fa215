"""Sheets of single graders: on the probes, against people, and against themselves."""

from __future__ import annotations

from collections.abc import Mapping

from careeval.results.findings import Findings
from careeval.results.trust.contradictions import Contradiction
from careeval.results.trust.probe_check import Agreement
from careeval.sheets.agreement_fields import AGREEMENT_NOTE
from careeval.sheets.kinds import COUNT, SHARE, Words
from careeval.sheets.names import plain
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.sheets.trust.graders import CLASS, GRADER, of_class, told_apart

_TRIED = (
    Field("present", "labelled present, and judged", COUNT),
    Field("found", "of these, judged present", COUNT),
    Field("sensitivity", "share found of what is there; null if unknown", SHARE, "Finds"),
    Field("absent", "labelled absent, and judged", COUNT),
    Field("cleared", "of these, judged absent", COUNT),
    Field("specificity", "share cleared of the rest; null if unknown", SHARE, "Clears"),
    Field("unresolved", "not judged", COUNT),
)


def _of_tried(part: Agreement) -> Row:
    known = ("found", "sensitivity", "cleared", "specificity", "unresolved")
    return {key: getattr(part, key) for key in known} | {
        "present": part.found + part.missed,
        "absent": part.cleared + part.invented,
    }


def probes_by_points_sheet(findings: Findings) -> Sheet:
    """Return graders held against the labels of the probes, a row a point class."""
    rows = [
        {"grader": card.grader, **of_class(key, by_class), **_of_tried(card.probes.by_points[key])}
        for card in findings.cards.values()
        if card.probes
        for key, by_class in card.probes.agreement_by_points.items()
    ]
    holds, caption = "a grader and a point class", "Agreement with the probes, by points"
    fields = (GRADER, *CLASS[:2], *_TRIED, *CLASS[-2:])
    return Sheet("probes_by_points", holds, fields, rows, caption, AGREEMENT_NOTE)


def probes_by_trap_sheet(findings: Findings) -> Sheet:
    """Return graders held against the labels of the probes, a row a trap."""
    rows = [
        {"grader": card.grader, "trap": trap, **_of_tried(part)}
        for card in findings.cards.values()
        if card.probes
        for trap, part in card.probes.by_trap.items()
    ]
    trap = Field("trap", "what a probe tries a grader with", Words(say=plain))
    holds, caption = "a grader and a trap", "Agreement with the probes, by trap"
    return Sheet("probes_by_trap", holds, (GRADER, trap, *_TRIED), rows, caption)


_CONTRADICTIONS: Mapping[str, str] = {
    Contradiction.top_without_next: "+2 without the +1 that is a part of it",
    Contradiction.rung_without_act: "a rung without an act that it is made of",
    Contradiction.acts_without_rung: "all acts of a rung, and not the rung",
    Contradiction.excluded_pair: "two acts that exclude each other",
}


def contradictions_sheet(findings: Findings) -> Sheet:
    """Return how often each grader's judgments contradict each other."""
    fields = (
        told_apart(GRADER, findings.cards),
        Field(
            "kind",
            "what cannot both be true",
            Words(names=_CONTRADICTIONS),
            "What cannot both be true",
        ),
        Field("count", "how often it was found; null if unknown", COUNT, "Found"),
        Field("opportunities", "how often it could have been; null if unknown", COUNT),
        Field("share", "of the opportunities; null if unknown", SHARE),
        Field("reason", "why it is unknown; else empty"),
    )
    rows = [
        {"grader": card.grader, "kind": kind.value}
        | {field.key: getattr(count, field.key) for field in fields[2:]}
        for card in findings.cards.values()
        for kind, count in card.contradictions.items()
    ]
    caption = "Judgments that contradict each other"
    return Sheet("contradictions", "a grader and a contradiction", fields, rows, caption)
