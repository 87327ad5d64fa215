"""Tables of the report: what they draw, shade and mark."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from careeval.core.scenario import Adl
from careeval.core.text import percent
from careeval.report.page_table import BarScale, PageCell, PageColumn, PageTable, shade
from careeval.report.panels.entries import Report, costs_table, epochs_table, numbers_table
from careeval.report.panels.graders import HIDDEN, odd_items_table
from careeval.report.panels.parts import by_domain_table, maps, overview_table, parts_table
from careeval.report.payload import payload
from careeval.results.entries import entries
from careeval.results.findings import Findings, findings
from careeval.results.metrics import HEADLINE, IN_DETAIL
from careeval.results.parts import Breakdown
from careeval.results.tables import Runs
from careeval.sheets.entries import records_sheet
from careeval.sheets.kinds import ESTIMATE
from careeval.sheets.sheet import Field, Sheet
from careeval.sheets.words import brief_grader_names, entry_names
from careeval.stats.estimate import Estimate

from .conftest import with_columns

METRIC_KEYS = {metric.key for metric in (*HEADLINE, *IN_DETAIL)}


def report_of(results: Findings, *, words_shown: bool = True) -> Report:
    """Return the report of some findings."""
    read = payload(results.public, results.entries, responses=words_shown)
    return Report(results, words_shown, read)


def cells_of(table: PageTable) -> list[list[PageCell]]:
    """The cells of a table, row by row."""
    return [[table.cell(column, row) for column in table.columns] for row in table.rows]


def heads_of(table: PageTable) -> list[str]:
    """The heads of a table."""
    return [table.head(column) for column in table.columns]


def test_every_metric_has_its_columns(two_systems: Findings) -> None:
    """The headline's metrics stand in the table of all numbers, the others in that of epochs."""
    report = report_of(two_systems)
    for table, metrics in ((numbers_table(report), HEADLINE), (epochs_table(report), IN_DETAIL)):
        keys = [column.key for column in table.columns]
        assert [key for key in keys if key in METRIC_KEYS] == [metric.key for metric in metrics]


def test_a_number_of_epochs_says_over_how_many_or_why_it_is_unknown(two_systems: Findings) -> None:
    """The reliability has its scenarios beneath it, and a number without interval the reason."""
    table = epochs_table(report_of(two_systems))
    row = dict(zip(heads_of(table), cells_of(table)[0], strict=True))
    assert f"over {two_systems.entries[0].n_reliability} scenarios" in row["Reliability"].lines
    assert row["Worst epoch"].lines[-1] == two_systems.entries[0].worst_epoch.reason


def test_the_overview_draws_every_number(two_systems: Findings) -> None:
    """Each metric and activity is drawn, on one scale; what has no interval is hollow."""
    table = overview_table(report_of(two_systems))
    keys = [column.key for column in table.columns]
    assert [key for key in keys if key in METRIC_KEYS] == [metric.key for metric in HEADLINE]
    for row in cells_of(table):
        drawn = dict(zip(heads_of(table)[1:], (cell.strip for cell in row[1:]), strict=True))
        assert all(drawn.values())
        hollow = {head for head, strip in drawn.items() if strip and strip.ends is None}
        assert {"Eating", "Bathing"} <= hollow
        assert "Dressing" not in hollow
        zeros = {strip.zero for head, strip in drawn.items() if strip and "errors" not in head}
        assert len(zeros) == 1


def test_what_may_not_be_ranked_is_grey_in_tables(
    one_system: Findings, two_systems: Findings
) -> None:
    """A row of an entry that may not be ranked is grey, and of one that may it is not."""
    assert report_of(one_system).unranked == {"alpha"}
    report = report_of(two_systems)
    for table in (overview_table(report), by_domain_table(report)):
        grey = [row["name"] for row in table.rows if table.is_grey(row)]
        assert grey == [s.system for s in two_systems.entries if s.not_ranked]


