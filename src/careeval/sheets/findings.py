"""Every sheet of some runs, for `careeval export`."""

from __future__ import annotations

from collections.abc import Iterator

from careeval.results.findings import Findings
from careeval.results.parts import By
from careeval.results.tables import JUDGMENTS, RESPONSES
from careeval.sheets import directions, entries, people, scenarios, trust, versus
from careeval.sheets.sheet import DataTable


def data_tables(findings: Findings) -> Iterator[DataTable]:
    """Yield each table, one after the other: the last two are long."""
    graded, summaries, runs = findings.graded, findings.summaries, findings.public.runs
    yield entries.entries_sheet(graded, in_detail=True).data
    for by in By:
        yield entries.parts_sheet(by, graded).data
    yield entries.adl_and_domain_sheet(graded).data
    yield entries.at_k_sheet(graded).data
    yield scenarios.scenarios_sheet(graded).data
    yield directions.directions_sheet(summaries).data
    yield directions.twins_sheet(summaries).data
    yield versus.pairs_sheet(findings.rankings).data
    yield versus.rank_sets_sheet(findings.rankings).data
    yield trust.items_sheet(findings.items).data
    yield trust.harms_sheet(findings).data
    yield trust.grader_cards_sheet(findings).data
    yield people.corrected_sheet(graded).data
    yield trust.grading_noise_sheet(findings).data
    yield trust.grader_pairs_sheet(findings).data
    yield trust.grader_agreement_sheet(findings).data
    yield DataTable("responses", "a response", RESPONSES, runs.responses)
    yield DataTable("judgments", "a judgment of one item", JUDGMENTS, runs.judgments)
