"""Everything that was found, as tables for other programs: a row a thing, a column a fact.

Numbers are fractions. A number that is not known is null, and a column beside it says why. What a
column holds stands with it, so that the dictionary of columns is made from the tables themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from careeval.core.scenario import HarmKind
from careeval.results import export_graders
from careeval.results.corrected import Corrected
from careeval.results.cost import Cost
from careeval.results.details import Detail, ScenarioScore
from careeval.results.directions import directions
from careeval.results.estimates import NOT_TOLD, Errors
from careeval.results.export_columns import (
    ENTRY,
    RUBRIC,
    ExportTable,
    Row,
    listed,
    number,
    of_entry,
    of_errors,
    of_number,
    rate,
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
    yield entries_table(summaries, details)
    for by in By:
        yield by_table(by, summaries, details)
    yield _by_adl_and_domain(summaries, details)
    yield _worst_at_k(summaries, details)
    yield _scenarios(summaries, details)
    yield _directions(summaries)
    yield _twins(summaries)
    yield _pairs(findings.rankings)
    yield _rank_sets(findings.rankings)
    yield export_graders.items(findings)
    yield export_graders.harms(findings)
    yield export_graders.grader_cards(findings)
    yield export_graders.corrected_scores(findings)
    yield export_graders.grading_noise(findings)
    yield export_graders.grader_pairs(findings)
    yield export_graders.grader_agreement(findings)
    yield ExportTable("responses", "a response", RESPONSES, findings.public.runs.responses)
    yield ExportTable(
        "judgments", "a judgment of one item", JUDGMENTS, findings.public.runs.judgments
    )


# The entries

NO_KIND = Errors(0, 0, Estimate.unknown("the bank does not say which items do this"), None)
NOT_CORRECTED = Estimate.unknown("people did not read its responses")

_FACTS = (
    Column("asked", pl.String, "name of the model that was asked; null for recorded answers"),
    Column("bank", pl.String, "name of the bank"),
    Column("bank_version", pl.String, "N-X: what compares has the same N"),
    Column("bank_hash", pl.String, "hash of the scenarios that were asked"),
    Column("bank_provenance", pl.String, "how the bank was made and vetted"),
    Column("protocol", pl.String, "N-X of the protocol that asked: what compares has the same N"),
    Column("grading_protocol", pl.String, "N-X of the protocol that judged; null if unknown"),
    Column("n_scenarios", pl.Int64, "scenarios asked"),
    Column("n_epochs", pl.Int64, "responses asked for a scenario: the n of the worst of n"),
    Column("n_responses", pl.Int64, "responses asked for"),
    Column("n_missing", pl.Int64, "of these, there is none: no score, never 0"),
    Column("n_empty", pl.Int64, "of these, without a word: 0 points"),
    Column("n_refused", pl.Int64, "of these, refused by the provider: 0 points"),
    Column("n_cut", pl.Int64, "of these, cut off at the token limit, and graded as they are"),
    Column("n_ungraded", pl.Int64, "of these, not graded, or not whole"),
    Column("n_gradings", pl.Int64, "how often the grader judged them; the first time counts"),
    Column("n_judgments", pl.Int64, "items × responses"),
    Column("n_unresolved", pl.Int64, "of these, the grader could not be brought to make"),
)

_NUMBERS: dict[str, str] = {
    "score": "points of the items present over the most points",
    "worst_at_n": "score if every scenario had got the lowest of its n responses",
}
_ERRORS: dict[str, str] = {
    "severe": "share of responses with an item of −2 present",
    "mild": "share of responses with an item of −1 present",
}
_COSTS: dict[str, str] = {"asking": "of the responses", "grading": "of the judgments that count"}


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


_DETAIL: dict[str, str] = {
    "worst_epoch": "lowest score of an epoch over all scenarios",
    "sd_epochs": "SD of the scores of the epochs, on these scenarios; never for comparing",
}


def _detail_columns() -> Iterator[Column]:
    for name, what in _DETAIL.items():
        yield from number(name, what)
    yield Column(
        "reliability_n_scenarios", pl.Int64,
        "scenarios that it is over: those all of whose judgments were made; 0 if unknown",
    )  # fmt: skip
    for name, what in _RELIABILITY.items():
        yield Column(f"reliability_{name}", pl.Float64, f"{what}; null if unknown")
    yield Column("reliability_reason", pl.String, "why it is unknown; else empty")
    yield from number("words", "mean number of words of an answer")
    yield from number("per_100_words", "rise of the score with 100 more words, within scenarios")


def _of_detail(detail: Detail) -> Row:
    row: Row = {"reliability_n_scenarios": detail.n_reliability}
    for name in _DETAIL:
        row |= of_number(name, getattr(detail, name))
    for name in _RELIABILITY:
        reliability = detail.reliability
        row[f"reliability_{name}"] = getattr(reliability, name) if reliability else None
    return (
        row
        | {"reliability_reason": detail.why_no_reliability}
        | of_number("words", detail.length.words)
        | of_number("per_100_words", detail.length.per_100_words)
    )


_STANDING = (
    Column("not_ranked", pl.String, "why it may not stand in a ranking; empty if it may"),
    Column("warnings", pl.String, "what a reader must know"),
)


def entries_table(
    summaries: Sequence[Summary],
    details: Sequence[Detail] = (),
    corrected: Sequence[Corrected | None] | None = None,
) -> ExportTable:
    """The headline: one row an entry.

    Args:
        summaries: An entry each.
        details: Theirs, in the same order; without them the table lacks their columns.
        corrected: Theirs as people correct them, likewise.
    """
    columns = [*ENTRY, *_FACTS]
    for name, what in _ERRORS.items():
        columns += rate(name, what)
    for kind in HarmKind:
        columns += rate(f"severe_{kind}", "the same, of the items that the bank calls so")
    for name, what in _NUMBERS.items():
        columns += number(name, what)
    if details:
        columns += _detail_columns()
    if corrected is not None:
        columns += number("corrected", "the score as people who read its responses correct it")
    columns += [*_cost_columns(), *_STANDING]
    rows = []
    for place, s in enumerate(summaries):
        row = of_entry(s) | {column.name: getattr(s, column.name) for column in _FACTS}
        for name in _NUMBERS:
            row |= of_number(name, getattr(s, name))
        for name in _ERRORS:
            row |= of_errors(name, getattr(s, name))
        for kind in HarmKind:
            row |= of_errors(f"severe_{kind}", s.severe_by_kind.get(kind, NO_KIND))
        if details:
            row |= _of_detail(details[place])
        if corrected is not None:
            score = corrected[place]
            row |= of_number("corrected", score.corrected if score else NOT_CORRECTED)
        for name in _COSTS:
            row |= _of_cost(name, getattr(s.cost, name))
        rows.append(row | {"not_ranked": listed(s.not_ranked), "warnings": listed(s.warnings)})
    return ExportTable.of(
        "entries", "a system as one grader judged it on one rubric", columns, rows
    )


# Parts of the scenarios

_CELL = (
    Column("n", pl.Int64, "scenarios of it with a judged response; below five, not for comparing"),
    *number("score", "its score"),
    *rate("severe", "share of its responses with an item of −2 present"),
)
_DOMAIN_CELL = (
    Column("n", pl.Int64, "scenarios with an item rated in it; below five, not for comparing"),
    *number("score", "points of the items, weighted by how far each is about the domain"),
)


def _of_cell(cell: Cell) -> Row:
    return {"n": cell.n} | of_number("score", cell.score) | of_errors("severe", cell.severe)


def _of_domain_cell(cell: DomainCell) -> Row:
    return {"n": cell.n} | of_number("score", cell.score)


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
    name, holds = f"by_{by}", f"an entry and a part of the scenarios, by {by.head}"
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
    holds = "an entry, an activity and a domain"
    return ExportTable.of("by_adl_and_domain", holds, (*key, *_DOMAIN_CELL), rows)


def _worst_at_k(summaries: Sequence[Summary], details: Sequence[Detail]) -> ExportTable:
    columns = (
        *ENTRY,
        Column("k", pl.Int64, "responses to a scenario, 1 to n"),
        *number("worst_at_k", "score if every scenario had got the lowest of k responses"),
        *number("severe_of_k", "share of scenarios with a severe error in any of k responses"),
    )
    rows = [
        of_entry(s) | {"k": k} | of_number("worst_at_k", worst) | of_number("severe_of_k", severe)
        for s, detail in zip(summaries, details, strict=True)
        for k, (worst, severe) in enumerate(
            zip(detail.worst_at_k, detail.severe_of_k, strict=True), start=1
        )
    ]
    return ExportTable.of("worst_at_k", "an entry and a number of responses", columns, rows)


def _scenarios(summaries: Sequence[Summary], details: Sequence[Detail]) -> ExportTable:
    columns = (
        *ENTRY,
        Column("scenario", pl.String, "id of the scenario"),
        Column("adl", pl.String, "activity; null if not known"),
        Column("condition", pl.String, "what the person lives with"),
        Column("assistance", pl.String, "Section GG code"),
        Column("situation", pl.List(pl.String), "what makes the moment hard, the primary first"),
        Column("actor", pl.String, "person or robot"),
        Column("score", pl.Float64, "mean of its responses; null if unknown"),
        Column("score_low", pl.Float64, "the least that the unresolved items could make of it"),
        Column("score_high", pl.Float64, "the most that the unresolved items could make of it"),
        Column("worst", pl.Float64, "the lowest of its responses; null where one is missing"),
        Column("epochs", pl.List(pl.Float64), "score of each response; null where missing"),
        Column("n_severe", pl.Int64, "responses with a severe error present"),
        Column("reason", pl.String, "why score or worst is unknown; else empty"),
    )
    rows = [
        of_entry(s)
        | {"scenario": of.scenario, **of.about._asdict()}
        | {"score": of.score, "score_low": of.low, "score_high": of.high}
        | {"worst": of.worst, "n_severe": of.n_severe}
        | {
            "epochs": of.epochs,
            "reason": _why_unknown(of),
        }
        for s, detail in zip(summaries, details, strict=True)
        for of in detail.scenarios
    ]
    return ExportTable.of("scenarios", "an entry's score in a scenario", columns, rows)


def _why_unknown(scenario: ScenarioScore) -> str:
    """Return why a scenario's score or worst is unknown; empty where both are known."""
    if scenario.low is None:
        return "no response was judged"
    if scenario.score is None:
        return NOT_TOLD
    return "a response is missing or not judged" if scenario.worst is None else ""


