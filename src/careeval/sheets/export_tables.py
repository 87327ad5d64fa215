"""The list of data tables that `careeval export` writes."""

from __future__ import annotations

from collections.abc import Iterator

from careeval.results.entries import Breakdown
from careeval.results.findings import Findings
from careeval.results.tables import JUDGMENTS, RESPONSES
from careeval.sheets import scenarios
from careeval.sheets.entries import entries_sheet, further_sheets
from careeval.sheets.entries.further_tables import further_tables
from careeval.sheets.sheet import DataTable
from careeval.sheets.trust import graders
from careeval.sheets.versus import comparisons


def data_tables(findings: Findings) -> Iterator[DataTable]:
    """Yield each table; the last two, responses and judgments, are long."""
    entries, runs = findings.entries, findings.public.runs
    yield entries_sheet.entries_sheet(entries, in_detail=True).data
    for by in Breakdown:
        yield entries_sheet.parts_sheet(by, entries).data
    yield entries_sheet.adl_and_domain_sheet(entries).data
    yield entries_sheet.at_k_sheet(entries).data
    yield scenarios.scenarios_sheet(entries).data
    yield further_sheets.directions_sheet(entries).data
    for table in further_tables(entries):
        yield table.sheet.data
    yield further_sheets.twins_sheet(entries).data
    yield comparisons.pairs_sheet(findings.rankings).data
    yield comparisons.rank_sets_sheet(findings.rankings).data
    yield graders.items_sheet(findings.items).data
    yield graders.harms_sheet(findings).data
    yield graders.grader_cards_sheet(findings).data
    yield further_sheets.corrected_sheet(entries).data
    yield graders.grading_noise_sheet(findings).data
    yield graders.grader_pairs_sheet(findings).data
    yield graders.grader_agreement_sheet(findings).data
    yield DataTable("responses", "a response", RESPONSES, runs.responses)
    yield DataTable("judgments", "a judgment of one item", JUDGMENTS, runs.judgments)
