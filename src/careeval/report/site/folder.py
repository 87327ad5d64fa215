"""Rendering of the whole site: every page and data file, as texts or into a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from careeval.files import write_text
from careeval.report import charts
from careeval.report.documents import FigureMarkup, draw_figure, render_document
from careeval.report.page_table import file_name
from careeval.report.panels.entries import citations, directions_table
from careeval.report.panels.errors import passages
from careeval.report.panels.graders import corrected_table, grader_panels
from careeval.report.panels.references import references_table
from careeval.report.site import scenarios, tables
from careeval.report.site.contents import Contents, SiteEntry, contents
from careeval.report.site.scenarios import (
    PublicScenario,
    errors_by_scenario,
    options,
    public_scenarios,
)
from careeval.results.compare import basis
from careeval.results.entry import NOT_COMPARABLE, Entry
from careeval.results.findings import Findings
from careeval.results.harms import Harm
from careeval.results.parts import Breakdown
from careeval.sheets.data_files import LIST_SEPARATOR, csv_text
from careeval.sheets.entries import PROVENANCE, corrected_sheet, further_tables
from careeval.sheets.graders import grader_pairs_sheet, grading_noise_sheet, items_sheet
from careeval.sheets.labels import (
    contradictions_sheet,
    probes_by_points_sheet,
    probes_by_trap_sheet,
)
from careeval.sheets.parts import (
    parts_sheet,
    presence_sheet,
    scenario_scores_sheet,
    shown_scenarios_sheet,
)
from careeval.sheets.references import references_sheet
from careeval.sheets.sheet import Sheet
from careeval.sheets.words import (
    comparison_warnings,
    entry_remarks,
    epoch_remarks,
    own_remarks,
    worst_n,
)

Files = Iterator[tuple[str, str]]
"""Path in the site, with slashes, and text of each file."""

MANIFEST = ".careeval-site"
"""Name of the file that lists the files of the site."""

MAX_PATH = 250
"""Characters of a path in the site at most; a longer line in the list is not a path."""

HALF = 544
"""Width in pixels of a figure with another beside it."""

STYLES = ("base.css", "site/site.css")

ROBOTS = """\
# The scenarios are there to be read, and not to train on.
User-agent: *
Disallow: /data/
Disallow: /scenarios/

User-agent: GPTBot
User-agent: ClaudeBot
User-agent: anthropic-ai
User-agent: Google-Extended
User-agent: Applebot-Extended
User-agent: CCBot
User-agent: Bytespider
User-agent: meta-externalagent
Disallow: /
"""


def write_site(
    findings: Findings,
    folder: Path,
    *,
    title: str | None = None,
    canary: str | None = None,
    repository: str | None = None,
) -> int:
    """Write the site into a folder, which is created if missing.

    Files that an earlier site wrote there and this site lacks are deleted, so that no page of a
    removed system stays. Files from elsewhere are kept.

    Returns:
        The size of the site in bytes.

    Raises:
        OSError: A file cannot be written.
    """
    earlier = _earlier_files(folder)
    files = dict(render_site(findings, title=title, canary=canary, repository=repository))
    files[MANIFEST] = "".join(f"{path}\n" for path in sorted(files))
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, text)
    for file in earlier - {(folder / path).resolve() for path in files}:
        file.unlink(missing_ok=True)
    return sum(len(text.encode()) for text in files.values())


def _earlier_files(folder: Path) -> set[Path]:
    """Return the files that the previous site's list names, without paths out of the folder."""
    try:
        text = (folder / MANIFEST).read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, IsADirectoryError):
        return set()
    # of a damaged list, use the lines that can be paths
    paths = [path for path in text.splitlines() if path.isprintable() and len(path) < MAX_PATH]
    files = {(folder / path).resolve() for path in paths if path}
    return {file for file in files if file.is_relative_to(folder.resolve()) and file.is_file()}


