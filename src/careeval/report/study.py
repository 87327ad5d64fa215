"""A study's page: one offline HTML file, decisions first, then what stands behind them.

It draws what is found and computes no result. What raters wrote is escaped like all else that
anybody wrote.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup, escape

from careeval.core.rating import Comment, Role, Scale
from careeval.errors import StatsError
from careeval.report.documents import document
from careeval.report.tables import Cell, Head, Row, Table, text
from careeval.report.words import UNKNOWN
from careeval.results.exports import percent
from careeval.results.study import (
    LEVELS,
    PAPER_RATERS,
    TRUE_SHARES,
    Decision,
    ItemResult,
    Judged,
    RoleRatings,
    ScenarioResult,
    SCvi,
    StudyResults,
    chance_of_passing,
    signed,
)
from careeval.stats import Estimate
from careeval.stats.intervals import Interval
from careeval.stats.validity import MIN_RATERS

ROLES = {
    Role.occupational_therapist: "occupational therapist",
    Role.family_caregiver: "family caregiver",
    Role.person_with_disability: "person with a disability",
    Role.roboticist: "roboticist",
    Role.other: "other",
}

DECISIONS = {
    Decision.keep: "Keep",
    Decision.revise: "Revise",
    Decision.drop: "Drop",
    None: "Undecided",
}

_ORDER = (Decision.drop, Decision.revise, None, Decision.keep)
"""Of the list: what asks for work first."""

_WIDTH, _HEIGHT = 240, 24
"""Of a bar, in its own units."""

_NARROWEST = 14
"""A part of a bar that has room for its number."""


def write_study_page(found: StudyResults, path: Path) -> None:
    """Write `render_study` to a file, whose folder is made where it is not there.

    Raises:
        OSError: The file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_study(found), encoding="utf-8", newline="\n")


def render_study(found: StudyResults) -> str:
    """The page as HTML: the same for the same results."""
    entries = [_entry(each, found) for each in _in_order(found.latest)]
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
    values = {
        "title": found.title,
        "found": found,
        "nav": [("answer", "Decisions"), *sections],
        "counts": [(DECISIONS[d], len(found.decided(d))) for d in (*Decision, None)],
        "to_do": [e for e in entries if e.decision is not Decision.keep],
        "to_read": [e for e in entries if e.decision is Decision.keep and e.says_something],
        "commented": [e for e in entries if e.comments],
        "n_kept": len(found.decided(Decision.keep)),
        "pictures": _pictures(found),
        "whole": _whole(found),
        "scales": _scales(found),
        "panel": _panel(found),
        "agreement": _agreement(found),
        "roles": [_roles(found, scale) for scale in (Scale.realism, Scale.validity)],
        "items": _items(found) if asked_items else None,
        "power": _power(found),
        "notes": [said.note for said in found.rounds if said.note],
        "levels": LEVELS,
    }
    return document("study.html", values, styles=("base.css", "study.css"), scripts=("tables.js",))


# The list of decisions


@dataclass(frozen=True)
class Remark:
    """What somebody wrote, and of what."""

    who: str
    about: str
    text: str


@dataclass(frozen=True)
class OnScale:
    """One scale of a scenario: its bar, and its numbers in words."""

    scale: str
    bar: Markup
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """A scenario in the list."""

    id: str
    version: int
    decision: Decision | None
    says: str
    scales: tuple[OnScale, ...]
    reasons: tuple[str, ...]
    to_read: tuple[str, ...]
    comments: tuple[Remark, ...]
    before: tuple[str, ...]

    @property
    def says_something(self) -> bool:
        """Whether there is more to read of it than its numbers."""
        return bool(self.to_read or self.comments)


def _in_order(results: Iterable[ScenarioResult]) -> list[ScenarioResult]:
    return sorted(results, key=lambda s: (_ORDER.index(s.decision), s.subject.scenario))


