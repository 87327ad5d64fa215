"""Sheets of which way an entry errs: too little care, too much, and how it follows twins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from careeval.results.care_directions import directions, grader_slips
from careeval.results.score.summary import Summary
from careeval.results.score.twins import TwinNumbers
from careeval.results.trust.probe_check import ProbeAgreement
from careeval.sheets.entries.numbers import ENTRY, JUDGE, NAME, entry_rows
from careeval.sheets.estimate_kinds import MEASURE
from careeval.sheets.kinds import COUNT, SHARE, Words
from careeval.sheets.sheet import Field, Row, Sheet


def directions_sheet(
    summaries: Sequence[Summary], probes: Mapping[str, ProbeAgreement] = {}
) -> Sheet:
    """Return too little and too much care, and how twins are followed, a row a number.

    Args:
        summaries: An entry each.
        probes: Grader → its agreement with the probes: what it mistakes of twins is told too.
    """
    numbers = [(*directions(s), *grader_slips(s, probes.get(s.grader))) for s in summaries]
    heads = {d.key: d.head for of_entry in numbers for d in of_entry}
    fields = (
        *ENTRY,
        Field("number", "too_little, adapted …", Words(names=heads)),
        Field("meaning", "what it is a share of", head="Share of"),
        Field("n", "responses, twins or controls that it is over", COUNT, "Over"),
        Field("share", "the number", MEASURE),
        NAME,
        JUDGE,
    )
    rows = [
        {**names, "number": d.key, "meaning": d.meaning, "n": d.n, "share": d.share}
        for names, of_entry in zip(entry_rows(summaries), numbers, strict=True)
        for d in of_entry
    ]
    holds = "which way an entry errs, and how it follows twins: a number"
    caption = "Too little and too much care, and twins"
    return Sheet("directions", holds, fields, rows, caption)


def twins_sheet(summaries: Sequence[Summary]) -> Sheet:
    """Return each scenario beside its twin or its control."""
    fields = (
        *ENTRY,
        Field("base", "id of the base"),
        Field("twin", "id of the twin or the control"),
        Field("control", "paraphrase or irrelevant; null for a twin"),
        Field("right_in_base", "id of the base's right act; null for a control"),
        Field("right_in_twin", "id of the twin's right act; null for a control"),
        Field("adapted", "share of the pairs of epochs; null if unknown", SHARE),
        Field("stuck", "share of the pairs of epochs; null if unknown", SHARE),
        Field("changed", "of a control, share of the pairs of epochs that differ", SHARE),
        Field("same_text", "of a control, the same of two epochs of the base", SHARE),
    )
    rows = [
        {**names, **row}
        for names, s in zip(entry_rows(summaries), summaries, strict=True)
        if s.twins
        for row in _twin_rows(s.twins)
    ]
    return Sheet("twins", "a scenario beside its twin or control", fields, rows)


def _twin_rows(twins: TwinNumbers) -> Iterator[Row]:
    for pair in twins.pairs:
        row = {
            "base": pair.base,
            "twin": pair.twin,
            "right_in_base": pair.right[0],
            "right_in_twin": pair.right[1],
        }
        shares = {"adapted": pair.adapted.value, "stuck": pair.stuck.value} if pair.n else {}
        yield row | shares
    for control in twins.controls:
        yield {
            "base": control.base,
            "twin": control.control,
            "control": control.kind,
            "changed": control.changed,
            "same_text": control.same_text,
        }