def render_site(
    findings: Findings,
    *,
    title: str | None = None,
    canary: str | None = None,
    repository: str | None = None,
) -> Files:
    """Yield every file of the site. The same arguments give the same files.

    Args:
        findings: The results to show.
        title: Title of the site; a question by default.
        canary: Canary of the bank, for the files that hold its words.
        repository: Address to send runs to; if `None`, the site does not ask for runs.
    """
    site = contents(findings, title, canary, repository)
    scenarios_shown = public_scenarios(site)
    yield "index.html", _leaderboard(site)
    for name, entries in site.by_system.items():
        yield entries[0].system_page, _system(site, name, entries)
    yield "compare.html", _compare(site)
    yield "scenarios.html", _explorer(site, scenarios_shown)
    errors = errors_by_scenario(site)
    for scenario in scenarios_shown:
        own_errors = errors.get((scenario.edition, scenario.id), {})
        yield scenario.page, _scenario(site, scenario, own_errors)
    yield "evidence.html", _evidence(site)
    yield "about.html", _page(site, "about", "about.html", head="About this leaderboard")
    provenance = " ".join(site.provenances)
    for name, sheet in _sheets(site, scenarios_shown):
        yield from data_files(name, sheet, canary, provenance)
    yield "robots.txt", ROBOTS
    yield ".nojekyll", ""


def _leaderboard(site: Contents) -> str:
    cards = grader_panels(site.findings)
    return _page(
        site,
        "leaderboard",
        "index.html",
        head=site.title,
        boards=[
            (
                board,
                tables.board_table(board, site),
                references_table(references).with_files("of all scales") if references else None,
                cards[board.basis.grader],
                heading,
            )
            for board, heading, references in zip(
                site.boards, site.board_headings, site.references, strict=True
            )
        ],
        any_ranked=any(board.ranked for board in site.boards),
        first=site.board_headings[0] if site.boards else "",
        vendors=tables.vendors(site),
        n=len(site.entries),
        figures=_scatters(site),
        ranks=tables.ABOUT_RANKS,
        remarks=_remarks(site),
    )


def _system(site: Contents, name: str, entries: Sequence[SiteEntry]) -> str:
    headings = site.headings(
        (basis(each.entry), f", protocol {each.entry.grading_protocol}") for each in entries
    )
    return _page(
        site,
        "system",
        entries[0].system_page,
        head=name,
        vendor=entries[0].vendor,
        entries=[
            _entry(site, each, heading) for each, heading in zip(entries, headings, strict=True)
        ],
    )


def _entry(site: Contents, entry: SiteEntry, heading: str) -> dict[str, Any]:
    """Return the template variables of one entry's section on the page of its system."""
    others = (tables.part_table(by, entry) for by in tables.OTHER_PARTS)
    return {
        "site_entry": entry,
        "id": entry.anchor or "entry",
        "heading": heading,
        "card": tables.card(entry),
        "grader_card": site.grader_card(entry),
        "grader_summary": grader_panels(site.findings)[entry.entry.grader].sentence,
        "corrected": corrected_table([entry.entry]).with_files(tables.ALL_SYSTEMS),
        "figures": _curves(entry),
        "by_adl": tables.part_table(Breakdown.adl, entry),
        "parts": [table for table in others if table.rows],
        "domains": tables.part_table(Breakdown.domain, entry),
        "directions": directions_table(site.findings, [entry.entry]),
        "of_rubric": tables.own_tables(entry),
        "errors": tables.severe_errors(entry),
        "lowest": tables.lowest_scenarios(entry, site),
        "facts": tables.facts(entry),
        "citation": citations([entry.entry]),
        "remarks": [*dict.fromkeys(own_remarks(entry.entry))],
    }


def _compare(site: Contents) -> str:
    return _page(
        site,
        "compare",
        "compare.html",
        head="Differences between systems",
        boards=[
            (board, tables.matrices(board), heading)
            for board, heading in zip(site.boards, site.board_headings, strict=True)
            if len(board.ranked) > 1
        ],
    )


