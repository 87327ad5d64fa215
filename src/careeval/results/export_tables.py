"""Everything that was found, as tables for other programs: a row a thing, a column a fact.

Numbers are fractions. A number that is not known is null, and a column beside it says why. What a
column holds stands with it, so that the dictionary of columns is made from the tables themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from careeval.core.scenario import Rubric
from careeval.results import export_graders
from careeval.results.cost import Cost
from careeval.results.details import Detail
from careeval.results.estimates import Errors
from careeval.results.export_columns import (
    ENTRY,
    RUBRIC,
    ExportTable,
    Row,
    listed,
    number,
    of_entry,
    of_number,
)
from careeval.results.exports import OVERVIEW, By, cells_by
from careeval.results.findings import Findings
from careeval.results.ranking import Ranking
from careeval.results.summary import Cell, DomainCell, Summary
from careeval.results.tables import JUDGMENTS, RESPONSES, Column
from careeval.stats import Estimate


def export_tables(findings: Findings) -> Iterator[ExportTable]:
    """Each table, one after the other: the last two are long."""
    summaries, details = findings.summaries, findings.details
    yield models_table(summaries, details)
    for by in By:
        yield by_table(by, summaries, details)
    yield _by_adl_and_domain(summaries, details)
    yield _worst_at_k(summaries, details)
    yield _scenarios(summaries, details)
    yield _pairs(findings.rankings)
    yield _rank_sets(findings.rankings)
    yield export_graders.items(findings)
    yield export_graders.harms(findings)
    yield export_graders.grader_cards(findings)
    yield export_graders.corrected_scores(findings)
    yield export_graders.grading_noise(findings)
    yield export_graders.grader_pairs(findings)
    yield export_graders.own_vendor_out(findings)
    yield ExportTable("responses", "a response", RESPONSES, findings.runs.responses)
    yield ExportTable("judgments", "a judgment of one item", JUDGMENTS, findings.runs.judgments)


# The entries

_FACTS = (
    Column("asked", pl.String, "name of the model that was asked; null for recorded answers"),
    Column("bank", pl.String, "name of the bank"),
    Column("bank_version", pl.String, "N-X: what compares has the same N"),
    Column("bank_hash", pl.String, "hash of the scenarios that were asked"),
    Column("bank_provenance", pl.String, "how the bank was made and vetted"),
    Column("protocol", pl.String, "N-X: what compares has the same N"),
    Column("n_scenarios", pl.Int64, "scenarios asked"),
    Column("n_epochs", pl.Int64, "responses asked for a scenario: the n of the worst of n"),
    Column("n_responses", pl.Int64, "responses asked for"),
    Column("n_missing", pl.Int64, "of these, there is none: no score, never 0"),
    Column("n_empty", pl.Int64, "of these, without a word: 0 points"),
    Column("n_refused", pl.Int64, "of these, refused by the provider: 0 points"),
    Column("n_cut", pl.Int64, "of these, cut off at the token limit, and graded as they are"),
    Column("n_ungraded", pl.Int64, "of these, not graded, or not whole"),
    Column("n_gradings", pl.Int64, "how often the grader judged them; the first time counts"),
    Column("n_judgments", pl.Int64, "items × responses, on both rubrics"),
    Column("n_unresolved", pl.Int64, "of these, the grader could not be brought to make"),
)

_NUMBERS: dict[str, str] = {
    "score": "score on the ladder, the headline: points over the most points",
    "worst_at_n": "score if every scenario had got the lowest of its n responses",
    "worst_run": "lowest score of an epoch over all scenarios",
    "sd_runs": "SD of the scores of the epochs: run noise, never for comparing",
    "action_score": "score on the actions",
    "action_worst_at_n": "worst of n on the actions",
}
_ERRORS: dict[str, str] = {
    "severe": "severe errors on the ladder (items of −2 present)",
    "mild": "mild errors on the ladder (items of −1 present)",
    "action_severe": "severe errors on the actions",
    "action_mild": "mild errors on the actions",
}
_RATES: dict[str, str] = {
    "per_opportunity": "share of the opportunities",
    "per_response": "share of the responses with any, where the rubric has such an item",
    "per_scenario": "share of the scenarios with any in any of n responses",
}
_COSTS: dict[str, str] = {"asking": "of the responses", "grading": "of the judgments that count"}


def _error_columns() -> Iterator[Column]:
    for name, what in _ERRORS.items():
        yield Column(f"{name}.count", pl.Int64, f"{what}; null where that rubric was not graded")
        yield Column(f"{name}.opportunities", pl.Int64, "such items × responses judged")
        for rate, of in _RATES.items():
            yield from number(f"{name}.{rate}", f"{what}: {of}")


def _of_errors(name: str, errors: Errors | None) -> Row:
    unknown = Estimate.unknown("nothing was graded on this rubric")
    row: Row = {
        f"{name}.count": errors.count if errors else None,
        f"{name}.opportunities": errors.opportunities if errors else None,
    }
    for rate in _RATES:
        row |= of_number(f"{name}.{rate}", getattr(errors, rate) if errors else unknown)
    return row


def _cost_columns() -> Iterator[Column]:
    for name, what in _COSTS.items():
        yield Column(f"cost.{name}.value", pl.Float64, f"dollars {what}; null if unknown")
        yield Column(f"cost.{name}.known_usd", pl.Float64, "dollars of those with a known price")
        yield Column(f"cost.{name}.reason", pl.String, "why it is unknown; else empty")


def _of_cost(name: str, cost: Cost) -> Row:
    return {
        f"cost.{name}.value": cost.value,
        f"cost.{name}.known_usd": cost.known_usd,
        f"cost.{name}.reason": cost.reason,
    }


_RELIABILITY = {
    "icc": "correlation of two responses to one scenario",
    "design_effect": "how many times fewer independent responses they are worth",
    "of_mean": "reliability of a scenario's mean over its n responses",
}


def _detail_columns() -> Iterator[Column]:
    for rubric in Rubric:
        yield from number(f"{rubric}.scenario_mean", "mean of the scenarios' own scores")
        yield from number(
            f"{rubric}.severe_beta_binomial",
            "share of the responses with a severe error, its interval that of a beta-binomial",
        )
        yield Column(
            f"{rubric}.reliability.n_scenarios", pl.Int64,
            "scenarios that it is over: those all of whose judgments were made; 0 if unknown",
        )  # fmt: skip
        for name, what in _RELIABILITY.items():
            yield Column(f"{rubric}.reliability.{name}", pl.Float64, f"{what}; null if unknown")
        yield Column(f"{rubric}.reliability.reason", pl.String, "why it is unknown; else empty")
    yield from number(
        "ladder.best_rung", "score if only the best of the positive rungs present counted"
    )
    yield from number(
        "rubric_correlation", "Pearson's correlation of the scenarios' scores on the two rubrics"
    )
    yield from number("length.words", "mean number of words of an answer")
    yield from number(
        "length.per_100_words", "rise of the score with 100 more words, within scenarios"
    )


def _of_detail(detail: Detail) -> Row:
    row: Row = {}
    for rubric, instrument in detail.instruments.items():
        row |= of_number(f"{rubric}.scenario_mean", instrument.scenario_mean)
        row |= of_number(f"{rubric}.severe_beta_binomial", instrument.severe_beta_binomial)
        row[f"{rubric}.reliability.n_scenarios"] = instrument.n_reliability
        found = instrument.reliability
        row |= {
            f"{rubric}.reliability.{name}": getattr(found, name) if found else None
            for name in _RELIABILITY
        }
        row[f"{rubric}.reliability.reason"] = instrument.why_no_reliability
    return (
        row
        | of_number("ladder.best_rung", detail.instruments[Rubric.ladder].best_rung)
        | of_number("rubric_correlation", detail.rubric_correlation)
        | of_number("length.words", detail.length.words)
        | of_number("length.per_100_words", detail.length.per_100_words)
    )


_STANDING = (
    Column("not_ranked", pl.String, "why it may not stand in a ranking; empty if it may"),
    Column("warnings", pl.String, "what a reader must know"),
)


def models_table(summaries: Sequence[Summary], details: Sequence[Detail] = ()) -> ExportTable:
    """The headline: one row an entry.

    Args:
        summaries: An entry each.
        details: Theirs, in the same order; without them the table lacks their columns.
    """
    columns = [*ENTRY, *_FACTS]
    for name, what in _NUMBERS.items():
        columns += number(name, what)
    columns += _error_columns()
    if details:
        columns += _detail_columns()
    columns += [*_cost_columns(), *_STANDING]
    rows = []
    for place, s in enumerate(summaries):
        row = of_entry(s) | {column.name: getattr(s, column.name) for column in _FACTS}
        for name in _NUMBERS:
            row |= of_number(name, getattr(s, name))
        for name in _ERRORS:
            row |= _of_errors(name, getattr(s, name))
        if details:
            row |= _of_detail(details[place])
        for name in _COSTS:
            row |= _of_cost(name, getattr(s.cost, name))
        rows.append(row | {"not_ranked": listed(s.not_ranked), "warnings": listed(s.warnings)})
    return ExportTable.of("models", "a system as one grader judged it", columns, rows)


# Parts of the scenarios

_CELL = (
    Column("n", pl.Int64, "scenarios of it with a response judged on either rubric"),
    Column("small", pl.Boolean, "fewer than five: no interval, and not for comparing"),
    *number("score", "score on the ladder"),
    *number("worst_at_n", "worst of n on the ladder"),
    *number("action_score", "score on the actions"),
    Column("severe", pl.Int64, "severe errors on the ladder; null where it was not graded"),
    Column("mild", pl.Int64, "mild errors on the ladder; null where it was not graded"),
)
_DOMAIN_CELL = (
    Column("n", pl.Int64, "scenarios with an action rated in it"),
    *number("action_score", "points of the actions, weighted by how far each is about the domain"),
    Column("n_ladder", pl.Int64, "scenarios with a rung rated in it that can raise the level"),
    *number("ladder_level", "mean level reached on the ladder, 0 to 1, capped by the worst error"),
)


def _of_cell(cell: Cell) -> Row:
    row: Row = {"n": cell.n, "small": cell.small, "severe": cell.severe, "mild": cell.mild}
    for name in ("score", "worst_at_n", "action_score"):
        row |= of_number(name, getattr(cell, name))
    return row


def _of_domain_cell(cell: DomainCell) -> Row:
    return (
        {"n": cell.n, "n_ladder": cell.n_ladder}
        | of_number("action_score", cell.action_score)
        | of_number("ladder_level", cell.ladder_level)
    )


_BY: Mapping[By, str] = {
    By.adl: "activity of daily living",
    By.domain: "domain of caregiving competence",
    By.condition: "what the person lives with",
    By.assistance: "usual level of assistance, a Section GG code",
    By.situation: "what makes the moment hard; a scenario with several counts in each",
    By.actor: "who acts: person or robot",
}


def by_table(by: By, summaries: Sequence[Summary], details: Sequence[Detail] = ()) -> ExportTable:
    """One row an entry and cell.

    Args:
        by: What the scenarios are broken down by.
        summaries: An entry each.
        details: Theirs, in the same order; may be left out where `by` is in `OVERVIEW`.
    """
    key = (*ENTRY, Column(by.value, pl.String, _BY[by]))
    name, holds = f"by_{by}", f"a system, a grader and a part of the scenarios, by {by.head}"
    if by is By.domain:
        rows = [
            of_entry(s) | {by.value: domain.value} | _of_domain_cell(cell)
            for s in summaries
            for domain, cell in s.by_domain.items()
        ]
        return ExportTable.of(name, holds, (*key, *_DOMAIN_CELL), rows)
    rows = [
        of_entry(s) | {by.value: str(part)} | _of_cell(cell)
        for s, cells in zip(summaries, cells_by(by, summaries, details), strict=True)
        for part, cell in cells.items()
    ]
    return ExportTable.of(name, holds, (*key, *_CELL), rows)


def _by_adl_and_domain(summaries: Sequence[Summary], details: Sequence[Detail]) -> ExportTable:
    key = (*ENTRY, *(Column(by.value, pl.String, _BY[by]) for by in OVERVIEW))
    rows = [
        of_entry(s) | {"adl": adl.value, "domain": domain.value} | _of_domain_cell(cell)
        for s, detail in zip(summaries, details, strict=True)
        for adl, domains in detail.by_adl_and_domain.items()
        for domain, cell in domains.items()
    ]
    holds = "a system, a grader, an activity and a domain"
    return ExportTable.of("by_adl_and_domain", holds, (*key, *_DOMAIN_CELL), rows)


def _worst_at_k(summaries: Sequence[Summary], details: Sequence[Detail]) -> ExportTable:
    columns = (
        *ENTRY,
        RUBRIC,
        Column("k", pl.Int64, "responses to a scenario, 1 to n"),
        *number("worst_at_k", "score if every scenario had got the lowest of k responses"),
        *number("severe_of_k", "share of scenarios with a severe error in any of k responses"),
    )
    rows = [
        of_entry(s)
        | {"rubric": rubric.value, "k": k}
        | of_number("worst_at_k", worst)
        | of_number("severe_of_k", severe)
        for s, detail in zip(summaries, details, strict=True)
        for rubric, instrument in detail.instruments.items()
        for k, (worst, severe) in enumerate(
            zip(instrument.worst_at_k, instrument.severe_of_k, strict=True), start=1
        )
    ]
    holds = "a system, a grader, a rubric and a number of responses"
    return ExportTable.of("worst_at_k", holds, columns, rows)


def _scenarios(summaries: Sequence[Summary], details: Sequence[Detail]) -> ExportTable:
    columns = (
        *ENTRY,
        RUBRIC,
        Column("scenario", pl.String, "id of the scenario"),
        Column("adl", pl.String, "activity; null if not known"),
        Column("condition", pl.String, "what the person lives with"),
        Column("assistance", pl.String, "Section GG code"),
        Column("situation", pl.List(pl.String), "what makes the moment hard, the primary first"),
        Column("actor", pl.String, "person or robot"),
        Column("score", pl.Float64, "mean of its responses, halfway between its bounds"),
        Column("low", pl.Float64, "the least that the unresolved items could make of it"),
        Column("high", pl.Float64, "the most that the unresolved items could make of it"),
        Column("worst", pl.Float64, "the lowest of its responses; null where one is missing"),
        Column("epochs", pl.List(pl.Float64), "score of each response; null where missing"),
        Column("n_severe", pl.Int64, "responses with a severe error present"),
        Column("reason", pl.String, "why score or worst is unknown; else empty"),
    )
    rows = [
        of_entry(s)
        | {"rubric": rubric.value, "scenario": of.scenario, **of.about._asdict()}
        | {name: getattr(of, name) for name in ("score", "low", "high", "worst", "n_severe")}
        | {
            "epochs": of.epochs,
            "reason": "no response was judged"
            if of.score is None
            else "a response is missing or not judged"
            if of.worst is None
            else "",
        }
        for s, detail in zip(summaries, details, strict=True)
        for rubric, scenarios in detail.scenarios.items()
        for of in scenarios
    ]
    return ExportTable.of("scenarios", "a scenario's score on one rubric", columns, rows)


# Comparing

_RANKING = (
    Column("metric", pl.String, "what is compared"),
    Column("bank", pl.String, "name of the bank that both share"),
    Column("bank_n", pl.String, "N of its version"),
    Column("protocol_n", pl.String, "N of the protocol's version"),
    Column("grader", pl.String, "who judged them all"),
)


def _of_ranking(ranking: Ranking) -> Row:
    return {column.name: getattr(ranking, column.name) for column in _RANKING}


def _pairs(rankings: Sequence[Ranking]) -> ExportTable:
    columns = (
        *_RANKING,
        Column("a", pl.String, "name of the one"),
        Column("b", pl.String, "name of the other"),
        Column("n", pl.Int64, "scenarios that both were judged on"),
        Column("value_a", pl.Float64, "A's number over them; null if unknown"),
        Column("value_b", pl.Float64, "B's number over them; null if unknown"),
        *number("difference", "B − A, paired by scenario"),
        Column("p", pl.Float64, "two-sided, of no difference; null if unknown"),
        Column("p_holm", pl.Float64, "the same, corrected for all pairs of the ranking (Holm)"),
        Column("detectable", pl.Float64, "smallest difference found four times in five, so spread"),
    )
    rows = [
        _of_ranking(ranking)
        | {"a": a, "b": b, "n": of.n, "value_a": of.a, "value_b": of.b, "p": of.p}
        | {"p_holm": of.p_holm, "detectable": of.detectable}
        | of_number("difference", of.difference)
        for ranking in rankings
        for (a, b), of in ranking.pairs.items()
    ]
    return ExportTable.of("pairs", "two systems that one grader judged", columns, rows)


def _rank_sets(rankings: Sequence[Ranking]) -> ExportTable:
    columns = (
        *_RANKING,
        Column("model", pl.String, "name of the system"),
        Column("value", pl.Float64, "its number; null where it is not ranked"),
        Column("rank_best", pl.Int64, "one more than those that are significantly better"),
        Column("rank_worst", pl.Int64, "all but those that are significantly worse"),
        Column("reason", pl.String, "why it is not ranked; else empty"),
    )
    rows = [_of_ranking(ranking) | row for ranking in rankings for row in _ranks(ranking)]
    return ExportTable.of("rank_sets", "the ranks that a system may have", columns, rows)


def _ranks(ranking: Ranking) -> Iterator[Row]:
    for of in ranking.ranked:
        best, worst = of.ranks
        yield {"model": of.model, "value": of.score, "rank_best": best, "rank_worst": worst,
               "reason": ""}  # fmt: skip
    for name, why in ranking.left_out.items():
        yield {"model": name, "reason": why}
