"""Sheets of entries: their numbers over all scenarios, care and twins, and records of runs.

An entry is one system as one grader judged it on one rubric.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from careeval.core.registry import Registry
from careeval.core.scenario import Rubric
from careeval.core.text import percent
from careeval.results.care import Rate
from careeval.results.compare import MAKER_MARK, Ranking
from careeval.results.entry import Entry
from careeval.results.graded_rubric import Errors
from careeval.results.metrics import (
    DIRECTIONS,
    HEADLINE,
    IN_DETAIL,
    SEVERE_BY_KIND,
    Metric,
    Number,
)
from careeval.results.probe_check import ProbeAgreement
from careeval.results.twins import TwinNumbers
from careeval.sheets.kinds import (
    AGREEMENT_SHARE,
    AMOUNT,
    COUNT,
    DASH,
    DECIMAL,
    ERROR_SHARE,
    ESTIMATE,
    FLAG,
    JOINED,
    PLAIN,
    POINTS,
    RANKS,
    SHARE,
    SPENDING,
    UNKNOWN,
    WORDS,
    Kind,
    estimate_kind,
    text_kind,
)
from careeval.sheets.sheet import Field, Row, Sheet, row_of
from careeval.sheets.words import entry_graders, entry_names, worst_n
from careeval.stats.estimate import Estimate

SYSTEM = Field("system", "name of the system")
GIVEN = Field("given", "what it is given of a world: told …; null in a bank of words")
STEP = Field(
    "step", "whether it acts one act at a time, not by a whole plan", FLAG, "One act at a time"
)
SYSTEM_NAME = Field(
    "system_name", "name of the system, with its condition", head="System", in_files=False
)
GRADER = Field("grader", "name of the grader, with its mode and the hash of its prompt")
RUBRIC = Field("rubric", "actions, ladder or plan")
ENTRY = (SYSTEM, GIVEN, STEP, GRADER, RUBRIC, SYSTEM_NAME)
BANK = Field("bank", "name of the bank")
BANK_VERSION = Field("bank_version", "version N-X of the bank; only equal N are comparable")
PROTOCOL = Field("protocol", "version N-X of the asking protocol; only equal N are comparable")
GRADING_PROTOCOL = Field("grading_protocol", "version N-X of the grading protocol; null if unknown")

NAME = Field("name", "unique name of the entry", head="System", in_files=False)
GRADER_NAME = Field("judge", "shortest unique name of the grader", head="Grader", in_files=False)

PROVENANCE = Field("provenance", "how the bank was made, and whether anybody answered at all")
"""A column for data files that somebody may read without the other files."""

ASKED = Field("n", "scenarios × responses to each", WORDS, "Scenarios × responses", "asked", False)

NO_KIND = Errors(0, 0, Estimate.unknown("the bank does not say which items do this"), None)
NOT_CORRECTED = Estimate.unknown("people did not read its responses")

CORRECTED_SCORE = Field(
    "corrected",
    "score by the grader, corrected by the labels of people",
    AGREEMENT_SHARE,
    "Corrected by people",
)
CORRECTED = (
    Field(
        "graded",
        "score by the grader, over the public responses that it judged completely",
        SHARE,
        "As graded",
        "as graded %",
    ),
    CORRECTED_SCORE,
    Field("n_responses", "responses with a judgment that people settled", COUNT, "Responses read"),
    Field("n_judgments", "judgments that people settled", COUNT, "Judgments read"),
)
"""The numbers of `careeval.results.grader_accuracy.CorrectedScore`."""


def with_names(entries: Sequence[Entry]) -> Iterator[tuple[Row, Entry]]:
    """Yield each entry after its row of `ENTRY`, `NAME`, `GRADER_NAME` and `PROVENANCE` alone."""
    names = zip(entries, entry_names(entries), entry_graders(entries), strict=True)
    for s, name, grader_name in names:
        row = {"system": s.system, "given": s.given, "step": s.step, "system_name": s.name}
        row |= {"grader": s.grader, "rubric": s.rubric.value}
        yield row | {"name": name, "judge": grader_name, "provenance": s.bank_provenance}, s


# One row an entry

_FACTS = (
    Field("asked", "name of the model that was asked; null for recorded answers"),
    BANK,
    BANK_VERSION,
    Field("bank_hash", "hash of the scenarios that were asked"),
    Field("bank_provenance", "how the bank was made and vetted"),
    PROTOCOL,
    GRADING_PROTOCOL,
    Field("n_scenarios", "scenarios asked", COUNT),
    Field("n_epochs", "responses asked for each scenario: the n of the worst of n", COUNT),
    Field("n_responses", "responses asked for", COUNT),
    Field("n_missing", "of n_responses, missing: they have no score, not 0", COUNT),
    Field("n_empty", "of n_responses, without a word: 0 points", COUNT),
    Field("n_refused", "of n_responses, refused by the provider: 0 points", COUNT),
    Field("n_malformed", "of n_responses, words that are no plan: 0 points", COUNT),
    Field("n_not_executable", "of n_responses, plans that break off, judged up to there", COUNT),
    Field("n_cut", "of n_responses, cut off at the token limit, and graded as they are", COUNT),
    Field("n_ungraded", "of n_responses, not graded, or only in part", COUNT),
    Field("n_gradings", "number of times that the grader judged them; the first counts", COUNT),
    Field("n_judgments", "items × responses", COUNT),
    Field(
        "n_unresolved", "of n_judgments, those that the grader failed to make", COUNT, "Unresolved"
    ),
)
_DETAIL = (
    Field(
        "reliability_n_scenarios",
        "scenarios that it is over, which have no unresolved judgment; 0 if unknown",
        COUNT,
    ),
    Field(
        "reliability_icc", "correlation of two responses to one scenario; null if unknown", DECIMAL
    ),
    Field(
        "reliability_design_effect",
        "factor by which the responses are worth fewer independent ones; null if unknown",
        DECIMAL,
    ),
    Field(
        "reliability_of_mean",
        "reliability of a scenario's mean over its n responses; null if unknown",
        DECIMAL,
        "Reliability",
        "reliability of mean",
    ),
    Field("reliability_reason", "why it is unknown; else empty"),
    Field(
        "words",
        "mean number of words of a response",
        estimate_kind(unit=PLAIN),
        "Words of a response",
        "words",
    ),
    Field(
        "per_100_words",
        "rise of the score with 100 more words, within scenarios",
        estimate_kind(unit=POINTS),
        "Score with 100 more words, same scenario",
        "per 100 words",
    ),
)
_COSTS = (
    Field("cost.asking", "of the responses", SPENDING, "Asking"),
    Field("cost.grading", "of the first gradings", SPENDING, "Grading"),
    Field(
        "cost.response",
        "cost of asking and grading a response",
        AMOUNT,
        "A response, asked and graded",
        in_files=False,
    ),
)
_WARNINGS = (
    Field("not_ranked", "why the entry must not be ranked; empty if it may be", JOINED),
    Field("warnings", "warnings for the reader", JOINED),
)
_RANKS = Field(
    "ranks",
    "rank set by score, and by severe errors",
    text_kind(if_missing=DASH),
    "Rank",
    in_files=False,
)


def metric_kind(metric: Metric[Any, Number]) -> Kind:
    """Return the kind of a metric's values."""
    if metric.counts_errors:
        return ERROR_SHARE
    return estimate_kind(unit=POINTS) if metric.in_points else ESTIMATE


