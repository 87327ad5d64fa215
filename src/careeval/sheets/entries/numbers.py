"""Sheets of entries: their numbers, their parts of the scenarios, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from careeval.core.scenario import HarmKind
from careeval.results.entry_numbers import EntryNumbers
from careeval.results.parts import By, cells_by
from careeval.results.score.entry_details import Detail
from careeval.results.score.graded_rubric import Errors
from careeval.results.score.metrics import HEADLINE, IN_DETAIL, Metric
from careeval.results.score.summary import Cell, DomainCell, Summary
from careeval.results.versus.ranking import MAKER_MARK, Ranking
from careeval.sheets.agreement_fields import CORRECTED_SCORE
from careeval.sheets.estimate_kinds import ERROR_SHARE, MEASURE, Measure
from careeval.sheets.kinds import (
    COUNT,
    DASH,
    DECIMAL,
    JOINED,
    PLAIN,
    POINTS,
    RANKS,
    SMALL_COUNT,
    WORDS,
    Kind,
    Words,
)
from careeval.sheets.names import DOMAINS, actor, assistance, condition, plain
from careeval.sheets.page_kinds import AMOUNT, SPENDING, PartName
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.sheets.words import entry_names, judges, worst_n
from careeval.stats import Estimate

SYSTEM = Field("system", "name of the system")
GRADER = Field("grader", "name of the grader, with its mode and the hash of its prompt")
RUBRIC = Field("rubric", "actions or ladder")
ENTRY = (SYSTEM, GRADER, RUBRIC)
BANK = Field("bank", "name of the bank")
BANK_VERSION = Field("bank_version", "N-X: what compares has the same N")
PROTOCOL = Field("protocol", "N-X of the protocol that asked: what compares has the same N")
GRADING_PROTOCOL = Field("grading_protocol", "N-X of the protocol that judged; null if unknown")

NAME = Field("name", "what tells the entry from the others", head="System", in_files=False)
JUDGE = Field(
    "judge", "the grader, by as much of its name as is needed", head="Grader", in_files=False
)

PROVENANCE = Field("provenance", "how the bank was made, and whether anybody answered at all")
"""Stands in files that may be read apart from all others."""

ASKED = Field("n", "scenarios × responses to each", WORDS, "Scenarios × responses", "asked", False)

NO_KIND = Errors(0, 0, Estimate.unknown("the bank does not say which items do this"), None)
NOT_CORRECTED = Estimate.unknown("people did not read its responses")


def entry_rows(summaries: Sequence[Summary]) -> list[Row]:
    """Return what names each entry, and how its bank was made.

    That is a value for each of `ENTRY`, `NAME`, `JUDGE` and `PROVENANCE`.
    """
    return [
        {
            "system": s.system,
            "grader": s.grader,
            "rubric": s.rubric.value,
            "name": name,
            "judge": judge,
            "provenance": s.bank_provenance,
        }
        for s, name, judge in zip(summaries, entry_names(summaries), judges(summaries), strict=True)
    ]


_Numbers = TypeVar("_Numbers", bound=EntryNumbers)


def named(entries: Sequence[_Numbers]) -> Iterator[tuple[Row, _Numbers]]:
    """Yield each entry behind what `entry_rows` has of it."""
    return zip(entry_rows([each.summary for each in entries]), entries, strict=True)


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
    Field("n_epochs", "responses asked for a scenario: the n of the worst of n", COUNT),
    Field("n_responses", "responses asked for", COUNT),
    Field("n_missing", "of these, there is none: no score, never 0", COUNT),
    Field("n_empty", "of these, without a word: 0 points", COUNT),
    Field("n_refused", "of these, refused by the provider: 0 points", COUNT),
    Field("n_cut", "of these, cut off at the token limit, and graded as they are", COUNT),
    Field("n_ungraded", "of these, not graded, or not whole", COUNT),
    Field("n_gradings", "how often the grader judged them; the first time counts", COUNT),
    Field("n_judgments", "items × responses", COUNT),
    Field("n_unresolved", "of these, the grader could not be brought to make", COUNT, "Unresolved"),
)
_KINDS = tuple(
    Field(f"severe_{kind}", "the same, of the items that the bank calls so", ERROR_SHARE)
    for kind in HarmKind
)
_DETAIL = (
    Field(
        "reliability_n_scenarios",
        "scenarios that it is over: those all of whose judgments were made; 0 if unknown",
        COUNT,
    ),
    *(
        Field(f"reliability_{name}", f"{holds}; null if unknown", DECIMAL)
        for name, holds in (
            ("icc", "correlation of two responses to one scenario"),
            ("design_effect", "how many times fewer independent responses they are worth"),
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
        "mean number of words of an answer",
        Measure(unit=PLAIN),
        "Words of an answer",
        "words",
    ),
    Field(
        "per_100_words",
        "rise of the score with 100 more words, within scenarios",
        Measure(unit=POINTS),
        "Score with 100 more words, same scenario",
        "per 100 words",
    ),
)
_COSTS = (
    Field("cost.asking", "of the responses", SPENDING, "Asking"),
    Field("cost.grading", "of the judgments that count", SPENDING, "Grading"),
    Field(
        "cost.response",
        "of a response, asked and graded",
        AMOUNT,
        "A response, asked and graded",
        in_files=False,
    ),
)
_STANDING = (
    Field("not_ranked", "why it may not stand in a ranking; empty if it may", JOINED),
    Field("warnings", "what a reader must know", JOINED),
)
_SHOWN = (
    NAME,
    JUDGE,
    ASKED,
    Field(
        "ranks", "rank set by score, and by severe errors", Words(lacking=DASH), "Rank", "", False
    ),
)


def metric_kind(metric: Metric) -> Kind:
    """Return how a metric is written and stored."""
    if metric.counts_errors:
        return ERROR_SHARE
    return Measure(unit=POINTS) if metric.in_points else MEASURE


def metric_field(metric: Metric, n: str = "n") -> Field:
    """Return a metric as a field; n stands for the number of responses to a scenario."""
    head, brief = metric.head.format(n=n), metric.brief.format(n=n)
    return Field(metric.key, metric.holds, metric_kind(metric), head, brief)


def entries_sheet(
    entries: Sequence[EntryNumbers],
    rankings: Iterable[Ranking] = (),
    *,
    in_detail: bool = False,
    corrected: bool = False,
) -> Sheet:
    """Return the numbers of each entry.

    Args:
        entries: Which.
        rankings: Of these entries, in their order.
        in_detail: Whether the sheet has the fields of their details.
        corrected: Whether it has their scores as people correct them.
    """
    n = worst_n(each.summary for each in entries)
    fields = (
        *ENTRY,
        *_FACTS,
        *(metric_field(metric, n) for metric in HEADLINE),
        *_KINDS,
        *((*map(metric_field, IN_DETAIL), *_DETAIL) if in_detail else ()),
        *((CORRECTED_SCORE,) if corrected else ()),
        *_COSTS,
        *_STANDING,
        *_SHOWN,
    )
    ranks = rank_texts(rankings)
    rows = [
        {
            **names,
            **{field.key: getattr(s, field.key) for field in _FACTS},
            **s.numbers,
            **{f"severe_{kind}": s.severe_by_kind.get(kind, NO_KIND) for kind in HarmKind},
            **(_of_detail(each.detail) if each.detail else {}),
            "corrected": each.corrected.corrected if each.corrected else NOT_CORRECTED,
            "cost.asking": s.cost.asking,
            "cost.grading": s.cost.grading,
            "cost.response": s.cost.per_response,
            "not_ranked": s.not_ranked,
            "warnings": s.warnings,
            "n": f"{s.n_scenarios} × {s.n_epochs}",
            "ranks": ranks.get(place),
        }
        for place, (names, each) in enumerate(named(entries))
        for s in (each.summary,)
    ]
    return Sheet(
        "entries",
        "a system as one grader judged it on one rubric",
        fields,
        rows,
        "Severe errors and score",
    )


def _of_detail(detail: Detail) -> Row:
    reliability = detail.reliability
    return {
        **detail.numbers,
        "reliability_n_scenarios": detail.n_reliability,
        **{
            f"reliability_{name}": getattr(reliability, name, None)
            for name in ("icc", "design_effect", "of_mean")
        },
        "reliability_reason": detail.why_no_reliability,
        "words": detail.length.words,
        "per_100_words": detail.length.per_100_words,
    }


def rank_texts(rankings: Iterable[Ranking]) -> dict[int, str]:
    """Return, by the place of an entry, its rank sets in words; only where several rank."""
    return {
        ranked.place: f"{RANKS.text(ranked.ranks)}{MAKER_MARK if ranked.bank_maker else ''} "
        f"(severe {RANKS.text(ranked.severe_ranks)})"
        for ranking in rankings
        if len(ranking.ranked) > 1
        for ranked in ranking.ranked
    }


# Parts of the scenarios

PARTS: Mapping[By, Field] = {
    By.adl: Field("adl", "activity of daily living", PartName(), "Activity"),
    By.domain: Field(
        "domain",
        "domain of caregiving competence",
        Words(names={d.value: name for d, name in DOMAINS.items()}),
        head="Domain",
    ),
    By.condition: Field("condition", "what the person lives with", PartName(say=condition)),
    By.assistance: Field(
        "assistance",
        "usual level of assistance, a Section GG code",
        PartName(say=assistance),
        "Usual assistance",
    ),
    By.situation: Field(
        "situation",
        "what makes the moment hard; a scenario with several counts in each",
        PartName(say=plain),
    ),
    By.actor: Field("actor", "who acts: person or robot", PartName(say=actor), "Who helps"),
}


def _small(holds: str) -> Field:
    return Field("n", f"{holds}; below five, not for comparing", SMALL_COUNT, "Scenarios", "n")


_PART = (
    _small("scenarios of it with a judged response"),
    Field("score", "its score", MEASURE),
    Field(
        "severe",
        "share of its responses with an item of −2 present",
        ERROR_SHARE,
        "Severe errors",
        "severe",
    ),
)
_DOMAIN_PART = (
    _small("scenarios with an item rated in it"),
    Field("score", "points of the items, weighted by how far each is about the domain", MEASURE),
)


def parts_sheet(by: By, entries: Sequence[EntryNumbers]) -> Sheet:
    """Return the numbers of each part of the scenarios, a row an entry and part.

    Args:
        by: What the scenarios are broken down by.
        entries: Which; with their details where `by` is in them.
    """
    rows = [
        {**names, by.value: str(part), **_part(cell)}
        for names, each in named(entries)
        for part, cell in cells_by(by, each).items()
    ]
    fields = (*ENTRY, PARTS[by], *(_DOMAIN_PART if by is By.domain else _PART), NAME, JUDGE)
    holds = f"an entry and a part of the scenarios, by {by.head}"
    return Sheet(f"by_{by}", holds, fields, rows, f"By {by.head}")


def _part(cell: Cell | DomainCell) -> Row:
    severe = {"severe": cell.severe} if isinstance(cell, Cell) else {}
    return {"n": cell.n, "score": cell.score, **severe}


def adl_and_domain_sheet(entries: Sequence[EntryNumbers]) -> Sheet:
    """Return the domain-weighted score of each activity and domain, a row each.

    An entry without its detail has no row.
    """
    rows = [
        {**names, "adl": adl.value, "domain": domain.value, "n": cell.n, "score": cell.score}
        for names, each in named(entries)
        if each.detail
        for adl, domains in each.detail.by_adl_and_domain.items()
        for domain, cell in domains.items()
    ]
    fields = (*ENTRY, PARTS[By.adl], PARTS[By.domain], *_DOMAIN_PART, NAME, JUDGE)
    return Sheet("by_adl_and_domain", "an entry, an activity and a domain", fields, rows)


def stacked_parts_sheet(sheets: Sequence[Sheet]) -> Sheet:
    """Return several sheets of parts as one, with a column for what each parts the scenarios by."""
    if len(sheets) == 1:
        return sheets[0]
    fields = (
        *ENTRY,
        Field("by", "what the scenarios are broken down by"),
        Field("part", "the part, as the bank names it"),
        *_PART,
    )
    rows = [
        row | {"by": by, "part": row[by]}
        for sheet in sheets
        for by in (sheet.name.removeprefix("by_"),)
        for row in sheet.rows
    ]
    return Sheet("parts", "an entry and a part of the scenarios", fields, rows)


# Many responses


def at_k_sheet(entries: Sequence[EntryNumbers]) -> Sheet:
    """Return the worst of k responses, and any severe error in k, a row an entry and k.

    An entry without its detail has no row.
    """
    fields = (
        *ENTRY,
        Field("k", "responses to a scenario, 1 to n", COUNT),
        Field("worst_at_k", "score if every scenario had got the lowest of k responses", MEASURE),
        Field(
            "severe_of_k", "share of scenarios with a severe error in any of k responses", MEASURE
        ),
        NAME,
        JUDGE,
    )
    rows = [
        {**names, "k": k, "worst_at_k": worst, "severe_of_k": severe}
        for names, each in named(entries)
        if each.detail
        for k, (worst, severe) in enumerate(
            zip(each.detail.worst_at_k, each.detail.severe_of_k, strict=True), start=1
        )
    ]
    return Sheet("worst_at_k", "an entry and a number of responses", fields, rows)