def _explorer(site: Contents, scenarios_shown: Sequence[PublicScenario]) -> str:
    return _page(
        site,
        "scenarios",
        "scenarios.html",
        head="Scenarios",
        scenarios=scenarios_shown,
        options=options(scenarios_shown),
        private=True,
    )


def _scenario(
    site: Contents, scenario: PublicScenario, errors: Mapping[str, Sequence[Harm]]
) -> str:
    return _page(
        site,
        "scenario",
        scenario.page,
        head=scenario.id,
        scenario=scenario,
        systems=[*scenarios.score_tables(site, scenario)],
        rubrics=[*scenarios.rubric_tables(site, scenario)],
        errors={system: passages(harms) for system, harms in errors.items()},
        private=True,
    )


def _evidence(site: Contents) -> str:
    return _page(
        site,
        "evidence",
        "evidence.html",
        head="How far to trust these numbers",
        banks=_banks(site.findings.entries),
        cards=[
            (panel, tables.card_tables(panel, site))
            for panel in grader_panels(site.findings).values()
        ],
        evidence=tables.evidence(site),
    )


def _sheets(
    site: Contents, scenarios_shown: Iterable[PublicScenario]
) -> Iterator[tuple[str, Sheet]]:
    """Yield the name of each data file with its sheet."""
    for board in site.boards:
        yield board.file("leaderboard"), tables.board_table(board, site).sheet
        yield board.file("pairs"), tables.all_pairs(board)
    yield "entries", tables.all_entries(site)
    yield "references", references_sheet(each for beside in site.references for each in beside)
    graded = [entry.entry for entry in site.entries]
    for by in Breakdown:
        yield f"by-{by}", parts_sheet(by, graded)
    for table in further_tables(site.findings.entries):
        yield file_name(table.sheet), table.sheet
    yield "scenarios", shown_scenarios_sheet(scenarios_shown)
    yield "scenario-scores", scenario_scores_sheet(graded, [*site.scenarios])
    yield "items", presence_sheet(graded, site.findings.public.items)
    yield "probes-by-points", probes_by_points_sheet(site.findings)
    yield "probes-by-trap", probes_by_trap_sheet(site.findings)
    yield "corrected-scores", corrected_sheet(graded)
    yield "contradictions", contradictions_sheet(site.findings)
    yield "grader-pairs", grader_pairs_sheet(site.findings)
    yield "grading-noise", grading_noise_sheet(site.findings)
    yield "item-statistics", items_sheet(tables.public_items(site))


def _page(site: Contents, template: str, path: str, *, head: str, **more: Any) -> str:
    """Return one page of the site as HTML.

    Args:
        site: The contents of the site.
        template: Name of the template, without folder and suffix.
        path: Path of the page in the site.
        head: Heading of the page.
        more: Further variables of the template.
    """
    values = {
        "site": site,
        "banners": site.banners,
        "path": path,
        "root": "../" * path.count("/"),
        "title": head,
        "head": head,
        "not_comparable": NOT_COMPARABLE,
        "private": False,
    }
    return render_document(
        f"site/{template}.html", values | more, styles=STYLES, scripts=("tables.js", "site/site.js")
    )


@dataclass(frozen=True)
class CaptionedFigure:
    """A figure with its caption."""

    markup: FigureMarkup
    caption: str


def _figure(
    name: str, title: str, caption: str, draw: Callable[[int], charts.Figure]
) -> CaptionedFigure:
    return CaptionedFigure(draw_figure(name, title, draw, HALF), caption)