def metric_field(metric: Metric[Any, Number], n: str = "n") -> Field:
    """Return the field of a metric; `n`, the responses per scenario, is put into its heads."""
    head, brief = metric.head.format(n=n), metric.brief.format(n=n)
    return Field(metric.key, metric.holds, metric_kind(metric), head, brief)


def entries_sheet(
    entries: Sequence[Entry],
    rankings: Iterable[Ranking] = (),
    *,
    in_detail: bool = False,
    corrected: bool = False,
) -> Sheet:
    """Return the sheet of the main numbers: a row per entry.

    Args:
        entries: The entries.
        rankings: Rankings of these entries; a `Ranked.place` is a position in `entries`.
        in_detail: Whether the sheet has the fields of the details of entries.
        corrected: Whether the sheet has the scores corrected by people.
    """
    n = worst_n(entries)
    fields = (
        *ENTRY,
        *_FACTS,
        *(metric_field(metric, n) for metric in HEADLINE),
        *map(metric_field, SEVERE_BY_KIND),
        *((*map(metric_field, IN_DETAIL), *_DETAIL) if in_detail else ()),
        *((CORRECTED_SCORE,) if corrected else ()),
        *_COSTS,
        *_WARNINGS,
        NAME,
        GRADER_NAME,
        ASKED,
        _RANKS,
    )
    ranks = rank_texts(rankings)
    rows = [
        {
            **names,
            **{field.key: getattr(s, field.key) for field in _FACTS},
            **s.numbers,
            **{m.key: s.severe_by_kind.get(m.key, NO_KIND) for m in SEVERE_BY_KIND},
            **(_detail_row(s) if in_detail else {}),
            "corrected": s.corrected.corrected if s.corrected else NOT_CORRECTED,
            "cost.asking": s.cost.asking,
            "cost.grading": s.cost.grading,
            "cost.response": s.cost.per_response,
            "not_ranked": s.not_ranked,
            "warnings": s.warnings,
            "n": f"{s.n_scenarios} × {s.n_epochs}",
            "ranks": ranks.get(place),
        }
        for place, (names, s) in enumerate(with_names(entries))
    ]
    return Sheet(
        "entries",
        "a system as one grader judged it on one rubric",
        fields,
        rows,
        "Severe errors and score",
    )