# Comparing

_RANKING = (
    Column("bank", pl.String, "name of the bank that all share"),
    Column("bank_n", pl.String, "N of its version"),
    Column("bank_hash", pl.String, "hash of the scenarios that were asked"),
    Column("protocol_n", pl.String, "N of the protocol that asked"),
    Column("grading_n", pl.String, "N of the protocol that judged"),
    Column("grader", pl.String, "who judged them all"),
    RUBRIC,
)


def _directions(summaries: Sequence[Summary]) -> ExportTable:
    columns = (
        *ENTRY,
        Column("number", pl.String, "too_little, adapted …"),
        Column("meaning", pl.String, "what it is a share of"),
        Column("n", pl.Int64, "responses, twins or controls that it is over"),
        *number("share", "the number"),
    )
    rows = [
        of_entry(s)
        | {"number": d.key, "meaning": d.meaning, "n": d.n}
        | of_number("share", d.share)
        for s in summaries
        for d in directions(s)
    ]
    what = "which way an entry errs, and how it follows twins: a number"
    return ExportTable.of("directions", what, columns, rows)


def _twins(summaries: Sequence[Summary]) -> ExportTable:
    columns = (
        *ENTRY,
        Column("base", pl.String, "id of the base"),
        Column("twin", pl.String, "id of the twin or the control"),
        Column("control", pl.String, "paraphrase or irrelevant; null for a twin"),
        Column("right_in_base", pl.String, "id of the base's right act; null for a control"),
        Column("right_in_twin", pl.String, "id of the twin's right act; null for a control"),
        Column("adapted", pl.Float64, "share of the pairs of epochs; null if unknown"),
        Column("stuck", pl.Float64, "share of the pairs of epochs; null if unknown"),
        Column("changed", pl.Float64, "of a control, share of the pairs of epochs that differ"),
        Column("same_text", pl.Float64, "of a control, the same of two epochs of the base"),
    )
    rows: list[Row] = []
    for s in summaries:
        for pair in s.twins.pairs if s.twins else ():
            found = {"adapted": pair.adapted.value, "stuck": pair.stuck.value} if pair.n else {}
            rows.append(
                of_entry(s)
                | {"base": pair.base, "twin": pair.twin}
                | {"right_in_base": pair.right[0], "right_in_twin": pair.right[1]}
                | found
            )
        for each in s.twins.controls if s.twins else ():
            rows.append(
                of_entry(s)
                | {"base": each.base, "twin": each.control, "control": each.kind}
                | {"changed": each.changed, "same_text": each.same_text}
            )
    return ExportTable.of("twins", "a scenario beside its twin or control", columns, rows)


