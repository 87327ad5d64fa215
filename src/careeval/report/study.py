"""A study's page: one offline HTML file, decisions first, then what stands behind them.

It draws what is found and computes no result. What raters wrote is escaped like all else that
anybody wrote.
"""

from __future__ import annotations

from pathlib import Path

from careeval.core.rating import ENDS, Scale
from careeval.files import write_text
from careeval.report import study_tables
from careeval.report.documents import document
from careeval.report.study_cards import entry, in_order
from careeval.report.study_words import DECISIONS
from careeval.results.decided import OF_SCENARIO, Decision
from careeval.results.judged import LEVELS
from careeval.results.study import StudyResults
from careeval.stats.validity import Rule

RULES = {
    Rule.paper: "at least eight in ten of its raters",
    Rule.lynn: "all its raters, or of six to eight all but one, or of nine or ten all but two,",
    Rule.polit: "at least 78% of its raters",
}
"""Who it takes to keep a scenario: "… gave 4 or 5"."""

COVERAGE = "92 to 96%"
"""Of the intervals of agreement, as `bench/results/agreement.json` has it."""


def write_study_page(found: StudyResults, path: Path) -> None:
    """Write `render_study` to a file, whose folder is made where it is not there.

    Raises:
        OSError: The file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, render_study(found))


def render_study(found: StudyResults) -> str:
    """The page as HTML: the same for the same results."""
    entries = [entry(each, found) for each in in_order(found.latest)]
    asked_items = any(each.items for each in found.latest)
    sections = [
        ("ratings", "Ratings"),
        ("panel", "Panel"),
        ("agreement", "Agreement"),
        ("roles", "Roles"),
        *([("items", "Items")] if asked_items else []),
        ("comments", "Comments"),
        ("methods", "Methods"),
    ]
    asked = (*OF_SCENARIO, *([Scale.relevance] if asked_items else []))
    values = {
        "title": found.title,
        "found": found,
        "nav": [("answer", "Decisions"), *sections],
        "counts": [(DECISIONS[d], len(found.decided(d))) for d in (*Decision, None)],
        "to_do": [e for e in entries if e.decision is not Decision.keep],
        "to_read": [e for e in entries if e.decision is Decision.keep and e.says_something],
        "commented": [e for e in entries if e.n_comments],
        "n_kept": len(found.decided(Decision.keep)),
        "pictures": study_tables.pictures(found),
        "whole": study_tables.whole(found),
        "scales": study_tables.scales(found),
        "panel": study_tables.panel(found),
        "agreement": study_tables.agreement(found),
        "roles": [study_tables.roles(found, scale) for scale in (Scale.realism, Scale.validity)],
        "items": study_tables.items(found) if asked_items else None,
        "power": study_tables.power(found),
        "notes": [said.note for said in found.rounds if said.note],
        "levels": LEVELS,
        "ends": [(scale.value, *ENDS[scale]) for scale in asked],
        "rule": RULES[found.terms.rule],
        "consent": _consent(found),
        "coverage": COVERAGE,
    }
    return document("study.html", values, styles=("base.css", "study.css"), scripts=("tables.js",))


def _consent(found: StudyResults) -> str:
    """What is recorded of consent, of those who rated."""
    agreed, rated = sum(role.n_agreed for role in found.panel), found.n_rated
    if not rated:
        return ""
    if agreed == rated:
        return "All who rated agreed, in the app, to the terms of the study."
    if not agreed:
        return "Whether they agreed to the terms of the study is not recorded here."
    return (
        f"{agreed} of the {rated} who rated agreed, in the app, to the terms of the study; of the "
        "rest, consent is not recorded here."
    )