def test_what_a_run_cost(runs: Runs) -> None:
    """The methods say what asking and grading cost, or why that is unknown."""
    priced = findings(with_columns(runs, cost_usd=0.25))
    name, asking, grading, _ = cells_of(costs_table(report_of(priced)))[0]
    # seven public scenarios and a held-out one, twice each
    assert (name.text, asking.text, asking.lines) == ("alpha", "$4.00", ("16 responses",))
    assert grading.text == "unknown"
    assert "the price of 16 of 16" in grading.lines[0]


def test_items_of_hidden_scenarios_are_not_told(two_systems: Findings) -> None:
    """An odd item's text is told unless its scenario is held out anywhere."""
    item = replace(two_systems.items[0], always=True)
    for hidden, text in (({"other"}, item.text), ({item.scenario}, HIDDEN)):
        table = odd_items_table([item], hidden)
        assert cells_of(table)[0][1].text == text


def test_a_table_of_one_system_has_no_column_for_its_name(
    two_systems: Findings, one_system: Findings
) -> None:
    """The system is a column where there are several and none where there is one."""
    one, several = (by_domain_table(report_of(each)) for each in (one_system, two_systems))
    assert ["System" in heads_of(table) for table in (one, several)] == [False, True]


def test_small_cells_are_marked(two_systems: Findings, one_system: Findings) -> None:
    """A part of fewer than five scenarios has an asterisk and no interval, and it is said why."""
    table = parts_table(Breakdown.adl, report_of(one_system))
    rows = cells_of(table)
    assert {(row[0].text, row[1].text) for row in rows} == {
        ("Overall", "8"),
        ("Dressing", "5"),
        ("Eating", "2*"),
        ("Bathing", "1*"),
    }
    assert all(bool(row[3].lines) == ("*" not in row[1].text) for row in rows)
    many = parts_table(Breakdown.adl, report_of(two_systems))
    for name, *cells in cells_of(many):
        assert all(("*" in cell.text) == (name.text != "Dressing") for cell in cells)
    for each in (table, many):
        assert "* fewer than five" in each.note


def test_a_part_says_its_severe_errors(two_systems: Findings, one_system: Findings) -> None:
    """A part's share of responses with a severe error is the summary's, for one and for many."""
    for each, column in ((one_system, 2), (two_systems, 1)):
        share = each.entries[0].by_adl[Adl.eating].severe.share.value
        (row,) = (
            row
            for row in cells_of(parts_table(Breakdown.adl, report_of(each)))
            if row[0].text == "Eating"
        )
        assert f"{percent(share)}%" in " ".join((row[column].text, *row[column].lines))


def test_a_heat_table_says_what_it_shades(one_system: Findings) -> None:
    """Each cell has its number in words; a small one is outlined, marked, and has no shade."""
    (graded,) = one_system.entries
    (table,) = maps(report_of(one_system))
    by_name = {row[0].text: row for row in cells_of(table)}
    dressing, eating = by_name["Dressing"][4], by_name["Eating"][4]
    cell = next(iter(graded.by_adl_and_domain.values()))["functional_safety"]  # type: ignore[index]
    assert cell.score.value is not None
    assert dressing.text == f"{100 * cell.score.value:.1f}"
    assert dressing.look.startswith("heat-")
    assert dressing.lines[-1] == "n 5"
    assert "few" in eating.look
    assert eating.lines == ("n 2*",)


@pytest.mark.parametrize(
    ("fraction", "look"),
    [(-0.2, "heat-below"), (-0.0001, "heat-0"), (0.0, "heat-0"), (0.55, "heat-5"), (1, "heat-9")],
)
def test_shades_are_tenths(fraction: float, look: str) -> None:
    """A shade is the tenth that a fraction is in; what rounds to nothing is not below it."""
    assert shade(fraction) == look


