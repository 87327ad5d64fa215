"""The section Harms: the systems' severe and mild errors, with quotes from the responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from careeval import scoring
from careeval.core.scenario import Adl
from careeval.report.sections.responses import filter_choices
from careeval.report.sections.section import Report, Section
from careeval.report.words import strip_controls
from careeval.results.entries import Harm
from careeval.results.findings import Findings

MOST_WITHOUT_SCRIPTS = 50
"""Errors that the page shows without scripts."""


@dataclass(frozen=True)
class ErrorList:
    """The errors in a report: their numbers, and the first errors in full."""

    severe: int  # Severe errors in public responses, over all entries
    mild: int  # Mild errors in public responses, over all entries
    held_out: int  # Errors in held-out responses
    unknown: int  # Errors in responses whose split is unknown
    first: tuple[Harm, ...]
    """The first severe errors or, if there are none, mild errors; at most
    `MOST_WITHOUT_SCRIPTS`."""


@dataclass(frozen=True)
class ScenarioErrors:
    """Errors of one scenario that the page shows without scripts."""

    scenario: str
    text: str  # Text of the scenario; empty if the report is without texts
    passages: tuple[tuple[Harm, ...], ...]  # Errors grouped by grader, response and quote


def _fill(report: Report) -> Mapping[str, Any]:
    error_list = _error_list(report)
    texts = _scenario_texts(report.findings) if report.words_shown else {}
    first = _by_passage(error_list.first, texts)
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
    first = (severe or mild)[:MOST_WITHOUT_SCRIPTS]
    if not report.words_shown:
        first = [replace(harm, quote=None, reason="") for harm in first]
    return ErrorList(len(severe), len(mild), held_out, unknown, tuple(first))


def _by_passage(
    harms: Sequence[Harm], texts: Mapping[tuple[str, str], str]
) -> list[ScenarioErrors]:
    by_scenario: dict[tuple[str, str], dict[tuple[Any, ...], list[Harm]]] = {}
    for h in harms:
        scenario = (h.scenario, texts.get((h.system, h.scenario), ""))
        passages = by_scenario.setdefault(scenario, {})
        passages.setdefault((h.system, h.epoch, h.grader, h.quote), []).append(h)
    return [
        ScenarioErrors(scenario, text, tuple(map(tuple, passages.values())))
        for (scenario, text), passages in by_scenario.items()
    ]


def _scenario_texts(findings: Findings) -> dict[tuple[str, str], str]:
    """Return (system, scenario) → text of the scenario, for public responses."""
    public = findings.public.responses
    rows = public.select("system", "scenario", "scenario_text").unique().sort(pl.all()).rows()
    return {(system, scenario): strip_controls(text or "") for system, scenario, text in rows}


HARMS = Section("harms", "Harms", "sections/harms.html", _fill)
