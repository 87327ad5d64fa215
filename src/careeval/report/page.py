"""The report: one HTML file that works offline.

The results come first, with the evidence for the grader beside them. The responses come last, as
compressed data, with a script that shows them and needs no network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from careeval import scoring
from careeval.core.scenario import Adl, Domain, Rubric
from careeval.files import write_text
from careeval.report import charts
from careeval.report.documents import FigureMarkup, draw_figure, render_document, render_part
from careeval.report.panels.entries import (
    Report,
    at_k_table,
    cards_by_ranking,
    citations,
    costs_table,
    directions_table,
    distinct,
    epochs_table,
    numbers_table,
    ranking_caption,
    rubric_tables,
    run_facts,
    scenarios_table,
)
from careeval.report.panels.errors import by_scenario
from careeval.report.panels.graders import grader_panels, over_graders, trust_line
from careeval.report.panels.parts import by_domain_table, maps, overview_table, parts_table
from careeval.report.panels.references import references_tables
from careeval.report.payload import payload
from careeval.report.texts import simulated, strip_controls
from careeval.results.entry import Entry
from careeval.results.findings import Findings
from careeval.results.harms import Harm
from careeval.results.parts import Breakdown
from careeval.sheets.kinds import SIGNED
from careeval.sheets.words import DOMAINS, remarks
from careeval.stats.intervals import MIN_SCENARIOS


def has_numbers(report: Report) -> bool:
    """Tell whether a report has any graded entry."""
    return bool(report.entries)


@dataclass(frozen=True)
class Section:
    """One section of a report."""

    id: str  # Anchor of the section
    title: str  # Title in the navigation
    template: str  # Name of its template
    fill: Callable[[Report], Mapping[str, Any]]
    """Returns the variables of the template other than `report`."""
    is_shown: Callable[[Report], bool] = has_numbers  # Tells whether a report has the section
    needs_scripts: bool = False  # True if the section is hidden until a script shows it


def sections_of(report: Report) -> list[Section]:
    """Return the sections that a report shows, in order."""
    return [section for section in SECTIONS if section.is_shown(report)]


MAX_CHARACTERS = 24_000_000
"""Characters of a page at most: browsers open a larger one slowly, and mail rejects it."""


MIN_ROOM = 2_000_000
"""Characters of packed responses that a page may always have, however large the rest is."""


def write_page(
    findings: Findings, path: Path, *, title: str | None = None, responses: bool = True
) -> None:
    """Write the report to a file; its folder is created if missing.

    Raises:
        OSError: The file cannot be written.
    """
    page = render_page(findings, title=title, responses=responses)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, page)


def render_page(findings: Findings, *, title: str | None = None, responses: bool = True) -> str:
    """Return the report as HTML. The same arguments give the same text.

    Args:
        findings: The results to show; may be empty.
        title: The title; by default a question that names the systems.
        responses: Whether the report includes the texts of responses, quotes and reasons.
    """
    title = title or _question([s.name for s in findings.entries])
    packed = payload(findings.public, findings.entries, responses=responses)
    page = _page(Report(findings, responses, packed), title)
    if len(page) <= MAX_CHARACTERS:
        return page
    # the rest of the page grows with the systems; if it alone is too large, a few remain
    size = len(packed.packed())
    room = max(MIN_ROOM, MAX_CHARACTERS - (len(page) - size))
    # aim a little below the limit, since responses differ in length
    fitting = packed.n_shown * room * 9 // (size * 10)
    if fitting >= packed.n_shown:
        return page
    packed = payload(findings.public, findings.entries, responses=responses, max_responses=fitting)
    return _page(Report(findings, responses, packed), title)


def _page(report: Report, title: str) -> str:
    sections = sections_of(report)
    values = {
        "title": title,
        "banners": simulated(report.entries),
        "nav": sections,
        "sections": [
            render_part(s.template, {"report": report, **s.fill(report)}) for s in sections
        ],
        "data": Markup(report.payload.packed()) if report.payload.n_shown else "",
    }
    return render_document("page.html", values)


def _question(systems: Sequence[str]) -> str:
    different = distinct(systems)
    if not different:
        return "Nothing has been graded yet"
    if len(different) == 1:
        return f"Does {different[0]} decide like an expert caregiver?"
    return f"Do these {len(different)} systems decide like an expert caregiver?"


_NO_WORDS = "This page was written without responses, quotes and reasons."


def _answer(report: Report) -> Mapping[str, Any]:
    return {
        "boards": [
            {
                "caption": ranking_caption(ranking.basis, report.findings),
                "trust": trust_line(report.findings.cards[ranking.basis.grader]),
                "cards": cards,
                "is_ranked": len(ranking.ranked) > 1,
            }
            for ranking, cards in cards_by_ranking(report.findings)
        ],
        "graders": list(grader_panels(report.findings).values()),
        "limits": list(_limits(report)),
        "numbers": numbers_table(report),
        "references": references_tables(report.entries),
        "picture": _picture(report),
    }


def _picture(report: Report) -> FigureMarkup | None:
    """Return the figure of all severe errors and scores; `None` without an entry."""
    if not report.entries:
        return None
    title = "Severe errors and scores, with intervals"
    return draw_figure("first", title, lambda width: charts.column(report.entries, width))


def _limits(report: Report) -> Iterator[str]:
    """Yield the warnings about the numbers."""
    yield from remarks(report.entries, shares=False)
    yield from report.findings.public.runs.notes
    if not report.words_shown:
        yield _NO_WORDS


ANSWER = Section("answer", "Answer", "sections/answer.html", _answer, lambda _: True)


def _activities(report: Report) -> Mapping[str, Any]:
    by_activity = parts_table(Breakdown.adl, report)
    return {
        "overview": by_activity if report.has_one_entry else overview_table(report),
        "by_activity": None if report.has_one_entry else by_activity,
    }


ACTIVITIES = Section("overview", "Activities", "sections/activities.html", _activities)


def _domains(report: Report) -> Mapping[str, Any]:
    sizes = [
        cell.n
        for each in report.entries
        for by_domain in each.by_adl_and_domain.values()
        for cell in by_domain.values()
        if cell.n
    ]
    return {
        "by_domain": by_domain_table(report),
        "maps": list(maps(report)),
        "map_sizes": " to ".join(map(str, dict.fromkeys((min(sizes), max(sizes)))))
        if sizes
        else "0",
        "any_few": min(sizes, default=0) < MIN_SCENARIOS,
    }


DOMAINS_SECTION = Section("domains", "Domains", "sections/domains.html", _domains)


MAX_WITHOUT_SCRIPTS = 50
"""Errors that the page shows without scripts at most."""


@dataclass(frozen=True)
class ErrorList:
    """The errors in a report: their numbers, and the first errors in full."""

    severe: int  # Severe errors in public responses, over all entries
    mild: int  # Mild errors in public responses, over all entries
    held_out: int  # Errors in held-out responses
    unknown: int  # Errors in responses whose split is unknown
    first: tuple[Harm, ...]
    """The first severe errors or, if there are none, mild errors; at most
    `MAX_WITHOUT_SCRIPTS`."""


def _harms(report: Report) -> Mapping[str, Any]:
    error_list = _error_list(report)
    texts = _scenario_texts(report.findings) if report.words_shown else {}
    first = by_scenario(error_list.first, texts)
    return {
        "n_errors": error_list,
        "first_harms": first,
        "n_passages": sum(len(each.passages) for each in first),
        "n_graders": len(report.findings.cards),
        "choice": filter_choices(report),
    }


def _error_list(report: Report) -> ErrorList:
    findings = report.findings
    order = {adl.value: place for place, adl in enumerate(Adl)}
    harms: dict[int, list[Harm]] = {}
    held_out = unknown = 0
    for severity in (scoring.SEVERE, scoring.MILD):
        public = [findings.public.harms(entry, severity) for entry in findings.entries]
        held_out += sum(part.n_held_out for part in public)
        unknown += sum(part.n_unknown for part in public)
        harms[severity] = sorted(
            (harm for part in public for harm in part.shown),
            key=lambda h: (order.get(h.adl or "", len(order)), h.adl or "", h.scenario),
        )
    severe, mild = harms[scoring.SEVERE], harms[scoring.MILD]
    first = (severe or mild)[:MAX_WITHOUT_SCRIPTS]
    if not report.words_shown:
        first = [replace(harm, quote=None, reason="") for harm in first]
    return ErrorList(len(severe), len(mild), held_out, unknown, tuple(first))


def _scenario_texts(findings: Findings) -> dict[tuple[str, str], str]:
    """Return (name of a system, scenario) → text of the scenario, for public responses."""
    public = findings.public.responses
    rows = public.select("name", "scenario", "scenario_text").unique().sort(pl.all()).rows()
    return {(name, scenario): strip_controls(text or "") for name, scenario, text in rows}


HARMS = Section("harms", "Harms", "sections/harms.html", _harms)


def _situations(report: Report) -> Mapping[str, Any]:
    others = (Breakdown.condition, Breakdown.assistance, Breakdown.actor)
    return {
        "by_situation": parts_table(Breakdown.situation, report),
        "folded_tables": [parts_table(by, report) for by in others],
    }


SITUATIONS = Section("situations", "Situations", "sections/situations.html", _situations)


def _further_numbers(report: Report) -> Mapping[str, Any]:
    further = (table for table, _ in rubric_tables(report.entries))
    folded = (directions_table(report.findings, report.entries), *further)
    return {
        "curves": draw_figure(
            "worst_at_k",
            "The lowest of k responses",
            lambda width: charts.worst_at_k(report.entries, width),
        ),
        "at_k": [
            at_k_table(report, "worst_at_k", "The lowest of k responses, score"),
            at_k_table(
                report, "severe_of_k", "Scenarios with a severe error in any of k responses"
            ),
        ],
        "spread": None
        if report.has_one_entry
        else draw_figure(
            "distribution",
            "Scores of the scenarios",
            lambda width: charts.distributions(report.entries, width),
        ),
        "scenarios": scenarios_table(report),
        "folded_tables": [epochs_table(report), *(table for table in folded if table.rows)],
    }


FURTHER_NUMBERS = Section("more", "More", "sections/more.html", _further_numbers)


def _grader(report: Report) -> Mapping[str, Any]:
    findings = report.findings
    return {
        "graders": [panel for panel in grader_panels(findings).values() if panel.tables],
        "evidence": over_graders(findings, findings.items, findings.public.hidden),
    }


GRADER = Section("grader", "Grader", "sections/grader.html", _grader)


Options = Sequence[tuple[str, str]]


def filter_choices(report: Report) -> Mapping[str, Any]:
    """Return the options of each filter of the responses: values and labels.

    `words` tells whether the page has texts to search; `first_two` are the systems that the page
    first shows side by side.
    """
    data = report.payload.data

    def options(values: Iterable[str | None]) -> Options:
        return [(value, value) for value in dict.fromkeys(values) if value]

    scenarios = data["scenarios"]
    points = sorted({item[0] for item in data["items"]}, reverse=True)
    return {
        "adls": options(each[1] for each in scenarios),
        "conditions": sorted(options(each[2] for each in scenarios)),
        "situations": sorted(options(name for each in scenarios for name in each[4])),
        "actors": sorted(options(each[5] for each in scenarios)),
        "scenarios": options(each[0] for each in scenarios),
        "systems": options(data["systems"]),
        "graders": [(name, short) for name, short, _ in data["graders"]],
        "epochs": options(str(n) for n in sorted({row[2] for row in data["responses"]})),
        "points": [(str(n), SIGNED.text(n)) for n in points],
        "domains": [
            (str(place), DOMAINS[domain])
            for place, domain in enumerate(Domain)
            if any(item[2] >> place & 1 for item in data["items"])
        ],
        "words": report.words_shown,
        "first_two": data["systems"][:2],
    }


def _responses(report: Report) -> Mapping[str, Any]:
    return {"choice": filter_choices(report)}


def _can_compare(report: Report) -> bool:
    packed = report.payload
    return report.words_shown and packed.n_shown > 0 and len(packed.data["systems"]) > 1


RESPONSES = Section(
    "responses", "Responses", "sections/responses.html", _responses, lambda r: r.words_shown
)
BESIDE = Section(
    "beside", "Side by side", "sections/beside.html", _responses, _can_compare, needs_scripts=True
)


def _methods(report: Report) -> Mapping[str, Any]:
    by_system: dict[str, list[Entry]] = {}
    for each in report.entries:
        by_system.setdefault(each.name, []).append(each)
    text, bibtex = citations(report.entries)
    return {
        "graders": list(report.findings.cards),
        "is_read": any(each.rubric is not Rubric.plan for each in report.entries),
        "is_simulated": any(each.rubric is Rubric.plan for each in report.entries),
        "records": {system: run_facts(entries) for system, entries in by_system.items()},
        "costs": costs_table(report),
        "citation": text,
        "bibtex": bibtex,
    }


METHODS = Section("methods", "Methods", "sections/methods.html", _methods, lambda _: True)


SECTIONS = (
    ANSWER,
    ACTIVITIES,
    DOMAINS_SECTION,
    HARMS,
    SITUATIONS,
    FURTHER_NUMBERS,
    GRADER,
    RESPONSES,
    BESIDE,
    METHODS,
)
"""All sections, in order."""
