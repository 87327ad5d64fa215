"""The section of the errors that were found, in the responses' own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from careeval import scoring
from careeval.core.scenario import Adl
from careeval.report.sections.responses import choice
from careeval.report.sections.section import Report, Section
from careeval.report.words import visible
from careeval.results.findings import Findings
from careeval.results.score.harms import Harm

MOST_WITHOUT_SCRIPTS = 50
"""Errors of the ledger that stand in the page for whoever runs no scripts."""


@dataclass(frozen=True)
class Ledger:
    """Errors as a report counts them, and the first of them.

    Attributes:
        severe: In public responses, over all entries.
        mild: The same.
        held_out: Of both, in responses that are held out.
        unknown: Of both, in responses whose split is not known.
        first: The first of the severe ones, or else of the mild ones, in order.
    """

    severe: int
    mild: int
    held_out: int
    unknown: int
    first: tuple[Harm, ...]


@dataclass(frozen=True)
class ScenarioErrors:
    """Errors of one scenario in the page itself.

    Attributes:
        text: What was asked; empty where words are left out.
        passages: The errors that one grader found in the same words of the same response.
    """

    scenario: str
    text: str
    passages: tuple[tuple[Harm, ...], ...]


def _fill(report: Report) -> Mapping[str, Any]:
    ledger = _ledger(report)
    asked = _asked(report.findings) if report.words_shown else {}
    first = _by_passage(ledger.first, asked)
    return {
        "n_errors": ledger,
        "first_harms": first,
        "n_passages": sum(len(each.passages) for each in first),
        "n_graders": len(report.findings.cards),
        "choice": choice(report),
    }


def _ledger(report: Report) -> Ledger:
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
    return Ledger(len(severe), len(mild), held_out, unknown, tuple(first))


def _by_passage(
    harms: Sequence[Harm], asked: Mapping[tuple[str, str], str]
) -> list[ScenarioErrors]:
    by_scenario: dict[tuple[str, str], dict[tuple[Any, ...], list[Harm]]] = {}
    for h in harms:
        scenario = (h.scenario, asked.get((h.system, h.scenario), ""))
        passages = by_scenario.setdefault(scenario, {})
        passages.setdefault((h.system, h.epoch, h.grader, h.quote), []).append(h)
    return [
        ScenarioErrors(scenario, text, tuple(map(tuple, passages.values())))
        for (scenario, text), passages in by_scenario.items()
    ]


def _asked(findings: Findings) -> dict[tuple[str, str], str]:
    """Return (system, scenario) → what was asked, for public responses."""
    public = findings.public.responses
    rows = public.select("system", "scenario", "scenario_text").unique().sort(pl.all()).rows()
    return {(system, scenario): visible(text or "") for system, scenario, text in rows}


HARMS = Section("harms", "Harms", "sections/harms.html", _fill)
