"""Sheets of entries' numbers on care, such as too little or too much of it, and on twins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from careeval.results.details import care_numbers, grader_twin_errors
from careeval.results.probe_check import ProbeAgreement
from careeval.results.summary import Summary
from careeval.results.twins import TwinNumbers
from careeval.sheets.entries.entries_sheet import ENTRY, GRADER_NAME, NAME, entry_rows
from careeval.sheets.kinds import COUNT, ESTIMATE, SHARE, text_kind
from careeval.sheets.sheet import Field, Row, Sheet


def directions_sheet(
    summaries: Sequence[Summary], probes: Mapping[str, ProbeAgreement] = {}
) -> Sheet:
    """Return a sheet with a row for each entry and number of `care_numbers`.

    The numbers are on too little and too much care, unspecific responses, points of the easy core
    and of other good acts, a lenient score, and twins.

    Args:
        summaries: Summaries of the entries.
        probes: Grader → its agreement with the probes. Entries of these graders that have twins
            have rows with the grader's errors on the probes of twins too.
    """
    shares = [(*care_numbers(s), *grader_twin_errors(s, probes.get(s.grader))) for s in summaries]
    heads = {d.key: d.head for entry_shares in shares for d in entry_shares}
    fields = (
        *ENTRY,
        Field("number", "name of the number: too_little, adapted …", text_kind(names=heads)),
        Field("meaning", "what it is a share of", head="Share of"),
        Field("n", "number of responses, twins or controls that it is over", COUNT, "Over"),
        Field("share", "the share", ESTIMATE),
        NAME,
        GRADER_NAME,
    )
    rows = [
        {**names, "number": d.key, "meaning": d.meaning, "n": d.n, "share": d.share}
        for names, entry_shares in zip(entry_rows(summaries), shares, strict=True)
        for d in entry_shares
    ]
    holds = "an entry and a number: too little or too much care, or adaptation to twins"
    caption = "Too little and too much care, and twins"
    return Sheet("directions", holds, fields, rows, caption)


def twins_sheet(summaries: Sequence[Summary]) -> Sheet:
    """Return a sheet that compares the responses to a base with those to its twin or control."""
    fields = (
        *ENTRY,
        Field("base", "id of the base"),
        Field("twin", "id of the twin or the control"),
        Field("control", "paraphrase or irrelevant; null for a twin"),
        Field("right_in_base", "id of the base's right act; null for a control"),
        Field("right_in_twin", "id of the twin's right act; null for a control"),
        Field("adapted", "share of pairs of epochs that are adapted; null if unknown", SHARE),
        Field("stuck", "share of pairs of epochs that are stuck; null if unknown", SHARE),
        Field("changed", "for a control, share of pairs of epochs that differ", SHARE),
        Field("same_text", "for a control, share of pairs of the base's epochs that differ", SHARE),
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