def _scatters(site: Contents) -> list[CaptionedFigure]:
    """Return scatter plots of the first board: severe errors, cost and worst response, and score.

    The plot of severe errors has its references, too. A board with fewer than two ranked entries
    has no other.
    """
    if not site.boards:
        return []
    board = site.boards[0]
    rubric = board.basis.rubric
    points = [
        *((e.name, e.entry.severe, e.entry.score, not e.ranked) for e in board.entries),
        *((each.name, each.severe, each.score, True) for each in site.references[0]),
    ]
    severity = _figure(
        "severity",
        "Score against severe errors",
        f"Score on the {rubric} against severe errors. References may have other graders.",
        lambda width: charts.severity_scatter(points, width),
    )
    ranked = [entry.entry for entry in board.ranked]
    if len(ranked) < 2:
        return [severity]
    worst = f"Worst of {worst_n(ranked)}"
    return [
        severity,
        _figure(
            "cost",
            "Score against cost",
            f"Score on the {rubric} against the cost of a response, of ranked systems.",
            lambda width: charts.cost_scatter(ranked, width),
        ),
        _figure(
            "worst",
            f"{worst} against score",
            f"{worst} against the score, on the {rubric}, of ranked systems: of two with equal "
            "scores, the lower one varies more.",
            lambda width: charts.worst_scatter(ranked, width),
        ),
    ]


def _curves(entry: SiteEntry) -> list[CaptionedFigure]:
    """Return two figures of an entry: the worst of k responses, and its scores by scenario."""
    graded, rubric = [entry.entry], entry.rubric.value
    name = entry.anchor or "entry"
    return [
        _figure(
            f"{name}-curve",
            "Worst of k",
            f"The score, {rubric}, if the lowest of k responses counts, and how often one of them "
            "has a severe error.",
            lambda width: charts.worst_at_k(graded, width),
        ),
        _figure(
            f"{name}-spread",
            "Scores by scenario",
            f"How the scenarios’ scores spread, {rubric}.",
            lambda width: charts.distributions(graded, width),
        ),
    ]


def _remarks(site: Contents) -> list[str]:
    """Return the warnings that the tables, the banner and the lead do not have."""
    entries = site.findings.entries
    own = entry_remarks(entries, shares=False)
    warnings = *comparison_warnings(entries), *own, *epoch_remarks(entries)
    return [*dict.fromkeys([*warnings, *site.findings.public.runs.notes])]


def _banks(entries: Sequence[Entry]) -> list[tuple[str, str]]:
    """Return the name of each bank and how it was made."""
    return list({f"{s.bank} {s.bank_version}": s.bank_provenance for s in entries}.items())


SCHEMA = "careeval.site.table/2"


def data_files(
    name: str, sheet: Sheet, canary: str | None = None, provenance: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield two files of a sheet, CSV and JSON, each as its path in the site and its text.

    In both files a cell holds one value: a list becomes one text, and an empty text null.

    Args:
        name: Name of the files, without suffix.
        sheet: The sheet.
        canary: Canary of the bank, for the last column; `None` for no such column.
        provenance: Provenance of the site, for rows without their own.
    """
    origins = [row[PROVENANCE.key] for row in sheet.rows if PROVENANCE.key in row]
    texts = pl.col(pl.List(pl.String)).list.join(LIST_SEPARATOR)
    frame = sheet.data.frame.with_columns(texts).with_columns(pl.col(pl.String).replace("", None))
    sources = pl.Series(origins, dtype=pl.String) if origins else pl.lit(provenance)
    columns = {PROVENANCE.key: sources} | ({"canary": pl.lit(canary)} if canary else {})
    yield f"data/{name}.csv", csv_text(frame.with_columns(**columns))
    provenances = list(dict.fromkeys(origins))
    head: dict[str, Any] = {
        "schema": SCHEMA,
        "table": name,
        "caption": sheet.caption,
        "note": NOT_COMPARABLE,
        "provenance": " ".join(provenances) or provenance,
        "canary": canary,
        "columns": {column.name: column.holds for column in sheet.data.columns},
    }
    if len(provenances) > 1:
        frame = frame.with_columns(**{PROVENANCE.key: sources})
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in frame.iter_rows(named=True))
    yield (
        f"data/{name}.json",
        f'{json.dumps(head, indent=1, ensure_ascii=False)[:-2]},\n "rows": [\n{rows}\n]}}\n',
    )
