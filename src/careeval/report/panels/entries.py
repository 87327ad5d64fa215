"""Tables of entries: their main and further numbers, costs, and how to cite them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from careeval.core.scenario import Adl, HarmKind
from careeval.report.page_table import BarScale, PageColumn, PageTable, Strip, shade
from careeval.report.payload import Payload
from careeval.report.words import score_name
from careeval.results.findings import EntryFindings, Findings
from careeval.results.metrics import HEADLINE, IN_DETAIL
from careeval.results.summary import Summary
from careeval.sheets.entries.care_directions import directions_sheet
from careeval.sheets.entries.entries_sheet import at_k_sheet, entries_sheet
from careeval.sheets.entries.further_tables import further_tables
from careeval.sheets.entries.side_by_side import ScenarioScoreKind, pivot
from careeval.sheets.estimate_kinds import ESTIMATE
from careeval.sheets.formats.latex import escaped
from careeval.sheets.kinds import COUNT, DECIMAL
from careeval.sheets.scenarios import scenarios_sheet
from careeval.sheets.sheet import Row
from careeval.sheets.words import entry_names


@dataclass(frozen=True, eq=False)
class Report:
    """The data that the sections of a report show."""

    findings: Findings  # The results; may be empty
    words_shown: bool  # True if the texts of responses, quotes and reasons are included
    payload: Payload  # The responses in the form of the response reader

    @property
    def graded(self) -> Sequence[EntryFindings]:
        """Entries with their numbers: each is one system as one grader judged it on one rubric."""
        return self.findings.graded

    @property
    def summaries(self) -> Sequence[Summary]:
        """Summary of each entry."""
        return self.findings.summaries

    @property
    def has_one_entry(self) -> bool:
        """Tell whether there is only one entry; tables then leave out its name."""
        return len(self.summaries) == 1

    @cached_property
    def unranked(self) -> frozenset[str]:
        """Names of the entries that may not be ranked."""
        names = entry_names(self.summaries)
        pairs = zip(names, self.summaries, strict=True)
        return frozenset(name for name, s in pairs if s.not_ranked)

    @cached_property
    def rubrics(self) -> tuple[str, ...]:
        """Rubrics that were judged."""
        return distinct(s.rubric.value for s in self.summaries)

    @property
    def score_name(self) -> str:
        """Name of the score, with the rubric if all entries have the same rubric."""
        return score_name(self.summaries)

    @cached_property
    def banks(self) -> tuple[str, ...]:
        """Banks with their versions."""
        return distinct(f"{s.bank} {s.bank_version}" for s in self.summaries)

    @cached_property
    def protocols(self) -> tuple[str, ...]:
        """Versions of the protocol used for asking or grading."""
        both = ((s.protocol, s.grading_protocol) for s in self.summaries)
        return distinct(version for versions in both for version in versions if version)

    @cached_property
    def dates(self) -> tuple[str, ...]:
        """Days on which runs began, in order."""
        moments = self.findings.public.runs.responses["created"].drop_nulls()
        return distinct(sorted(moment[: len("2026-11-20")] for moment in moments))


def distinct(values: Iterable[str]) -> tuple[str, ...]:
    """Return each distinct value once, in order of first use."""
    return tuple(dict.fromkeys(values))


def numbers_table(report: Report) -> PageTable:
    """Return a table of the headline numbers of all entries, with intervals."""
    sheet = entries_sheet(report.graded, report.findings.rankings)
    columns = [PageColumn("name", beneath=lambda row: row["not_ranked"])]
    for metric in HEADLINE:
        head = report.score_name if metric.key == "score" else ""
        columns.append(PageColumn(metric.key, head))
        if metric.key == "score" and any(row["ranks"] for row in sheet.rows):
            columns.append(PageColumn("ranks"))
    if any(s.severe_by_kind for s in report.summaries):
        columns += [PageColumn(f"severe_{kind}") for kind in HarmKind]
    columns += [
        PageColumn("n", beneath=_missing),
        PageColumn("n_unresolved", beneath=_of_judgments),
    ]
    note = "Errors: responses with at least one. Beneath a number: its 95% interval."
    return PageTable(sheet, tuple(columns), "The numbers in full", note, look="many")


def _missing(row: Row) -> tuple[str, ...]:
    return (f"{COUNT.text(row['n_missing'])} missing",) if row["n_missing"] else ()


def _of_judgments(row: Row) -> tuple[str, ...]:
    return (f"of {COUNT.text(row['n_judgments'])} judgments",)


def at_k_table(report: Report, key: str, caption: str) -> PageTable:
    """Return a table of one number of each entry, with a column per number of responses k."""
    sheet = at_k_sheet(report.graded)
    wide, keys = pivot(sheet, "name", "k", replace(ESTIMATE, if_missing=""), key)
    unknown = {row["name"]: row[key].reason for row in sheet.rows if row[key].value is None}

    def reason(row: Row) -> Iterable[str]:
        return (unknown.get(row["name"], ""),)

    columns = (PageColumn(k, f"k = {n}") for n, k in enumerate(keys, start=1))
    note = "Beneath a number: its 95% interval."
    omitted_lines = tuple(filter(None, unknown.values()))
    return PageTable(
        wide, (PageColumn("name", beneath=reason), *columns), caption, note, omitted_lines, "many"
    )


def scenarios_table(report: Report) -> PageTable:
    """Return a table of scores by scenario: a column per entry, or one entry's responses."""
    order = {adl.value: place for place, adl in enumerate(Adl)}
    sheet = scenarios_sheet(report.graded)
    rows = sorted(sheet.rows, key=lambda r: (order.get(r["adl"], len(order)), r["scenario"]))
    sheet, caption = replace(sheet, rows=rows), "Every scenario in numbers"
    if report.has_one_entry:
        scale = BarScale.of_numbers(score for row in rows for score in row["epochs"]).wide
        columns = (
            PageColumn("scenario"),
            PageColumn(
                "score",
                report.score_name,
                beneath=lambda row: (row["reason"],),
                strip=lambda row: Strip.of_values(row["epochs"], scale),
            ),
            PageColumn("worst", "Lowest response"),
            PageColumn("n_severe", "With a severe error"),
        )
        note = "Mean score of its responses. A mark is a response, and a tick is 0."
        return PageTable(sheet, columns, caption, note, look="profile close")
    wide, keys = pivot(sheet, "scenario", "name", ScenarioScoreKind())
    note = (
        "Mean score of its responses in %; beneath it the lowest of them, and how many have a "
        "severe error."
    )
    shaded = (PageColumn(key, look=partial(_shade, key)) for key in keys)
    return PageTable(wide, (PageColumn("scenario"), *shaded), caption, note)


