"""The page of a study: one offline HTML file, first the decisions, then the numbers behind them.

Texts from raters are escaped like all text from outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from careeval.core.rating import STEPS, Scale
from careeval.files import write_text
from careeval.people.study import page_cards as study_cards
from careeval.people.study.kinds import DECISIONS, UNDECIDED
from careeval.people.study.rater_agreement import COEFFICIENTS
from careeval.people.study.rater_sheets import agreement_sheet, pace_notes, panel_roles_sheet
from careeval.people.study.results import TRUE_SHARES, StudyResults
from careeval.people.study.scale_ratings import LEVELS
from careeval.people.study.scenario_decisions import OF_SCENARIO, Decision
from careeval.people.study.scenario_sheets import (
    SCENARIO,
    across_roles_sheet,
    decisions_sheet,
    power_sheet,
    rated_items_sheet,
    scales_sheet,
    validity_sheet,
)
from careeval.report.documents import render_document
from careeval.report.page_table import PageColumn, PageTable
from careeval.sheets.kinds import Form
from careeval.sheets.sheet import Row, Sheet
from careeval.stats.validity import EndorsementRule

RULES = {
    EndorsementRule.paper: "at least eight in ten of its raters",
    EndorsementRule.lynn: "all its raters, or of six to eight all but one, "
    "or of nine or ten all but two,",
    EndorsementRule.polit: "at least 78% of its raters",
}
"""Rule → the raters who must endorse a scenario to keep it, as in "… gave 4 or 5"."""

COVERAGE = "92 to 96%"
"""Coverage of the intervals of agreement, from `bench/results/agreement.json`."""


def write_study_page(study: StudyResults, path: Path) -> None:
    """Write the page of a study to a file; its folder is created if missing.

    Raises:
        OSError: The file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, render_study(study))


def render_study(study: StudyResults) -> str:
    """Return the page of a study as HTML. The same results give the same text."""
    cards = study_cards.cards(study)
    kept = [card for card in cards if card.result.decision is Decision.keep]
    asked_items = any(each.items for each in study.latest)
    sections = ("ratings", "panel", "agreement", "roles", "items", "comments", "methods")
    scales = (*OF_SCENARIO, *([Scale.relevance] if asked_items else []))
    values = {
        "title": study.title,
        "study": study,
        "nav": [
            ("answer", "Decisions"),
            *((id, id.capitalize()) for id in sections if id != "items" or asked_items),
        ],
        "counts": [
            (DECISIONS[d or UNDECIDED], len(study.with_decision(d))) for d in (*Decision, None)
        ],
        "to_do": [card for card in cards if card not in kept],
        "to_read": [card for card in kept if card.has_more_to_read],
        "commented": [card for card in cards if card.result.n_comments],
        "n_kept": len(kept),
        "shown_comments": study_cards.shown_comments,
        "bar_label": study_cards.bar_label,
        "rating_sentences": study_cards.rating_sentences,
        **_tables(study),
        "roles": [_roles(study, scale) for scale in OF_SCENARIO],
        "items": _items(study) if asked_items else None,
        "notes": [*(each.note for each in study.rounds if each.note), *pace_notes(study)],
        "levels": LEVELS,
        "ends": [(scale.value, STEPS[scale][0], STEPS[scale][-1]) for scale in scales],
        "rule": RULES[study.terms.rule],
        "consent": _consent(study),
        "coverage": COVERAGE,
    }
    return render_document(
        "study.html", values, styles=("base.css", "study.css"), scripts=("tables.js",)
    )


def _consent(study: StudyResults) -> str:
    """Return a sentence on the recorded consent of those who rated."""
    agreed, rated = sum(role.n_agreed for role in study.panel), study.n_rated
    if not rated:
        return ""
    if agreed == rated:
        return "All who rated agreed to the terms of the study."
    if not agreed:
        return "Whether the raters agreed to the terms of the study is not recorded here."
    return (
        f"{agreed} of the {rated} who rated agreed to the terms of the study; for the "
        "others, consent is not recorded here."
    )