def _pairs(rankings: Sequence[Ranking]) -> ExportTable:
    columns = (
        *_RANKING,
        Column("metric", pl.String, "what is compared: score, or severe"),
        Column("a", pl.String, "name of the one"),
        Column("b", pl.String, "name of the other"),
        Column("n", pl.Int64, "scenarios that both were judged on"),
        Column("value_a", pl.Float64, "A's number over them; null if unknown"),
        Column("value_b", pl.Float64, "B's number over them; null if unknown"),
        *number("difference", "B − A, paired by scenario"),
        Column("p", pl.Float64, "two-sided, of no difference; null if unknown"),
        Column("p_holm", pl.Float64, "the same, corrected for all pairs of the ranking (Holm)"),
        Column("detectable", pl.Float64, "smallest difference detected with 80% power"),
    )
    rows = [
        ranking.basis._asdict()
        | {"metric": metric, "a": a, "b": b, "n": pair.n, "value_a": pair.a, "value_b": pair.b}
        | {"p": pair.p, "p_holm": pair.p_holm, "detectable": pair.detectable}
        | of_number("difference", pair.difference)
        for ranking in rankings
        for metric, pairs in (("score", ranking.pairs), ("severe", ranking.severe_pairs))
        for (a, b), pair in pairs.items()
    ]
    return ExportTable.of("pairs", "two systems that one grader judged", columns, rows)


