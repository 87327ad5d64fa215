"""Further sheets of entries: care and twins, scores that people corrected, and records of runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from careeval.core.text import percent
from careeval.results.care import Rate, TwinNumbers
from careeval.results.entries import Entry
from careeval.results.metrics import DIRECTIONS
from careeval.results.probe_check import ProbeAgreement
from careeval.sheets.agreement_fields import CORRECTED
from careeval.sheets.entries.entries_sheet import ENTRY, GRADER_NAME, NAME, entry_rows, with_names
from careeval.sheets.kinds import COUNT, ESTIMATE, SHARE, UNKNOWN, text_kind
from careeval.sheets.sheet import Field, Row, Sheet, row_of

_SLIPS = {
    "mistaken": ("Mistaken by the grader", "misjudges either act"),
    "swapped": ("Swapped by the grader", "finds the other act instead"),
}
"""Error of a grader on the probes of twins → its head, and the end of its meaning."""


def directions_sheet(entries: Sequence[Entry], probes: Mapping[str, ProbeAgreement] = {}) -> Sheet:
    """Return a sheet with a row for each entry and number of `Entry.directions`.

    The numbers are on too little and too much care, unspecific responses, points of the easy core
    and of other good acts, a lenient score, and twins.

    Args:
        entries: The entries.
        probes: Grader → its agreement with the probes. Entries of these graders that have twins
            have rows with the grader's errors on the probes of twins too.
    """
    heads = {metric.key: metric.head for metric in DIRECTIONS}
    heads |= {key: head for key, (head, _) in _SLIPS.items()}
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
        {**names, "number": key, "meaning": meaning, "n": rate.n, "share": rate.share}
        for names, s in with_names(entries)
        for key, meaning, rate in (*_directions(s), *_slips(s, probes.get(s.grader)))
    ]
    holds = "an entry and a number: too little or too much care, or adaptation to twins"
    caption = "Too little and too much care, and twins"
    return Sheet("directions", holds, fields, rows, caption)


def _directions(s: Entry) -> Iterator[tuple[str, str, Rate]]:
    for metric in DIRECTIONS:
        if metric.key in s.directions:
            yield metric.key, metric.holds, s.directions[metric.key]


def _slips(s: Entry, probes: ProbeAgreement | None) -> Iterator[tuple[str, str, Rate]]:
    """Yield the grader's errors on the probes of twins, if the entry has twins."""
    slips = probes.pairs if probes and s.twins else None
    if slips is None:
        return
    of_pair = "probes of twins that hold one right act of the pair, of which the grader"
    for key, (_, meaning) in _SLIPS.items():
        yield key, f"{of_pair} {meaning}", Rate(slips.n, getattr(slips, key))


def twins_sheet(entries: Sequence[Entry]) -> Sheet:
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
        for names, s in zip(entry_rows(entries), entries, strict=True)
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


def corrected_sheet(entries: Sequence[Entry]) -> Sheet:
    """Return a sheet of corrected scores: a row for each entry that an audit covers."""
    fields = (
        *ENTRY,
        *CORRECTED,
        Field("meaning", "the same in a sentence", head="What it means"),
        NAME,
        GRADER_NAME,
    )
    rows = [
        {**names, **row_of(score, CORRECTED), "meaning": score.sentence()}
        for names, entry in with_names(entries)
        if (score := entry.corrected)
    ]
    holds = "a system's score on a rubric, corrected by people who read its responses"
    return Sheet("corrected_scores", holds, fields, rows, "Scores, corrected by people")


def as_graded(entries: Iterable[Entry]) -> str:
    """Return a note if a score as graded differs from the entry's score; else empty."""
    are_equal = all(
        percent(entry.corrected.graded) == percent(entry.score.value)
        for entry in entries
        if entry.corrected
    )
    if are_equal:
        return ""
    return (
        "As graded: over the public responses that the grader judged completely. It differs from "
        "the score of the run if responses are held out, missing or only partly judged."
    )


_RECORD = (
    (Field("bank", "bank and its version"), ("bank", "bank_version")),
    (Field("bank_hash", "hash of the scenarios", head="Bank’s hash"), ("bank_hash",)),
    (Field("protocol", "version of the protocol", head="Protocol that asked"), ("protocol",)),
    (Field("model", "name that was asked for", head="Model asked"), ("model",)),
    (
        Field("model_returned", "name in the reply", head="Model that answered"),
        ("model_returned",),
    ),
    (Field("sampling", "sampling parameters sent", head="Sampling sent"), ("sampling",)),
    (
        Field("ask_prompt", "hash of the prompts", head="Hash of the question’s prompts"),
        ("ask_prompt",),
    ),
    (Field("software", "version of careeval", head="careeval"), ("software",)),
    (Field("created", "days on which the run began", head="Run begun"), ("created",)),
)
"""Each field with the columns of `responses` that it is made of."""

_DAY = len("2026-11-20")


def records_sheet(responses: pl.DataFrame, entries: Sequence[Entry]) -> Sheet:
    """Return a sheet of run records, a row for each system.

    Args:
        responses: The responses of all systems.
        entries: The entries whose systems have rows; if empty, all systems of the
            responses have rows.
    """
    systems = list(dict.fromkeys(s.system for s in entries)) or sorted(responses["system"].unique())
    rows = []
    for system in systems:
        system_responses = responses.filter(pl.col("system") == system)
        record = {field.key: _recorded(system_responses, columns) for field, columns in _RECORD}
        record["sampling"] = _sampling(system_responses["sampling"])
        gradings = "; ".join(_grading_text(s) for s in entries if s.system == system)
        rows.append({"system": system, **record, "judged": gradings})
    fields = (
        Field("system", "name of the system"),
        *(field for field, _ in _RECORD),
        Field("judged", "rubrics, graders and protocols of its judgments"),
    )
    return Sheet("records", "a system", fields, rows, "What was run")


def _recorded(responses: pl.DataFrame, columns: tuple[str, ...]) -> str:
    """Return the distinct values in these columns, of a time only the day; or "not recorded"."""
    rows = responses.select(columns).unique(maintain_order=True).drop_nulls().sort(columns).rows()
    values = [" ".join(map(str, row)) for row in rows]
    if columns == ("created",):
        values = [time[:_DAY] for time in values]
    return "; ".join(value for value in dict.fromkeys(values) if value != "{}") or "not recorded"


_MOST_VALUES = 3
"""Values of a setting that are listed; of more, such as seeds, only their number is given."""


def _sampling(column: pl.Series) -> str:
    """Return the settings that were sent, then those that differ between calls."""
    sent = [json.loads(text) for text in column.drop_nulls().unique().sort()]
    sent = [settings for settings in sent if settings]
    same, different = [], []
    for name in dict.fromkeys(name for settings in sent for name in settings):
        values = dict.fromkeys(
            json.dumps(settings[name], ensure_ascii=False) if name in settings else "none"
            for settings in sent
        )
        if len(values) == 1:
            same.append(f"{name} {''.join(values)}")
        else:
            many = len(values) > _MOST_VALUES
            different.append(f"{name} ({f'{len(values)} values' if many else ' or '.join(values)})")
    parts = [", ".join(same), different and f"by call: {', '.join(different)}"]
    return "; ".join(part for part in parts if part) or "not recorded"


def _grading_text(s: Entry) -> str:
    times = "once" if s.n_gradings == 1 else f"{s.n_gradings} times"
    return f"{s.rubric.value} {times} by {s.grader}, protocol {s.grading_protocol or UNKNOWN}"