# Tables


def _table(
    sheet: Sheet, columns: Sequence[PageColumn | str], caption: str = "", *, sortable: bool = True
) -> PageTable:
    """Return a sheet as a page table; a column may be given as the key of its field."""
    page_columns = (PageColumn(column) if isinstance(column, str) else column for column in columns)
    return PageTable(sheet, tuple(page_columns), caption, cards=True, sortable=sortable)


def _count(key: str, head: str = "") -> PageColumn:
    """Return a column that shows a count out of a total, or why it is unknown."""
    return replace(_number(key), head=head, form=Form.of_many, lines=False)


def _number(key: str) -> PageColumn:
    """Return a column that shows a number, or why it is unknown."""
    return PageColumn(key, beneath=lambda row: () if row.get(key) is not None else _reason(row))


def _reason(row: Row) -> Iterator[str]:
    if row.get("reason"):
        yield row["reason"]


def _tables(study: StudyResults) -> dict[str, PageTable]:
    caption = f"Every scenario’s ratings, and how many of its raters gave {study.terms.endorsing}"
    version = PageColumn("scenario", beneath=lambda row: (f"version {row['version']}",))
    numbers = (
        _count("i_cvi", "k/n"),
        _number("i_cvi"),
        _count("i_cvi_other"),
        _count("i_cvi_strict"),
        *map(_number, ("modified_kappa", "aiken_v", "passes", "cut_sensitive")),
    )
    counts = ("role", "n_invited", "n_rated", "n_asked", "n_ratings", "n_typed", "n_too_fast")
    rated = ("scale", "round", "n_raters", "n_subjects", "n_complete")
    chances = (_number(f"if_{share}") for share in TRUE_SHARES)
    return {
        "pictures": _table(
            decisions_sheet(study, study.latest),
            (version, "decision", *map(_bar, OF_SCENARIO)),
            caption,
        ),
        "whole": _table(validity_sheet(study.latest, items=False), ("scenario", "scale", *numbers)),
        "scales": _table(
            scales_sheet(study), ("scale", "when", "n", "n_pass", "s_cvi_ave", "s_cvi_ua")
        ),
        "panel": _table(
            panel_roles_sheet(study), (*counts, PageColumn("years_mean", beneath=_years))
        ),
        "agreement": _table(agreement_sheet(study), (*rated, *COEFFICIENTS)),
        "power": _table(
            power_sheet(study),
            (PageColumn("n", beneath=_reason), _count("needed"), *chances),
            sortable=False,
        ),
    }


def _bar(scale: Scale) -> PageColumn:
    return PageColumn(
        scale,
        parts=lambda row: row[scale].counts,
        spoken=lambda row: study_cards.bar_label(row[scale]),
        look=lambda _: "picture",
    )


def _years(row: Row) -> Iterator[str]:
    if "n_years" in row:
        fewest, most = row["years_fewest"], row["years_most"]
        yield f"{'' if fewest is None else f'{fewest} to {most}, '}of {row['n_years']}"
    else:
        yield from _reason(row)


def _roles(study: StudyResults, scale: Scale) -> PageTable:
    sheet = across_roles_sheet(study, scale)
    return _table(sheet, ("scenario", *(f.key for f in sheet.fields[len(SCENARIO) :])))


def _items(study: StudyResults) -> PageTable:
    words = PageColumn("words", beneath=lambda row: (row["name"],), look=lambda _: "long-words")
    relevance = PageColumn("relevance")
    aiken = replace(_number("aiken_v"), lines=False)
    keys = ("proposed", "n_agree", "would_give", "n_unsure")
    points = (PageColumn(key, beneath=_why_no_points) for key in keys)
    sheet = rated_items_sheet(study.latest)
    return _table(sheet, ("scenario", words, relevance, aiken, *points, "n_comments"))


def _why_no_points(row: Row) -> Iterator[str]:
    if row["proposed"] is None:
        yield "nobody gave a view of them"