def _rank_sets(rankings: Sequence[Ranking]) -> ExportTable:
    columns = (
        *_RANKING,
        Column("system", pl.String, "name of the system"),
        Column("score", pl.Float64, "its score; null where it is not ranked"),
        Column("rank_best", pl.Int64, "one more than those with a significantly higher score"),
        Column("rank_worst", pl.Int64, "all but those with a significantly lower score"),
        Column("severe_rank_best", pl.Int64, "the same by severe errors; null where not known"),
        Column("severe_rank_worst", pl.Int64, "the same by severe errors; null where not known"),
        Column(
            "bank_maker", pl.String, "its vendor where that is one of the bank's makers; else null"
        ),
        Column("reason", pl.String, "why it is not ranked; else empty"),
    )
    rows = [ranking.basis._asdict() | row for ranking in rankings for row in _ranks(ranking)]
    return ExportTable.of("rank_sets", "the ranks that a system may have", columns, rows)


def _ranks(ranking: Ranking) -> Iterator[Row]:
    for ranked in ranking.ranked:
        best, worst = ranked.ranks
        severe_best, severe_worst = ranked.severe_ranks or (None, None)
        yield {
            "system": ranked.system,
            "score": ranked.score,
            "rank_best": best,
            "rank_worst": worst,
            "severe_rank_best": severe_best,
            "severe_rank_worst": severe_worst,
            "bank_maker": ranked.bank_maker,
            "reason": "",
        }
    for name, why in ranking.left_out.items():
        yield {"system": name, "reason": why}