def _shade(key: str, row: Row) -> str:
    return shade(row[key]["score"]) if key in row else ""


def epochs_table(report: Report) -> PageTable:
    """Return a table: how much the epochs of each entry differ, and how long its responses are."""
    columns = (
        PageColumn("name"),
        *(PageColumn(metric.key) for metric in IN_DETAIL),
        PageColumn("reliability_of_mean", beneath=_reliability),
        PageColumn("words"),
        PageColumn("per_100_words"),
    )
    return PageTable(
        entries_sheet(report.graded, in_detail=True),
        columns,
        "Epochs and length of responses",
        "Beneath a number: its 95% interval.",
    )


def _reliability(row: Row) -> Iterable[str]:
    if row["reliability_of_mean"] is None:
        return (row["reliability_reason"],)
    one, n = DECIMAL.text(row["reliability_icc"]), COUNT.text(row["reliability_n_scenarios"])
    return f"one response {one}", f"over {n} scenarios"


def directions_table(report: Report) -> PageTable:
    """Return the table of `directions_sheet`, with graders' errors on the probes of twins."""
    cards = report.findings.cards.items()
    probes = {grader: card.probes for grader, card in cards if card.probes}
    columns = (
        PageColumn("name"),
        PageColumn("number", beneath=lambda row: (row["meaning"],)),
        PageColumn("n"),
        PageColumn("share"),
    )
    note = "Too little and too much care are never netted: that would reward risk."
    return PageTable(directions_sheet(report.summaries, probes), columns, note=note)


def rubric_tables(report: Report) -> Iterator[PageTable]:
    """Yield the tables of numbers that only entries on some rubrics have."""
    for table in further_tables(report.summaries):
        columns = map(PageColumn, ("name", *table.shown))
        yield PageTable(table.sheet, tuple(columns), sortable=False)


def costs_table(report: Report) -> PageTable:
    """Return a table of what asking and grading cost."""
    keys = ("name", "cost.asking", "cost.grading", "cost.response")
    sheet = entries_sheet(report.graded)
    return PageTable(sheet, tuple(map(PageColumn, keys)), "What it cost")


def citations(report: Report) -> tuple[str, str]:
    """Return the citation of the page, as text and as BibTeX."""
    software = sorted(report.findings.public.runs.responses["software"].drop_nulls().unique())
    version = f", version {', '.join(software)}" if software else ""
    graders = distinct(f"{s.grader} ({s.rubric.value})" for s in report.summaries)
    dates = report.dates
    run = f"; run on {' to '.join(distinct((dates[0], dates[-1])))}" if dates else ""
    year = dates[-1][:4] if dates else ""
    source = (
        f"Bank {', '.join(report.banks)}; protocol {', '.join(report.protocols)}; "
        f"graded by {', '.join(graders)}{run}"
    )
    return (
        f"The careeval authors. careeval{version}.\n{source}.",
        "@software{careeval,\n"
        "  author  = {{The careeval authors}},\n"
        "  title   = {careeval: an open, independent implementation of the {CareEval} benchmark},\n"
        + (f"  version = {{{', '.join(software)}}},\n" if software else "")
        + (f"  year    = {{{year}}},\n" if year else "")
        + f"  note    = {{{escaped(source)}}}\n}}",
    )
