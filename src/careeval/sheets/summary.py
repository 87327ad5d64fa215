"""The document of `careeval summary`, and the data tables of `careeval export`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

from careeval.results.compare import Ranking
from careeval.results.entry import Entry
from careeval.results.findings import Findings
from careeval.results.grader_accuracy import PeopleAudit
from careeval.results.metrics import (
    HEADLINE,
    IN_DETAIL,
    MILD,
    SCORE,
    SEVERE,
    SEVERE_BY_KIND,
)
from careeval.results.parts import OVERVIEW, Breakdown
from careeval.results.references import by_scale, references_beside
from careeval.results.tables import JUDGMENTS, RESPONSES
from careeval.sheets.comparisons import pairs_sheet, rank_sets_sheet
from careeval.sheets.entries import (
    CORRECTED_SCORE,
    ENTRY,
    GRADER_NAME,
    RUBRIC,
    SYSTEM_NAME,
    FurtherTable,
    at_k_sheet,
    corrected_sheet,
    directions_sheet,
    entries_sheet,
    further_tables,
    twins_sheet,
)
from careeval.sheets.graders import (
    grader_agreement_sheet,
    grader_cards_sheet,
    grader_pairs_sheet,
    grading_noise_sheet,
    harms_sheet,
    items_sheet,
)
from careeval.sheets.kinds import Form
from careeval.sheets.parts import (
    adl_and_domain_sheet,
    part_score_kind,
    parts_sheet,
    pivot,
    scenarios_sheet,
    stacked_parts_sheet,
)
from careeval.sheets.references import references_sheet
from careeval.sheets.sheet import DataTable, Document, Sheet, Shown, View
from careeval.sheets.words import (
    SMALL,
    audit_remarks,
    cost_lines,
    entries_caption,
    entry_graders,
    headline_sentences,
    remarks,
    settings_line,
    unresolved_notes,
)
from careeval.stats.estimate import Estimate
from careeval.stats.intervals import MIN_SCENARIOS


def summary_document(
    entries: Sequence[Entry],
    by: Sequence[Breakdown] = (),
    rankings: Sequence[Ranking] = (),
    audits: Mapping[str, PeopleAudit] = {},
    *,
    in_detail: bool = False,
    more: Sequence[str] = (),
) -> Document:
    """Return the document of entries; if there are no entries, it has no blocks and no notes.

    Args:
        entries: The entries.
        by: Breakdowns of the scenarios, one table each; the data are then the numbers by part. If
            empty, the tables are those of the overview, and the data the main numbers.
        rankings: Rankings of these entries; a `Ranked.place` is a position in `entries`.
        audits: Grader → results of its audit by people. If empty, corrected scores are not shown.
        in_detail: Whether to show the details of each entry.
        more: Notes to add at the end.
    """
    sheet = entries_sheet(entries, rankings, in_detail=in_detail, corrected=bool(audits))
    parts = [parts_sheet(each, entries) for each in by or OVERVIEW]
    if not entries:
        return Document((), (), sheet)
    names = _EntryColumns.of(entries)
    blocks: list[str | View] = [*headline_sentences(entries), _headline(sheet, names, rankings)]
    blocks += audit_remarks(audits, entries)
    if audits and any(entry.corrected for entry in entries):
        blocks.append(_corrected(entries, names))
    if in_detail:
        blocks += [_in_detail(sheet, entries, names), _at_k(entries, names)]
        if any(entry.directions for entry in entries):
            blocks.append(_directions(entries, names))
        blocks += [_further(each, names) for each in further_tables(entries)]
    if by:
        blocks += [_part(part, names) for part in parts]
    else:
        blocks += [_across(part, key, names) for part, key in zip(parts, OVERVIEW, strict=True)]
    has_small_parts = any(0 < row["n"] < MIN_SCENARIOS for part in parts for row in part.rows)
    notes = [
        settings_line(entries),
        *([SMALL] if has_small_parts else []),
        *(part.note for part in parts if part.note),
        *remarks(entries),
        *unresolved_notes(entries),
        *cost_lines(entries),
        *more,
    ]
    data = _parts(parts, corrected=bool(audits)) if by else sheet
    caption = entries_caption(entries) + (f" {SMALL}" if has_small_parts else "")
    return Document(tuple(blocks), tuple(notes), data, caption)


def _parts(sheets: Sequence[Sheet], *, corrected: bool) -> Sheet:
    """Return all parts as one sheet; if `corrected`, it says why their scores are not corrected."""
    sheet = stacked_parts_sheet(sheets)
    if not corrected:
        return sheet
    unknown = {CORRECTED_SCORE.key: Estimate.unknown("people correct whole scores")}
    return sheet.with_fields(CORRECTED_SCORE, rows=repeat(unknown, len(sheet.rows)))


class _EntryColumns(NamedTuple):
    """The columns that tell entries apart, and the end of a caption: what the entries share.

    Attributes:
        columns: The system; the grader and the rubric if there are several.
        shared: Rubric and grader, if all share them: ", on the actions, judged by NAME".
    """

    columns: tuple[Shown, ...]
    shared: str

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> _EntryColumns:
        """Return the columns that these entries need."""
        rubrics, graders = {s.rubric for s in entries}, set(entry_graders(entries))
        columns, shared = [Shown(SYSTEM_NAME.key)], ""
        if len(rubrics) == 1:
            shared += f", on the {entries[0].rubric}"
        if len(graders) == 1:
            shared += f", judged by {entry_graders(entries)[0]}"
        if len(graders) > 1:
            columns.append(Shown(GRADER_NAME.key))
        if len(rubrics) > 1:
            columns.append(Shown(RUBRIC.key))
        return cls(tuple(columns), shared)

    def view(
        self, sheet: Sheet, columns: Sequence[Shown], caption: str, *, grouped: bool = False
    ) -> View:
        """Return a view of a sheet of entries: first the names, then the given columns.

        If `grouped`, a name that successive rows share is not repeated.
        """
        groups = len(self.columns) if grouped else 0
        shown = (*self.columns, *columns)
        return View(sheet, shown, f"{caption}{self.shared}", groups, faint="not_ranked")


def _headline(sheet: Sheet, names: _EntryColumns, rankings: Sequence[Ranking]) -> View:
    columns = []
    for metric in HEADLINE:
        keep = metric is not MILD
        columns.append(Shown(metric.key, keep=keep))
        if metric.counts_errors:
            columns.append(Shown(metric.key, Form.of_many, keep=keep))
        if metric is SCORE and any(len(ranking.ranked) > 1 for ranking in rankings):
            columns.append(Shown("ranks", keep=True))
    return names.view(sheet, (*columns, Shown("n")), sheet.caption)


def _corrected(entries: Sequence[Entry], names: _EntryColumns) -> View:
    columns = (Shown("graded"), Shown("corrected"), Shown("n_responses"), Shown("n_judgments"))
    sheet = corrected_sheet(entries)
    return names.view(sheet, columns, sheet.caption)


def _in_detail(sheet: Sheet, entries: Sequence[Entry], names: _EntryColumns) -> View:
    kinds = SEVERE_BY_KIND if any(entry.severe_by_kind for entry in entries) else ()
    shown = (*(Shown(m.key) for m in kinds), *(Shown(m.key) for m in IN_DETAIL))
    more = (Shown("reliability_of_mean"), Shown("words"), Shown("per_100_words"))
    return names.view(sheet, (*shown, *more), "In detail")


def _part(sheet: Sheet, names: _EntryColumns) -> View:
    keys = [field.key for field in sheet.fields if field.key not in _NOT_SHOWN]
    columns = [Shown(key) for key in keys]
    if SEVERE.key in keys:
        columns[-1] = Shown(SEVERE.key, Form.of_many)
    return names.view(sheet, columns, sheet.caption, grouped=True)


_NOT_SHOWN = {field.key for field in ENTRY} | {"name", "judge", "n_scenarios", "n_counted"}
"""Fields of parts that are in no column of their own: names, and what a note says once."""


def _across(sheet: Sheet, by: Breakdown, names: _EntryColumns) -> View:
    """Return a view of the scores in a sheet of parts, with a column for each part."""
    wide, keys = pivot(sheet, "name", by.value, part_score_kind())
    return names.view(wide, [Shown(key) for key in keys], f"Score by {by.head}, %")


def _further(table: FurtherTable, names: _EntryColumns) -> View:
    """Return a view of the numbers that only entries on one rubric have."""
    columns = [Shown(key) for key in table.shown]
    return names.view(table.sheet, columns, table.sheet.caption, grouped=True)


def _directions(entries: Sequence[Entry], names: _EntryColumns) -> View:
    """Return a view of too little and too much care, and of twins, a row per number."""
    sheet = directions_sheet(entries)
    columns = (Shown("number"), Shown("n"), Shown("share"))
    return names.view(sheet, columns, sheet.caption, grouped=True)


def _at_k(entries: Sequence[Entry], names: _EntryColumns) -> View:
    """Return a view of the worst of k responses, by entry and k."""
    sheet = at_k_sheet(entries)
    columns = (Shown("k"), Shown("worst_at_k"), Shown("severe_of_k"))
    return names.view(sheet, columns, "The worst of k responses", grouped=True)


def data_tables(findings: Findings) -> Iterator[DataTable]:
    """Yield each table; the last two, responses and judgments, are long."""
    entries, runs = findings.entries, findings.public.runs
    yield entries_sheet(entries, in_detail=True).data
    for by in Breakdown:
        yield parts_sheet(by, entries).data
    yield adl_and_domain_sheet(entries).data
    yield at_k_sheet(entries).data
    yield scenarios_sheet(entries).data
    yield directions_sheet(entries).data
    for table in further_tables(entries):
        yield table.sheet.data
    yield twins_sheet(entries).data
    yield pairs_sheet(findings.rankings).data
    yield rank_sets_sheet(findings.rankings).data
    yield items_sheet(findings.items).data
    yield harms_sheet(findings).data
    yield grader_cards_sheet(findings).data
    yield corrected_sheet(entries).data
    yield grading_noise_sheet(findings).data
    yield grader_pairs_sheet(findings).data
    yield grader_agreement_sheet(findings).data
    beside = map(references_beside, by_scale(entries).values())
    yield references_sheet(each for references in beside for each in references).data
    yield DataTable("responses", "a response", RESPONSES, runs.responses)
    yield DataTable("judgments", "a judgment of one item", JUDGMENTS, runs.judgments)