@pytest.mark.parametrize(
    ("fraction", "ci95", "look"),
    [
        (-0.04, (-0.1, 0.03), "heat-below pale"),
        (-0.04, (-0.1, -0.01), "heat-below"),
        (0.25, (0.0, 0.5), "heat-2 pale"),
        (0.25, (0.1, 0.5), "heat-2"),
    ],
)
def test_a_shade_is_pale_where_0_is_possible(
    fraction: float, ci95: tuple[float, float], look: str
) -> None:
    """No strong colour says more than the interval does."""
    assert shade(fraction, ci95) == look


def test_an_unknown_number_is_sorted_last_and_says_why() -> None:
    """A cell without a value has the reason beneath it, and no 0 to be sorted by."""
    sheet = Sheet(
        "s",
        "a row",
        (Field("e", "a number", ESTIMATE),),
        [{"e": Estimate.unknown("it is missing")}],
    )
    ((cell,),) = cells_of(PageTable(sheet, (PageColumn("e"),)))
    assert (cell.text, cell.lines) == ("unknown", ("it is missing",))
    assert cell.order is None


def test_names_are_as_short_as_they_can_be(two_systems: Findings) -> None:
    """A grader's mode and vendor are said only where the names would else be the same."""
    assert entry_names(two_systems.entries) == ["alpha", "beta"]
    for graders, names in (
        (["v/judge (batched, p 0)", "v/other (batched)"], ["judge", "other"]),
        (["v/judge (batched)", "w/judge (batched)"], ["v/judge", "w/judge"]),
        (["v/judge (batched)", "v/judge (per item)"], ["judge", "judge (per item)"]),
    ):
        assert list(brief_grader_names(graders).values()) == names


def test_records_come_from_the_tables(two_systems: Findings) -> None:
    """Run records, with their date, come from the responses and not from the clock."""
    sheet = records_sheet(two_systems.entries)
    assert [row["system"] for row in sheet.rows] == ["alpha", "beta"]
    record = sheet.rows[0]
    assert record["created"] == "2026-11-20"
    assert record["bank"] == "made-bank 1-A"
    assert record["model"] == "openai/alpha"


def test_sampling_is_shown_once_with_what_differs(runs: Runs) -> None:
    """Settings that all calls share stand once; of seeds only the number is given."""
    seeds = range(runs.responses.height)
    sampling = [
        f'{{"temperature": 1.0, "seed": {seed}, "top_p": {0.9 + seed % 2}}}' for seed in seeds
    ]
    responses = runs.responses.with_columns(sampling=pl.Series(sampling))
    sheet = records_sheet(entries(replace(runs, responses=responses)))
    assert {row["sampling"] for row in sheet.rows} == {
        "temperature 1.0; by call: seed (16 values), top_p (0.9 or 1.9)"
    }


def test_a_bar_has_its_numbers_in_order() -> None:
    """By hand: −50% to 100% over 86 pixels from the fifth; 0 stands a third of the way."""
    scale = BarScale.of_estimates([Estimate(-0.5, -0.5, -0.5, None, "few")])
    assert (scale.low, scale.high) == (-0.5, 1.0)
    assert [scale.place(x) for x in (-0.5, 0, 1)] == [5.0, 33.7, 91.0]


def test_unresolved_judgments_widen_what_a_cell_says() -> None:
    """Bounds that read otherwise than the value are said beside it; equal ones are not."""
    estimates = (Estimate(0.5, 0.49, 0.51, (0.4, 0.6)), Estimate(0.5, 0.4999, 0.5001, (0.4, 0.6)))
    sheet = Sheet("s", "a row", (Field("e", "a number", ESTIMATE),), [{"e": e} for e in estimates])
    wide, narrow = (PageTable(sheet, ()).cell(PageColumn("e"), row).lines for row in sheet.rows)
    assert wide == ("40.0 to 60.0", "unresolved: 49.0 to 51.0")
    assert narrow == ("40.0 to 60.0",)
