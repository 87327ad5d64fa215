"""Everything that was found, as tables for other programs: a row a thing, a column a fact.

Numbers are fractions. A number that is not known is null, and a column beside it says why. What a
column holds stands with it, so that the dictionary of columns is made from the tables themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from careeval import scoring
from careeval.core.scenario import Rubric
from careeval.results.cost import Cost
from careeval.results.details import Detail
from careeval.results.estimates import Errors
from careeval.results.exports import OVERVIEW, By, cells_by
from careeval.results.findings import Findings
from careeval.results.grader_card import NOT_AUDITED, NOT_TRIED
from careeval.results.harms import harms
from careeval.results.ladder_check import Contradiction
from careeval.results.probes import Agreement
from careeval.results.ranking import Ranking
from careeval.results.summary import Cell, DomainCell, Summary
from careeval.results.tables import JUDGMENTS, RESPONSES, Column, table
from careeval.stats import Estimate

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class ExportTable:
    """One table.

    Attributes:
        name: As its file is called.
        holds: What one row is.
        columns: In order, with what each holds.
        frame: The rows, of these columns.
    """

    name: str
    holds: str
    columns: tuple[Column, ...]
    frame: pl.DataFrame

    @staticmethod
    def of(name: str, holds: str, columns: Iterable[Column], rows: Iterable[Row]) -> ExportTable:
        """A table from rows; a column that a row lacks is null."""
        known = tuple(columns)
        return ExportTable(name, holds, known, table(rows, known))


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
    yield _items(findings)
    yield _harms(findings)
    yield _grader_cards(findings)
    yield _grading_noise(findings)
    yield _grader_pairs(findings)
    yield _own_vendor_out(findings)
    yield ExportTable("responses", "a response", RESPONSES, findings.runs.responses)
    yield ExportTable("judgments", "a judgment of one item", JUDGMENTS, findings.runs.judgments)


# Columns that come together


def _number(name: str, holds: str) -> tuple[Column, ...]:
    """The columns of one `Estimate`."""
    return (
        Column(f"{name}.value", pl.Float64, f"{holds}; null if unknown"),
        Column(f"{name}.low", pl.Float64, "the least that the unresolved items could make of it"),
        Column(f"{name}.high", pl.Float64, "the most that the unresolved items could make of it"),
        Column(f"{name}.ci95.low", pl.Float64, "where its 95% interval begins; null if unknown"),
        Column(f"{name}.ci95.high", pl.Float64, "where its 95% interval ends; null if unknown"),
        Column(f"{name}.reason", pl.String, "why it, or else its interval, is unknown; else empty"),
    )


def _of_number(name: str, estimate: Estimate) -> Row:
    low, high = estimate.ci95 or (None, None)
    return {
        f"{name}.value": estimate.value,
        f"{name}.low": estimate.low,
        f"{name}.high": estimate.high,
        f"{name}.ci95.low": low,
        f"{name}.ci95.high": high,
        f"{name}.reason": estimate.reason,
    }


_ENTRY = (
    Column("model", pl.String, "name of the system"),
    Column("grader", pl.String, "name of the grader, with its mode and the hash of its prompt"),
)


def _of_entry(summary: Summary) -> Row:
    return {"model": summary.model, "grader": summary.grader}


def _listed(names: Iterable[str]) -> str:
    return "; ".join(names)


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
            yield from _number(f"{name}.{rate}", f"{what}: {of}")


def _of_errors(name: str, errors: Errors | None) -> Row:
    unknown = Estimate.unknown("nothing was graded on this rubric")
    row: Row = {
        f"{name}.count": errors.count if errors else None,
        f"{name}.opportunities": errors.opportunities if errors else None,
    }
    for rate in _RATES:
        row |= _of_number(f"{name}.{rate}", getattr(errors, rate) if errors else unknown)
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
        yield from _number(f"{rubric}.scenario_mean", "mean of the scenarios' own scores")
        yield from _number(
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
    yield from _number(
        "ladder.best_rung", "score if only the best of the positive rungs present counted"
    )
    yield from _number(
        "rubric_correlation", "Pearson's correlation of the scenarios' scores on the two rubrics"
    )
    yield from _number("length.words", "mean number of words of an answer")
    yield from _number(
        "length.per_100_words", "rise of the score with 100 more words, within scenarios"
    )


def _of_detail(detail: Detail) -> Row:
    row: Row = {}
    for rubric, instrument in detail.instruments.items():
        row |= _of_number(f"{rubric}.scenario_mean", instrument.scenario_mean)
        row |= _of_number(f"{rubric}.severe_beta_binomial", instrument.severe_beta_binomial)
        row[f"{rubric}.reliability.n_scenarios"] = instrument.n_reliability
        found = instrument.reliability
        row |= {
            f"{rubric}.reliability.{name}": getattr(found, name) if found else None
            for name in _RELIABILITY
        }
        row[f"{rubric}.reliability.reason"] = instrument.why_no_reliability
    return (
        row
        | _of_number("ladder.best_rung", detail.instruments[Rubric.ladder].best_rung)
        | _of_number("rubric_correlation", detail.rubric_correlation)
        | _of_number("length.words", detail.length.words)
        | _of_number("length.per_100_words", detail.length.per_100_words)
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
    columns = [*_ENTRY, *_FACTS]
    for name, what in _NUMBERS.items():
        columns += _number(name, what)
    columns += _error_columns()
    if details:
        columns += _detail_columns()
    columns += [*_cost_columns(), *_STANDING]
    rows = []
    for place, s in enumerate(summaries):
        row = _of_entry(s) | {column.name: getattr(s, column.name) for column in _FACTS}
        for name in _NUMBERS:
            row |= _of_number(name, getattr(s, name))
        for name in _ERRORS:
            row |= _of_errors(name, getattr(s, name))
        if details:
            row |= _of_detail(details[place])
        for name in _COSTS:
            row |= _of_cost(name, getattr(s.cost, name))
        rows.append(row | {"not_ranked": _listed(s.not_ranked), "warnings": _listed(s.warnings)})
    return ExportTable.of("models", "a system as one grader judged it", columns, rows)


# Parts of the scenarios

_CELL = (
    Column("n", pl.Int64, "scenarios of it with a response judged on either rubric"),
    Column("small", pl.Boolean, "fewer than five: no interval, and not for comparing"),
    *_number("score", "score on the ladder"),
    *_number("worst_at_n", "worst of n on the ladder"),
    *_number("action_score", "score on the actions"),
    Column("severe", pl.Int64, "severe errors on the ladder; null where it was not graded"),
    Column("mild", pl.Int64, "mild errors on the ladder; null where it was not graded"),
)
_DOMAIN_CELL = (
    Column("n", pl.Int64, "scenarios with an action rated in it"),
    *_number("action_score", "points of the actions, weighted by how far each is about the domain"),
    Column("n_ladder", pl.Int64, "scenarios with a rung rated in it that can raise the level"),
    *_number("ladder_level", "mean level reached on the ladder, 0 to 1, capped by the worst error"),
)


def _of_cell(cell: Cell) -> Row:
    row: Row = {"n": cell.n, "small": cell.small, "severe": cell.severe, "mild": cell.mild}
    for name in ("score", "worst_at_n", "action_score"):
        row |= _of_number(name, getattr(cell, name))
    return row


def _of_domain_cell(cell: DomainCell) -> Row:
    return (
        {"n": cell.n, "n_ladder": cell.n_ladder}
        | _of_number("action_score", cell.action_score)
        | _of_number("ladder_level", cell.ladder_level)
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
    key = (*_ENTRY, Column(by.value, pl.String, _BY[by]))
    name, holds = f"by_{by}", f"a system, a grader and a part of the scenarios, by {by.head}"
    if by is By.domain:
        rows = [
            _of_entry(s) | {by.value: domain.value} | _of_domain_cell(cell)
            for s in summaries
            for domain, cell in s.by_domain.items()
        ]
        return ExportTable.of(name, holds, (*key, *_DOMAIN_CELL), rows)
    rows = [
        _of_entry(s) | {by.value: str(part)} | _of_cell(cell)
        for s, cells in zip(summaries, cells_by(by, summaries, details), strict=True)
        for part, cell in cells.items()
    ]
    return ExportTable.of(name, holds, (*key, *_CELL), rows)


def _by_adl_and_domain(summaries: Sequence[Summary], details: Sequence[Detail]) -> ExportTable:
    key = (*_ENTRY, *(Column(by.value, pl.String, _BY[by]) for by in OVERVIEW))
    rows = [
        _of_entry(s) | {"adl": adl.value, "domain": domain.value} | _of_domain_cell(cell)
        for s, detail in zip(summaries, details, strict=True)
        for adl, domains in detail.by_adl_and_domain.items()
        for domain, cell in domains.items()
    ]
    holds = "a system, a grader, an activity and a domain"
    return ExportTable.of("by_adl_and_domain", holds, (*key, *_DOMAIN_CELL), rows)


_RUBRIC = Column("rubric", pl.String, "ladder or actions")


def _worst_at_k(summaries: Sequence[Summary], details: Sequence[Detail]) -> ExportTable:
    columns = (
        *_ENTRY,
        _RUBRIC,
        Column("k", pl.Int64, "responses to a scenario, 1 to n"),
        *_number("worst_at_k", "score if every scenario had got the lowest of k responses"),
        *_number("severe_of_k", "share of scenarios with a severe error in any of k responses"),
    )
    rows = [
        _of_entry(s)
        | {"rubric": rubric.value, "k": k}
        | _of_number("worst_at_k", worst)
        | _of_number("severe_of_k", severe)
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
        *_ENTRY,
        _RUBRIC,
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
        _of_entry(s)
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
        *_number("difference", "B − A, paired by scenario"),
        Column("p", pl.Float64, "two-sided, of no difference; null if unknown"),
        Column("p_holm", pl.Float64, "the same, corrected for all pairs of the ranking (Holm)"),
        Column("detectable", pl.Float64, "smallest difference found four times in five, so spread"),
    )
    rows = [
        _of_ranking(ranking)
        | {"a": a, "b": b, "n": of.n, "value_a": of.a, "value_b": of.b, "p": of.p}
        | {"p_holm": of.p_holm, "detectable": of.detectable}
        | _of_number("difference", of.difference)
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


# Items, harms, graders


def _items(findings: Findings) -> ExportTable:
    columns = (
        Column("grader", pl.String, "who judged"),
        Column("scenario", pl.String, "id of the scenario"),
        _RUBRIC,
        Column("item", pl.String, "id of the item"),
        Column("points", pl.Int64, "-2 to 2"),
        Column("text", pl.String, "the item"),
        Column("n_systems", pl.Int64, "systems judged"),
        Column("n", pl.Int64, "judgments made, over all of them"),
        *_number("presence", "mean over systems of the share of responses with the item"),
        Column("always", pl.Boolean, "present in every response"),
        Column("never", pl.Boolean, "present in none"),
        *_number("rest", "over systems, correlation of its points with those of the other items"),
    )
    plain = [c.name for c in columns if "." not in c.name]
    rows = [
        {name: getattr(of, name) for name in plain}
        | _of_number("presence", of.presence)
        | _of_number("rest", of.rest)
        for of in findings.items
    ]
    return ExportTable.of("items", "a rubric item over the systems of one grader", columns, rows)


def _harms(findings: Findings) -> ExportTable:
    columns = (
        *_ENTRY,
        Column("scenario", pl.String, "id of the scenario"),
        Column("adl", pl.String, "activity; null if not known"),
        Column("situation", pl.List(pl.String), "what makes the moment hard, the primary first"),
        Column("epoch", pl.Int64, "the k-th response to it, from 1"),
        _RUBRIC,
        Column("item", pl.String, "id of the item"),
        Column("points", pl.Int64, "-2 for a severe error, -1 for a mild one"),
        Column("item_text", pl.String, "the item"),
        Column("quote", pl.String, "the response's own words; null where none were given or found"),
        Column("reason", pl.String, "the grader's; empty where it gave none"),
    )
    rows = [
        {column.name: getattr(harm, column.name) for column in columns}
        for entry in findings.entries
        for severity in (scoring.SEVERE, scoring.MILD)
        for harm in harms(entry, severity)
    ]
    return ExportTable.of("harms", "an error that a grader found in a response", columns, rows)


_AGREEMENT = {
    "n": "labelled judgments, unresolved ones included",
    "found": "labelled present, judged present",
    "missed": "labelled present, judged absent",
    "invented": "labelled absent, judged present",
    "cleared": "labelled absent, judged absent",
    "unresolved": "not judged",
}
_SHARES = {
    "sensitivity": "share found of what is there",
    "specificity": "share cleared of the rest",
}


def _agreement_columns(name: str, with_what: str) -> Iterator[Column]:
    for count, holds in _AGREEMENT.items():
        yield Column(f"{name}.{count}", pl.Int64, f"{with_what}: {holds}; null if not tried")
    for share, holds in _SHARES.items():
        yield Column(f"{name}.{share}", pl.Float64, f"{with_what}: {holds}; null if unknown")
    yield Column(f"{name}.reason", pl.String, "why there is none; else empty")


def _of_agreement(name: str, agreement: Agreement | None, why_not: str) -> Row:
    row = {f"{name}.reason": "" if agreement else why_not}
    if agreement is None:
        return row
    return row | {f"{name}.{part}": getattr(agreement, part) for part in (*_AGREEMENT, *_SHARES)}


def _grader_cards(findings: Findings) -> ExportTable:
    columns = [
        Column("grader", pl.String, "name of the grader, with its mode and its prompt's hash"),
        Column("vendor", pl.String, "who made it; null where its name does not say"),
        Column("systems", pl.List(pl.String), "whom it judged here"),
        Column("own_vendor", pl.List(pl.String), "those of them that share its vendor"),
        Column("n_judgments", pl.Int64, "first gradings, over all of them"),
        Column("n_unresolved", pl.Int64, "those that it could not be brought to make"),
        *_agreement_columns("probes", "against the labels of the bank's probes"),
        Column(
            "probes.failed",
            pl.List(pl.String),
            "why it fails the probes; empty if it does not, null if not tried",
        ),
        *_agreement_columns("human", "against people's labels"),
    ]
    for kind in Contradiction:
        name = kind.replace(" ", "_")
        columns += [
            Column(f"contradictions.{name}.count", pl.Int64, f"contradictions: {kind}"),
            Column(f"contradictions.{name}.opportunities", pl.Int64, "times it could have been"),
        ]
    rows = []
    for card in findings.cards.values():
        row: Row = {column.name: getattr(card, column.name) for column in columns[:6]}
        probes = card.probes.overall if card.probes else None
        row |= _of_agreement("probes", probes, NOT_TRIED)
        row["probes.failed"] = card.failed
        row |= _of_agreement("human", card.human.counts if card.human else None, NOT_AUDITED)
        if card.human:
            # people read what was drawn by the grader's verdict: only weighted shares mean anything
            overall = card.human.overall
            row["human.sensitivity"] = overall.sensitivity.value
            row["human.specificity"] = overall.specificity.value
        for kind, found in card.contradictions.items():
            name = f"contradictions.{kind.replace(' ', '_')}"
            row |= {f"{name}.count": found.count, f"{name}.opportunities": found.opportunities}
        rows.append(row)
    return ExportTable.of("grader_cards", "a grader, and how far it can be trusted", columns, rows)


def _grading_noise(findings: Findings) -> ExportTable:
    shares = {
        "scenario_share": "of the variance of one judged response, what is between scenarios",
        "response_share": "what is between responses to one scenario",
        "grading_share": "what is between gradings of one response",
    }
    columns = (
        *_ENTRY,
        _RUBRIC,
        Column("n_regraded", pl.Int64, "responses judged more than once"),
        Column("n_gradings", pl.Int64, "the most gradings of any response"),
        *_number("flipped", "share of the items whose judgment differs between two gradings"),
        *(Column(name, pl.Float64, f"{what}; null if unknown") for name, what in shares.items()),
        Column("reason", pl.String, "why the variance is not split; else empty"),
        *_number("corrected_worst_at_n", "worst of n if the grader did not vary"),
    )
    rows = [
        {"model": model, "grader": card.grader, "rubric": rubric.value, "reason": noise.reason}
        | {name: getattr(noise, name) for name in ("n_regraded", "n_gradings", *shares)}
        | _of_number("flipped", noise.flipped)
        | _of_number("corrected_worst_at_n", noise.corrected_worst_at_n)
        for card in findings.cards.values()
        for (model, rubric), noise in card.noise.items()
    ]
    holds = "a system and a rubric that one grader judged again"
    return ExportTable.of("grading_noise", holds, columns, rows)


def _grader_pairs(findings: Findings) -> ExportTable:
    columns = (
        Column("a", pl.String, "name of the one grader"),
        Column("b", pl.String, "name of the other"),
        Column("systems", pl.List(pl.String), "whose responses both judged"),
        Column("n", pl.Int64, "judgments that both made"),
        *_number("agree", "share of them that are the same"),
        *_number("kappa", "Cohen's"),
    )
    rows = [
        {"a": of.a, "b": of.b, "systems": of.systems, "n": of.n}
        | _of_number("agree", of.agree)
        | _of_number("kappa", of.kappa)
        for of in findings.grader_pairs
    ]
    holds = "two graders that judged the same responses"
    return ExportTable.of("grader_pairs", holds, columns, rows)


def _own_vendor_out(findings: Findings) -> ExportTable:
    columns = (
        Column("model", pl.String, "name of the system"),
        Column("kept", pl.List(pl.String), "graders of other vendors"),
        Column("left_out", pl.List(pl.String), "graders of its own vendor"),
        Column("unknown", pl.List(pl.String), "whose vendor is not known; those are kept"),
        *_number("score", "of the ladder, mean over the graders kept"),
        *_number("action_score", "of the actions, mean over the graders kept"),
    )
    rows = [
        {name: getattr(of, name) for name in ("model", "kept", "left_out", "unknown")}
        | _of_number("score", of.score)
        | _of_number("action_score", of.action_score)
        for of in findings.own_vendor_out
    ]
    holds = "a system's score without the graders of its own vendor"
    return ExportTable.of("own_vendor_out", holds, columns, rows)
