"""The page of a study: one offline HTML file, first the decisions, then the numbers behind them.

Texts from raters are escaped like all text from outside.

A card is text; the full numbers are in the tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from careeval.core.rating import STEPS, Comment, Scale
from careeval.files import write_text
from careeval.people.study.decisions import (
    LEVELS,
    OF_SCENARIO,
    Decision,
    DecisionTerms,
    ItemResult,
    ScaleRatings,
    ScenarioResult,
)
from careeval.people.study.documents import agreement_sheet, pace_notes, panel_roles_sheet
from careeval.people.study.results import COEFFICIENTS, TRUE_SHARES, StudyResults
from careeval.people.study.sheets import (
    DECISIONS,
    ROLES,
    SCENARIO,
    SHARE_ALONE,
    UNDECIDED,
    across_roles_sheet,
    decisions_sheet,
    power_sheet,
    rated_items_sheet,
    scales_sheet,
    validity_sheet,
)
from careeval.report.documents import render_document
from careeval.report.page_table import PageColumn, PageTable
from careeval.results.held_out_words import WITHHELD
from careeval.sheets.kinds import DASH, Form
from careeval.sheets.sheet import Row, Sheet
from careeval.stats.validity import EndorsementRule

HEADINGS = {
    Decision.keep: "To be read before it is accepted",
    Decision.revise: "To be read when it is revised",
    Decision.drop: "To be read before it is given up",
    None: "To be read, whatever is decided",
}


@dataclass(frozen=True)
class StudyCard:
    """The card of one scenario."""

    result: ScenarioResult  # Result of the newest round of the scenario
    earlier: tuple[ScenarioResult, ...]  # Results of the rounds before

    @property
    def decision(self) -> str:
        """Decision on the scenario."""
        return decision_text(self.result)

    @property
    def heading(self) -> str:
        """Heading above the comments and ratings to read."""
        return HEADINGS[self.result.decision]

    @property
    def earlier_results(self) -> Iterator[str]:
        """Yield a sentence on each earlier round."""
        for each in self.earlier:
            counts = ", ".join(f"{j.scale} {_card_count(j)}" for j in each.judged)
            about = f"Round {each.subject.round}, version {each.subject.version}"
            yield f"{about}: {counts}; {decision_text(each).lower()}."

    @property
    def earlier_comments(self) -> Iterator[tuple[int, list[tuple[str, tuple[Comment, ...]]]]]:
        """Yield each earlier round that has comments that may be shown.

        Comments are listed with the text and name of their item; the text is empty for comments on
        the scenario itself.
        """
        for each in self.earlier:
            on_items = ((f"{i.text} ({i.name})".strip(), i.comments) for i in each.items)
            by_subject = (("", each.comments), *on_items)
            to_show = [
                (name, comments) for name, comments in by_subject if shown_comments(comments)
            ]
            if to_show:
                yield each.subject.round, to_show

    @property
    def items(self) -> list[ItemResult]:
        """Items with ratings or comments to read."""
        return [i for i in self.result.items if i.to_read or shown_comments(i.comments)]

    @property
    def n_withheld(self) -> int:
        """Number of comments on the scenario and its items that are not shown."""
        groups = (self.result.comments, *(item.comments for item in self.result.items))
        return sum(len(comments) - len(shown_comments(comments)) for comments in groups)

    @property
    def has_more_to_read(self) -> bool:
        """True if the card has comments or ratings to read, besides numbers."""
        result = self.result
        current = result.low_ratings or result.comments or self.items or self.n_withheld
        return bool(current) or any(True for _ in self.earlier_comments)


def study_cards(study: StudyResults) -> list[StudyCard]:
    """Return a card for each scenario, those that need work first."""
    earlier: dict[str, tuple[ScenarioResult, ...]] = {}
    for each in study.earlier:
        name = each.subject.scenario
        earlier[name] = (*earlier.get(name, ()), each)
    return [StudyCard(each, earlier.get(each.subject.scenario, ())) for each in study.worst_first]


def _card_count(judged: ScaleRatings) -> str:
    return SHARE_ALONE.text(judged.at_cut, Form.of_many) if judged.at_cut else DASH


def decision_text(result: ScenarioResult) -> str:
    """Return the decision on a scenario as text."""
    return DECISIONS[result.decision or UNDECIDED]


_TOPICS = {"": "", "missing": ", on what is missing", "country": ", on other countries"}


def shown_comments(comments: tuple[Comment, ...]) -> list[tuple[str, str]]:
    """Return the rater and the text of each comment that may be shown."""
    return [
        (f"{each.rater.id}, {ROLES[each.rater.role]}{_TOPICS[each.topic]}", each.text)
        for each in comments
        if each.text != WITHHELD
    ]


def bar_label(judged: ScaleRatings) -> str:
    """Return the ratings that a bar shows, as in "1 gave 3, 7 gave 5"."""
    counts = zip(LEVELS, judged.counts, strict=True)
    return f"{judged.scale}: {', '.join(f'{n} gave {level}' for level, n in counts if n)}"


def rating_sentences(judged: ScaleRatings) -> Iterator[str]:
    """Yield sentences on the ratings of a scenario or item on one scale."""
    if judged.at_cut is None:
        yield f"{judged.n_asked} were asked; {judged.reason}."
        return
    k, n = judged.at_cut.k, judged.at_cut.n
    needed = judged.reason or f"{judged.min_endorsements} were needed"
    yield f"{k} of {n} gave {judged.terms.endorsing}; {needed}."
    if judged.cut_sensitive:
        yield _otherwise(judged.terms, passes=not judged.passes)
    if (left := judged.n_asked - n) > 0:
        have = "has" if left == 1 else "have"
        yield f"{left} of {judged.n_asked} who were asked {have} not rated it."


def _otherwise(terms: DecisionTerms, *, passes: bool) -> str:
    """Return a sentence on the decision at the other cut."""
    between = " and ".join(map(str, range(*sorted((terms.cut, terms.other_cut)))))
    counted = "counted too" if terms.other_cut < terms.cut else "not counted"
    return f"With {between} {counted} it would{'' if passes else ' not'} pass."


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
    cards = study_cards(study)
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
        "shown_comments": shown_comments,
        "bar_label": bar_label,
        "rating_sentences": rating_sentences,
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
        spoken=lambda row: bar_label(row[scale]),
        look=lambda _: "picture",
    )


def _years(row: Row) -> Iterator[str]:
    if "n_years" in row:
        low, high = row["years_fewest"], row["years_most"]
        yield f"{'' if low is None else f'{low} to {high}, '}of {row['n_years']}"
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