def _entry(of: ScenarioResult, found: StudyResults) -> Entry:
    earlier = (e for e in found.earlier if e.subject.scenario == of.subject.scenario)
    return Entry(
        id=of.subject.scenario,
        version=of.subject.version,
        decision=of.decision,
        says=DECISIONS[of.decision],
        scales=tuple(OnScale(j.scale.value, _bar(j), tuple(_numbers(j))) for j in of.judged),
        reasons=of.reasons,
        to_read=of.to_read,
        comments=tuple(_remarks(of)),
        before=tuple(_before(each) for each in earlier),
    )


def _before(of: ScenarioResult) -> str:
    counts = ", ".join(f"{j.scale} {_count(j)}" for j in of.judged)
    what = DECISIONS[of.decision].lower()
    return f"Round {of.subject.round}, version {of.subject.version}: {counts}; {what}."


def _remarks(of: ScenarioResult) -> Iterable[Remark]:
    yield from (_remark(comment) for comment in of.comments)
    for item in of.items:
        yield from (_remark(comment, item) for comment in item.comments)


def _remark(comment: Comment, item: ItemResult | None = None) -> Remark:
    who = f"{comment.rater.id}, {ROLES[comment.rater.role]}"
    return Remark(who, f"on {item.name}" if item else "", comment.text)


def _numbers(of: Judged) -> Iterable[str]:
    if of.at_cut is None or of.at_other is None or of.aiken is None or of.kappa is None:
        yield f"{of.n_asked} were asked; {of.reason}."
        return
    low, high = of.at_cut.interval
    yield (
        f"{of.at_cut.k} of {of.at_cut.n} endorse it (I-CVI {_two(of.at_cut.value)}, "
        f"95% {_two(low)} to {_two(high)})"
    )
    sensitive = "; this decides otherwise" if of.cut_sensitive else ""
    yield f"At {of.terms.other_cut} or more: {of.at_other.k} of {of.at_other.n}{sensitive}"
    low, high = of.aiken.interval
    yield (
        f"Aiken’s V {_two(of.aiken.value)}, {_two(low)} to {_two(high)}; "
        f"modified kappa {_two(of.kappa)}"
    )
    if of.n_asked > of.at_cut.n:
        yield f"{of.n_asked - of.at_cut.n} of {of.n_asked} who were asked have not rated it"


# Pictures


def _bar(of: Judged) -> Markup:
    """How many gave each category, as parts of one bar whose width is everybody who rated it."""
    n = len(of.ratings)
    if not n:
        return Markup('<span class="none">not rated</span>')
    x, parts = 0.0, []
    for level, count in zip(LEVELS, of.counts, strict=True):
        width = _WIDTH * count / n
        if count:
            parts.append(
                f'<rect class="r{level}" x="{x:.2f}" y="0" width="{width:.2f}" height="{_HEIGHT}"/>'
            )
        if width >= _NARROWEST:
            parts.append(
                f'<text class="t{level}" x="{x + width / 2:.2f}" y="16.5" '
                f'text-anchor="middle">{count}</text>'
            )
        x += width
    said = ", ".join(
        f"{count} gave {level}" for level, count in zip(LEVELS, of.counts, strict=True) if count
    )
    # all of it is numbers, and names of ours
    return Markup(
        f'<svg class="bar" role="img" aria-label="{escape(of.scale.value)}: {said}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}">{"".join(parts)}</svg>'
    )


def _pictures(found: StudyResults) -> Table:
    rows: list[Row] = []
    for each in sorted(found.latest, key=lambda s: s.subject.scenario):
        cells = [text(each.subject.scenario, f"version {each.subject.version}")]
        for judged in each.judged:
            share = judged.at_cut.value if judged.at_cut else float("-inf")
            cells += [Cell(_bar(judged), key=share), Cell(_count(judged), key=share)]
        rows.append((*cells, text(DECISIONS[each.decision])))
    heads = ("Scenario", "Realism", "k/n", "Validity", "k/n", "Decision")
    return Table(
        "Every scenario’s ratings, and how many of its raters endorse it",
        tuple(Head(head, number=head == "k/n") for head in heads),
        rows,
        look="bars",
    )


# Tables


