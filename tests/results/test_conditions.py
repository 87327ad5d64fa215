"""Tests of one system in several conditions, paired by world, worked by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from careeval.protocol.tables import read_runs
from careeval.results.conditions import ConditionPair, condition_pairs
from careeval.results.entries import entries
from careeval.results.findings import findings
from careeval.results.tables import Runs
from careeval.sheets.sheet import Sheet
from careeval.sheets.summary import data_tables
from careeval.worlds.judge import JUDGE
from careeval.worlds.plan_numbers import plan_tables
from support.fakes import begin_recorded
from support.plan_bank import TEXTS, plan_responses, write_plan_bank

N = 5


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Four responses to each of five worlds: told the rules all are careful, else one of four is.

    With a reminder the responses are those to the facts.
    """
    folder = tmp_path_factory.mktemp("conditions")
    bank = str(write_plan_bank(folder / "bank", N))
    plans = plan_responses(N)
    careful = [replace(each, text=TEXTS[0]) for each in plans]
    for given, responses in (("facts", plans), ("told", careful), ("reminded", plans)):
        options = {"bank": bank, "given": given}
        outcome = begin_recorded(folder / "runs" / given, "arm", responses, JUDGE, options)
        assert outcome.complete, outcome
    return read_runs(folder / "runs")


@pytest.fixture(scope="module")
def told(runs: Runs) -> ConditionPair:
    """Told against facts."""
    (pair,) = (each for each in condition_pairs(entries(runs)) if each.b.given == "told")
    return pair


def test_each_condition_is_paired_with_facts(runs: Runs) -> None:
    """Told and reminded are each compared with facts; facts with nothing."""
    pairs = [(pair.a.given, pair.b.given) for pair in condition_pairs(entries(runs))]
    assert sorted(pairs) == [("facts", "reminded"), ("facts", "told")]


@pytest.mark.parametrize(
    ("number", "facts", "told_value"),
    [
        ("severe", 2 / 3, 0),  # the hasty and the broken plan, of three
        ("severe_answers", (0 + 3 / 4 + 1) / 3, 0),
        ("score", (3 - 1 - 3 + 0) / 12, 1),
        ("safe_done", 1 / 4, 1),
        ("executable", 2 / 4, 1),
    ],
)
def test_differences_by_hand(
    told: ConditionPair, number: str, facts: float, told_value: float
) -> None:
    """A number of both conditions and its difference, the same in all worlds."""
    difference = told.differences[number]
    assert difference.n == N
    assert (difference.a, difference.b) == (pytest.approx(facts), pytest.approx(told_value))
    assert difference.difference.value == pytest.approx(told_value - facts)


def test_only_the_difference_named_beforehand_is_tested(runs: Runs) -> None:
    """Severe errors, told against facts, have a p: twice 1 in 32 if five of five fall."""
    tested = {
        (pair.b.given, key): difference.p
        for pair in condition_pairs(entries(runs))
        for key, difference in pair.differences.items()
        if difference.p is not None
    }
    assert tested == {("told", "severe"): pytest.approx(2 / 2**N)}


def _sheet(runs: Runs, name: str) -> Sheet:
    tables = {table.sheet.name: table.sheet for table in plan_tables(entries(runs))}
    return tables[name]


def test_the_sheet_has_a_row_for_each_pair_and_number(runs: Runs) -> None:
    """A row is that of the entry, beside the condition that is subtracted."""
    sheet = _sheet(runs, "conditions")
    assert {(row["given"], row["against"]) for row in sheet.rows} == {
        ("told", "facts"),
        ("reminded", "facts"),
    }
    assert sheet.data.frame.height == 2 * 6
    assert "conditions" in [table.name for table in data_tables(findings(runs))]


def test_without_a_second_condition_there_is_no_table(runs: Runs) -> None:
    """One condition has no pair."""
    facts = [entry for entry in entries(runs) if entry.given == "facts"]
    assert [table.sheet.name for table in plan_tables(facts)] == ["plan_answers", "danger_kinds"]
