"""Sheets of the numbers of entries, over all scenarios and over parts of the scenarios.

An entry is one system as one grader judged it on one rubric.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from careeval.results.compare import MAKER_MARK, Ranking
from careeval.results.entries import Breakdown, Entry, Part
from careeval.results.graded_rubric import Errors
from careeval.results.metrics import HEADLINE, IN_DETAIL, SEVERE, SEVERE_BY_KIND, Metric, Number
from careeval.sheets.agreement_fields import CORRECTED_SCORE
from careeval.sheets.kinds import (
    AMOUNT,
    COUNT,
    DASH,
    DECIMAL,
    ERROR_SHARE,
    ESTIMATE,
    JOINED,
    PLAIN,
    POINTS,
    RANKS,
    SMALL_COUNT,
    SPENDING,
    WORDS,
    Kind,
    estimate_kind,
    part_name_kind,
    text_kind,
)
from careeval.sheets.names import DOMAINS, actor, assistance, condition, plain
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.sheets.words import entry_graders, entry_names, worst_n
from careeval.stats.estimate import Estimate

SYSTEM = Field("system", "name of the system")
GRADER = Field("grader", "name of the grader, with its mode and the hash of its prompt")
RUBRIC = Field("rubric", "actions, ladder or plan")
ENTRY = (SYSTEM, GRADER, RUBRIC)
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


def entry_rows(entries: Sequence[Entry]) -> list[Row]:
    """Return a row for each entry, of `ENTRY`, `NAME`, `GRADER_NAME` and `PROVENANCE` alone."""
    return [
        {
            "system": s.system,
            "grader": s.grader,
            "rubric": s.rubric.value,
            "name": name,
            "judge": grader_name,
            "provenance": s.bank_provenance,
        }
        for s, name, grader_name in zip(
            entries, entry_names(entries), entry_graders(entries), strict=True
        )
    ]


def with_names(entries: Sequence[Entry]) -> Iterator[tuple[Row, Entry]]:
    """Return each entry with its row from `entry_rows`, as pairs of row and entry."""
    return zip(entry_rows(entries), entries, strict=True)


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
    *(
        Field(f"reliability_{name}", f"{holds}; null if unknown", DECIMAL)
        for name, holds in (
            ("icc", "correlation of two responses to one scenario"),
            ("design_effect", "factor by which the responses are worth fewer independent ones"),
        )
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
_FOR_PEOPLE = (
    NAME,
    GRADER_NAME,
    ASKED,
    Field(
        "ranks",
        "rank set by score, and by severe errors",
        text_kind(if_missing=DASH),
        "Rank",
        "",
        False,
    ),
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
        *_FOR_PEOPLE,
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
    return {
        **s.numbers_in_detail,
        "reliability_n_scenarios": s.n_reliability,
        **{
            f"reliability_{name}": getattr(s.reliability, name, None)
            for name in ("icc", "design_effect", "of_mean")
        },
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


# Parts of the scenarios

PARTS: Mapping[Breakdown, Field] = {
    Breakdown.adl: Field("adl", "activity of daily living", part_name_kind(), "Activity"),
    Breakdown.domain: Field(
        "domain",
        "domain of caregiving competence",
        text_kind(names={d.value: name for d, name in DOMAINS.items()}),
        head="Domain",
    ),
    Breakdown.condition: Field(
        "condition", "what the person lives with", part_name_kind(shown_name=condition)
    ),
    Breakdown.assistance: Field(
        "assistance",
        "usual level of assistance, a Section GG code",
        part_name_kind(shown_name=assistance),
        "Usual assistance",
    ),
    Breakdown.situation: Field(
        "situation",
        "what makes the moment hard; a scenario with several counts in each",
        part_name_kind(shown_name=plain),
    ),
    Breakdown.actor: Field(
        "actor", "who acts: person or robot", part_name_kind(shown_name=actor), "Who helps"
    ),
}


def _small(holds: str) -> Field:
    return Field("n", f"{holds}; below five, not for comparing", SMALL_COUNT, "Scenarios", "n")


_PART = (
    _small("scenarios of the part with a judged response"),
    Field("score", "score in the part", ESTIMATE),
    replace(metric_field(SEVERE), holds="share of the responses in which an item of −2 is present"),
)
_DOMAIN_PART = (
    _small("scenarios with an item rated in the domain"),
    Field("score", "score with each item weighted by its rating in the domain", ESTIMATE),
)


_SEVERAL = (
    Field("n_scenarios", "scenarios with a judged response, each counted once", COUNT),
    Field(
        "n_counted",
        "sum of n over the parts: a scenario with several situations counts in each",
        COUNT,
    ),
)
"""The fields of parts that a scenario may have several of."""


def parts_sheet(by: Breakdown, entries: Sequence[Entry]) -> Sheet:
    """Return a sheet of numbers: a row for each entry and part of the scenarios.

    Args:
        by: The breakdown of the scenarios.
        entries: The entries.
    """
    several = by is Breakdown.situation
    rows = [
        {**names, by.value: str(part), **_part_row(cell), **(_counts(entry) if several else {})}
        for names, entry in with_names(entries)
        for part, cell in entry.by(by).items()
    ]
    fields = (
        *ENTRY,
        PARTS[by],
        *(_DOMAIN_PART if by is Breakdown.domain else _PART),
        *(_SEVERAL if several else ()),
        NAME,
        GRADER_NAME,
    )
    holds = f"an entry and a part of the scenarios, by {by.head}"
    note = " ".join(several_notes(rows)) if several else ""
    return Sheet(f"by_{by}", holds, fields, rows, f"By {by.head}", note)


def _counts(entry: Entry) -> Row:
    """Return the values of `_SEVERAL`; every scenario has one activity."""
    return {
        "n_scenarios": sum(cell.n for cell in entry.by_adl.values()),
        "n_counted": sum(cell.n for cell in entry.by_situation.values()),
    }


def several_notes(rows: Iterable[Row]) -> Iterator[str]:
    """Yield a note on rows by situation, with the counts of each entry if they differ.

    If every scenario has one situation, there is no note.
    """
    counts = {row["name"]: (row["n_scenarios"], row["n_counted"]) for row in rows}
    if all(scenarios == counted for scenarios, counted in counts.values()):
        return
    differ = len(set(counts.values())) > 1
    parts = (
        f"{scenarios} scenarios{f' of {name}' if differ else ''} count {counted} times"
        for name, (scenarios, counted) in (counts.items() if differ else list(counts.items())[:1])
    )
    yield f"A scenario with several situations counts in each: {'; '.join(parts)}."


def _part_row(cell: Part) -> Row:
    severe = {SEVERE.key: cell.severe} if cell.severe else {}
    return {"n": cell.n, "score": cell.score, **severe}


def adl_and_domain_sheet(entries: Sequence[Entry]) -> Sheet:
    """Return a sheet of domain-weighted scores: a row per entry, activity and domain."""
    rows = [
        {**names, "adl": adl.value, "domain": domain.value, "n": cell.n, "score": cell.score}
        for names, entry in with_names(entries)
        for adl, domains in entry.by_adl_and_domain.items()
        for domain, cell in domains.items()
    ]
    fields = (
        *ENTRY,
        PARTS[Breakdown.adl],
        PARTS[Breakdown.domain],
        *_DOMAIN_PART,
        NAME,
        GRADER_NAME,
    )
    return Sheet("by_adl_and_domain", "an entry, an activity and a domain", fields, rows)


def stacked_parts_sheet(sheets: Sequence[Sheet]) -> Sheet:
    """Return the rows of several sheets of parts as one sheet, with the fields `by` and `part`.

    A single sheet is returned unchanged.
    """
    if len(sheets) == 1:
        return sheets[0]
    fields = (
        *ENTRY,
        Field("by", "what the scenarios are broken down by"),
        Field("part", "the part, as the bank names it"),
        *_PART,
        *(_SEVERAL if any("n_counted" in sheet.by_key for sheet in sheets) else ()),
    )
    rows = [
        row | {"by": by, "part": row[by]}
        for sheet in sheets
        for by in (sheet.name.removeprefix("by_"),)
        for row in sheet.rows
    ]
    return Sheet("parts", "an entry and a part of the scenarios", fields, rows)


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