def _detail_row(s: Entry) -> Row:
    known = s.reliability
    return {
        **s.numbers_in_detail,
        "reliability_n_scenarios": s.n_reliability,
        "reliability_icc": known and known.icc,
        "reliability_design_effect": known and known.design_effect,
        "reliability_of_mean": known and known.of_mean,
        "reliability_reason": s.why_no_reliability,
        "words": s.words,
        "per_100_words": s.per_100_words,
    }


def rank_texts(rankings: Iterable[Ranking]) -> dict[int, str]:
    """Return position of an entry → its ranks as text; rankings of one entry are skipped."""
    return {
        ranked.place: f"{RANKS.text(ranked.ranks)}{MAKER_MARK if ranked.bank_maker else ''} "
        f"(severe {RANKS.text(ranked.severe_ranks)})"
        for ranking in rankings
        if len(ranking.ranked) > 1
        for ranked in ranking.ranked
    }


# Many responses


def at_k_sheet(entries: Sequence[Entry]) -> Sheet:
    """Return a sheet with a row for each entry and number k of responses, from 1 to n.

    It has the score if the lowest of k responses counted, and the share of scenarios with a severe
    error in any of k.
    """
    fields = (
        *ENTRY,
        Field("k", "responses to a scenario, 1 to n", COUNT),
        Field("worst_at_k", "score if each scenario has the lowest of k responses", ESTIMATE),
        Field(
            "severe_of_k", "share of scenarios with a severe error in any of k responses", ESTIMATE
        ),
        NAME,
        GRADER_NAME,
    )
    rows = [
        {**names, "k": k, "worst_at_k": worst, "severe_of_k": severe}
        for names, entry in with_names(entries)
        for k, (worst, severe) in enumerate(
            zip(entry.worst_at_k, entry.severe_of_k, strict=True), start=1
        )
    ]
    return Sheet("worst_at_k", "an entry and a number of responses", fields, rows)


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
        for key, meaning, rate in _directions(s, probes.get(s.grader))
    ]
    holds = "an entry and a number: too little or too much care, or adaptation to twins"
    caption = "Too little and too much care, and twins"
    return Sheet("directions", holds, fields, rows, caption)