def _whole(found: StudyResults) -> Table:
    heads = ("Scenario", "Scale", "k/n", "I-CVI", "95%", "At the other cut", "Strict",
             "Modified kappa", "Aiken’s V", "95%", "Passes")  # fmt: skip
    rows: list[Row] = []
    for each in sorted(found.latest, key=lambda s: s.subject.scenario):
        for j in each.judged:
            rows.append((text(each.subject.scenario), text(j.scale.value), *_judged_cells(j)))
    return Table(
        "Every number of every scenario",
        tuple(Head(head, number=place > 1) for place, head in enumerate(heads)),
        rows,
        note="Strict: of all who were asked, a missing rating taken as no endorsement. * The other "
        "cut would decide otherwise.",
    )


def _judged_cells(of: Judged) -> Iterable[Cell]:
    if not (of.at_cut and of.at_other and of.strict and of.aiken) or of.kappa is None:
        return [text(of.reason), *[text(UNKNOWN)] * 8]
    passes = {True: "yes", False: "no", None: of.reason}[of.passes]
    return [
        _number(_count(of), of.at_cut.value),
        _number(_two(of.at_cut.value), of.at_cut.value),
        text(_range(of.at_cut.interval)),
        _number(f"{of.at_other.k}/{of.at_other.n}", of.at_other.value),
        _number(f"{of.strict.k}/{of.strict.n}", of.strict.value),
        _number(_two(of.kappa), of.kappa),
        _number(_two(of.aiken.value), of.aiken.value),
        text(_range(of.aiken.interval)),
        text(f"{passes}{' *' if of.cut_sensitive else ''}"),
    ]


def _scales(found: StudyResults) -> Table:
    heads = ("Scale", "When", "n", "Pass", "S-CVI/Ave", "S-CVI/UA")
    rows: list[Row] = []
    for each in found.scales:
        for when, of in (("round 1, all", each.before), ("last, not dropped", each.after)):
            rows.append((text(each.scale.value), text(when), *_s_cvi(of)))
    return Table(
        "The scales over all scenarios",
        tuple(Head(head, number=place > 1) for place, head in enumerate(heads)),
        rows,
        note="After scenarios are dropped or revised for low ratings, the average is higher by "
        "that selection alone. S-CVI/UA falls as raters are added: it describes a panel, and is no "
        "threshold. For S-CVI/Ave, .90 is usual.",
    )


def _s_cvi(of: SCvi) -> tuple[Cell, ...]:
    return (
        _number(str(of.n), of.n),
        _number(str(of.n_pass), of.n_pass),
        _number(_two(of.ave), of.ave),
        _number(_two(of.ua), of.ua),
    )


def _panel(found: StudyResults) -> Table:
    rows: list[Row] = []
    for role in Role:
        raters = [rater for rater in found.raters if rater.role is role]
        if not raters:
            continue
        ids = {rater.id for rater in raters}
        seats = [seat for said in found.rounds for seat in said.seats if seat.rater.id in ids]
        given = sum(r.rater.id in ids for said in found.rounds for r in said.ratings)
        typed = sum(seat.n_typed for seat in seats)
        rows.append(
            (
                text(ROLES[role]),
                _number(str(len(raters)), len(raters)),
                _number(str(sum(len(seat.scenarios) for seat in seats)), None),
                _number(f"{given:,}", given),
                _number(str(typed), typed),
            )
        )
    heads = ("Role", "Raters", "Scenarios asked of them", "Ratings given", "Typed for them")
    return Table(
        "Who rated", tuple(Head(head, number=place > 0) for place, head in enumerate(heads)), rows
    )


def _agreement(found: StudyResults) -> Table:
    heads = ("Scale", "Round", "Raters", "Rated", "Identical pairs", "Gwet’s AC1", "Gwet’s AC2",
             "Alpha, ordinal", "ICC(2,k)")  # fmt: skip
    rows: list[Row] = [
        (
            text(of.scale.value),
            _number(str(of.round), of.round),
            _number(str(of.n_raters), of.n_raters),
            _number(str(of.n_subjects), of.n_subjects),
            *(_estimated(e) for e in (of.identical, of.ac1, of.ac2, of.alpha, of.icc)),
        )
        for of in found.agreement
    ]
    return Table(
        "How far raters agree",
        tuple(Head(head, number=place > 0) for place, head in enumerate(heads)),
        rows,
    )