def _directions(s: Entry, probes: ProbeAgreement | None) -> Iterator[tuple[str, str, Rate]]:
    """Yield key, meaning and value of each number; if it has twins, the grader's errors on them."""
    for metric in DIRECTIONS:
        if metric.key in s.directions:
            yield metric.key, metric.holds, s.directions[metric.key]
    if probes and probes.pairs and s.twins:
        of_pair = "probes of twins that hold one right act of the pair, of which the grader"
        for key, (_, meaning) in _SLIPS.items():
            yield key, f"{of_pair} {meaning}", Rate(probes.pairs.n, getattr(probes.pairs, key))


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
        for names, s in with_names(entries)
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
    Field("bank", "bank and its version"),
    Field("bank_hash", "hash of the scenarios", head="Bank’s hash"),
    Field("protocol", "version of the protocol", head="Protocol that asked"),
    Field("model", "name that was asked for", head="Model asked"),
    Field("model_returned", "name in the reply", head="Model that answered"),
    Field("sampling", "sampling parameters sent", head="Sampling sent"),
    Field("ask_prompt", "hash of the prompts", head="Hash of the question’s prompts"),
    Field("software", "version of careeval", head="careeval"),
    Field("created", "days on which the run began", head="Run begun"),
)
"""The fields that are made of the columns of `responses` of these names."""

_DAY = len("2026-11-20")


def records_sheet(entries: Sequence[Entry]) -> Sheet:
    """Return a sheet of run records, a row for each system in each condition."""
    rows = []
    for name, s in {s.name: s for s in reversed(entries)}.items():
        record = {field.key: _recorded(s.responses, field.key) for field in _RECORD}
        record["bank"] = _recorded(s.responses, "bank", "bank_version")
        record["sampling"] = _sampling(s.responses["sampling"])
        record |= {"given": s.given or "not recorded", "step": STEP.kind.text(s.step)}
        gradings = "; ".join(_grading_text(other) for other in entries if other.name == name)
        rows.append({"system": name, **record, "judged": gradings})
    fields = (
        Field("system", "name of the system"),
        *_RECORD,
        *((GIVEN, STEP) if any(s.given or s.step for s in entries) else ()),
        Field("judged", "rubrics, graders and protocols of its judgments"),
    )
    return Sheet("records", "a system", fields, rows[::-1], "What was run")


def _recorded(responses: pl.DataFrame, *columns: str) -> str:
    """Return the distinct values in these columns, of a time only the day; or "not recorded"."""
    rows = responses.select(columns).unique(maintain_order=True).drop_nulls().sort(columns).rows()
    values = [" ".join(map(str, row)) for row in rows]
    if columns == ("created",):
        values = [time[:_DAY] for time in values]
    return "; ".join(value for value in dict.fromkeys(values) if value != "{}") or "not recorded"


_MAX_VALUES = 3
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
            many = len(values) > _MAX_VALUES
            different.append(f"{name} ({f'{len(values)} values' if many else ' or '.join(values)})")
    parts = [", ".join(same), different and f"by call: {', '.join(different)}"]
    return "; ".join(part for part in parts if part) or "not recorded"


def _grading_text(s: Entry) -> str:
    times = "once" if s.n_gradings == 1 else f"{s.n_gradings} times"
    return f"{s.rubric.value} {times} by {s.grader}, protocol {s.grading_protocol or UNKNOWN}"


@dataclass(frozen=True, slots=True)
class FurtherTable:
    """A table of numbers that only entries on one rubric have."""

    sheet: Sheet
    shown: tuple[str, ...]
    """Keys of the fields that people are shown, beside the name of the entry."""
    lead: str
    """One sentence that says how the numbers came about."""


TABLES: Registry[Callable[[Sequence[Entry]], list[FurtherTable]]] = Registry(
    {Rubric.plan.value: "careeval.worlds.plan_numbers:plan_tables"}
)
"""Rubric → function that makes the tables of some entries."""


def further_tables(entries: Sequence[Entry]) -> list[FurtherTable]:
    """Return the tables of each rubric that has some and that an entry is on."""
    rubrics = {summary.rubric.value for summary in entries}
    return [table for rubric in TABLES if rubric in rubrics for table in TABLES[rubric](entries)]