def _estimated(of: Estimate) -> Cell:
    if of.value is None:
        return Cell(UNKNOWN, (of.reason,), key=float("-inf"))
    aside = _range(Interval(*of.ci95)) if of.ci95 else ""
    return Cell(_two(of.value), (aside,) if aside else (), key=of.value)


def _roles(found: StudyResults, scale: Scale) -> Table:
    present = list(dict.fromkeys(rater.role for rater in found.raters))
    rows: list[Row] = []
    for each in sorted(found.latest, key=lambda s: s.subject.scenario):
        (judged,) = (j for j in each.judged if j.scale is scale)
        by_role = {given.role: given for given in judged.by_role}
        rows.append((text(each.subject.scenario), *(_role(by_role.get(r)) for r in present)))
    return Table(
        f"{scale.value.capitalize()}, by role",
        (Head("Scenario"), *(Head(ROLES[role].capitalize(), number=True) for role in present)),
        rows,
    )


def _role(given: RoleRatings | None) -> Cell:
    if given is None:
        return Cell("–", key=float("-inf"))
    of = given.endorsed
    if of.n < MIN_RATERS:
        raw = ", ".join(map(str, given.values))
        return Cell(f"{of.k}/{of.n}", (f"gave {raw}", f"lowest {given.lowest}"), key=of.value)
    asides = [_range(of.interval)]
    if given.passes is not None:
        asides.append("passes alone" if given.passes else "does not pass alone")
    return Cell(f"{of.k}/{of.n}", tuple(asides), key=of.value)


def _items(found: StudyResults) -> Table:
    heads = ("Scenario", "Item", "Relevance k/n", "Aiken’s V", "Points proposed", "Agree",
             "Would give", "Unsure", "Comments")  # fmt: skip
    rows: list[Row] = []
    for each in sorted(found.latest, key=lambda s: s.subject.scenario):
        for item in each.items:
            rows.append((text(each.subject.scenario), text(item.name), *_item_cells(item)))
    return Table(
        "Every item that was rated or spoken of",
        tuple(Head(head, number=place > 1) for place, head in enumerate(heads)),
        rows,
    )


def _item_cells(of: ItemResult) -> Iterable[Cell]:
    v = of.relevance.aiken
    yield _number(_count(of.relevance), v.value if v else None)
    yield _number(_two(v.value if v else None), v.value if v else None)
    yield text(signed(of.views[0].proposed) if of.views else "–")
    unsure = sum(view.points is None for view in of.views)
    agree = len(of.views) - unsure - len(of.objections)
    others = sorted(view.points for view in of.objections if view.points is not None)
    yield _number(str(agree), agree)
    yield text(", ".join(map(signed, others)) or "–")
    yield _number(str(unsure), unsure)
    yield _number(str(len(of.comments)), len(of.comments))


def _power(found: StudyResults) -> Table:
    rule = found.terms.rule
    rows: list[Row] = []
    for n in sorted({*found.panel_sizes, PAPER_RATERS}):
        try:
            least = f"{rule.least(n)} of {n}"
        except StatsError as error:
            rows.append((text(str(n), str(error)), *[text("–")] * (1 + len(TRUE_SHARES))))
            continue
        chances = [chance_of_passing(n, share, rule) for share in TRUE_SHARES]
        cells = (_number(f"{percent(chance)}%", chance) for chance in chances)
        rows.append((text(str(n)), text(least), *cells))
    heads = ("Raters", "Needed", *(f"{share:.0%} would endorse" for share in TRUE_SHARES))
    return Table(
        "How often a scenario passes, by how many of all such raters would endorse it",
        tuple(Head(head, number=place > 0) for place, head in enumerate(heads)),
        rows,
        note="Raters taken as drawn at random, and rating on their own.",
    )


def _count(of: Judged) -> str:
    return f"{of.at_cut.k}/{of.at_cut.n}" if of.at_cut else "–"


def _number(says: str, key: float | None) -> Cell:
    return Cell(says, key=float("-inf") if key is None else float(key))


def _two(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-", "−")


def _range(of: Interval) -> str:
    return f"{_two(of.low)} to {_two(of.high)}"
