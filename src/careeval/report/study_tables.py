"""The tables of a study's page: every number, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from careeval.core.rating import Scale
from careeval.errors import StatsError
from careeval.report.study_bars import bar, count_of
from careeval.report.study_words import DECISIONS, ROLES
from careeval.report.tables import Cell, Head, Row, Table, text
from careeval.results.amounts import percent
from careeval.results.decided import ItemResult, signed
from careeval.results.judged import Judged, RoleRatings
from careeval.results.panel import RolePanel
from careeval.results.rater_agreement import CUT_REMARK, DESCRIBES, Agreement, any_cut, low_end
from careeval.results.study import (
    PAPER_RATERS,
    TRUE_SHARES,
    SCvi,
    StudyResults,
    chance_of_passing,
)
from careeval.sheets.kinds import UNKNOWN
from careeval.stats import Estimate
from careeval.stats.intervals import Interval
from careeval.stats.validity import MIN_RATERS


def pictures(found: StudyResults) -> Table:
    """A bar a scale, a row a scenario."""
    rows: list[Row] = []
    for each in sorted(found.latest, key=lambda s: s.subject.scenario):
        cells = [
            text(each.subject.scenario, f"version {each.subject.version}"),
            text(DECISIONS[each.decision]),
        ]
        for judged in each.judged:
            share = judged.at_cut.value if judged.at_cut else float("-inf")
            cells += [
                Cell(bar(judged), key=share, look="picture"),
                _number(count_of(judged), share),
            ]
        rows.append(tuple(cells))
    heads = ("Scenario", "Decision", "Realism", "k/n", "Validity", "k/n")
    return Table(
        f"Every scenario’s ratings, and how many of its raters gave {found.terms.endorsing}",
        tuple(Head(head, number=head == "k/n") for head in heads),
        rows,
        look="bars",
    )


# Tables


def whole(found: StudyResults) -> Table:
    """A row a scenario and scale."""
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
    if not (of.at_cut and of.at_other and of.strict):
        return [text(of.reason), *[text(UNKNOWN)] * 8]
    v = of.aiken
    without = Cell(UNKNOWN, (of.too_few,), key=float("-inf"))
    passes = {True: "yes", False: "no", None: of.reason}[of.passes]
    return [
        _number(count_of(of), of.at_cut.value),
        _number(_two(of.at_cut.value), of.at_cut.value),
        text(_range(of.at_cut.interval)),
        _number(f"{of.at_other.k}/{of.at_other.n}", of.at_other.value),
        _number(f"{of.strict.k}/{of.strict.n}", of.strict.value),
        without if of.kappa is None else _number(_two(of.kappa), of.kappa),
        without if v is None else _number(_two(v.value), v.value),
        text(_range(v.interval) if v else "–"),
        text(f"{passes}{' *' if of.cut_sensitive else ''}"),
    ]


def scales(found: StudyResults) -> Table:
    """A row a scale, before and after revision."""
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


def panel(found: StudyResults) -> Table:
    """A row a role."""
    rows: list[Row] = [
        (
            text(ROLES[of.role]),
            _number(str(of.n_invited), of.n_invited),
            _number(str(of.n_rated), of.n_rated),
            _number(str(of.n_asked), of.n_asked),
            _number(f"{of.n_ratings:,}", of.n_ratings),
            _number(str(of.n_typed), of.n_typed),
            _years(of),
        )
        for of in found.panel
    ]
    heads = ("Role", "Invited", "Rated", "Scenarios asked of them", "Ratings given",
             "Answers typed for them", "Years of experience")  # fmt: skip
    return Table(
        "Who was invited, and who rated",
        tuple(Head(head, number=place > 0) for place, head in enumerate(heads)),
        rows,
        note="Years of those who rated and said how many: the mean of three or more people, "
        "the range of five or more.",
    )


def _years(of: RolePanel) -> Cell:
    if of.years is None:
        return Cell(UNKNOWN, (of.why_no_years,), key=float("-inf"))
    years = of.years
    spread = f"of {years.n}" if years.low is None else f"{years.low} to {years.high}, of {years.n}"
    return Cell(f"{years.mean:.1f}", (spread,), key=years.mean)


def agreement(found: StudyResults) -> Table:
    """A row a round and scale."""
    heads = ("Scale", "Round", "Raters", "Rated", "Identical pairs", "Gwet’s AC1", "Gwet’s AC2",
             "Alpha, ordinal", "ICC(2,k)")  # fmt: skip
    rows: list[Row] = [
        (
            text(of.scale.value),
            _number(str(of.round), of.round),
            _number(str(of.n_raters), of.n_raters),
            _number(str(of.n_subjects), of.n_subjects),
            *(_estimated(e) for e in (of.identical, of.ac1, of.ac2, of.alpha)),
            _icc(of),
        )
        for of in found.agreement
    ]
    return Table(
        "How far raters agree",
        tuple(Head(head, number=place > 0) for place, head in enumerate(heads)),
        rows,
        note=CUT_REMARK if any_cut(found.agreement) else "",
    )


def _estimated(of: Estimate) -> Cell:
    if of.value is None:
        return Cell(UNKNOWN, (of.reason,), key=float("-inf"))
    if of.ci95:
        return Cell(_two(of.value), (_range_of_agreement(Interval(*of.ci95)),), key=of.value)
    why = () if of.reason == DESCRIBES else (f"no interval: {of.reason}",)
    return Cell(_two(of.value), why, key=of.value)


def _icc(of: Agreement) -> Cell:
    """With what it rests on beside it."""
    found = _estimated(of.icc)
    if of.icc.value is None:
        return found
    return replace(found, asides=(*found.asides, f"over {of.n_complete} rated by all"))


def roles(found: StudyResults, scale: Scale) -> Table:
    """A column a role, of those who rated."""
    present = [of.role for of in found.panel if of.n_rated]
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


def items(found: StudyResults) -> Table:
    """A row an item."""
    heads = ("Scenario", "Item", "Relevance k/n", "Aiken’s V", "Points proposed", "Agree",
             "Would give", "Unsure", "Comments")  # fmt: skip
    rows: list[Row] = []
    for each in sorted(found.latest, key=lambda s: s.subject.scenario):
        for item in each.items:
            words = text(item.text, item.name, look="long-words") if item.text else text(item.name)
            rows.append((text(each.subject.scenario), words, *_item_cells(item)))
    return Table(
        "Every item that was rated or spoken of",
        tuple(Head(head, number=place > 1) for place, head in enumerate(heads)),
        rows,
    )


def _item_cells(of: ItemResult) -> Iterable[Cell]:
    v = of.relevance.aiken
    yield _number(count_of(of.relevance), v.value if v else None)
    yield _number(_two(v.value if v else None), v.value if v else None)
    yield text(signed(of.views[0].proposed) if of.views else "–")
    unsure = sum(view.points is None for view in of.views)
    agree = len(of.views) - unsure - len(of.objections)
    others = sorted(view.points for view in of.objections if view.points is not None)
    yield _number(str(agree), agree)
    yield text(", ".join(map(signed, others)) or "–")
    yield _number(str(unsure), unsure)
    yield _number(str(len(of.comments)), len(of.comments))


def power(found: StudyResults) -> Table:
    """A row a size of panel."""
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
        "How often one scale passes, by how many of all such raters would endorse it",
        tuple(Head(head, number=place > 0) for place, head in enumerate(heads)),
        rows,
        note="Raters taken as drawn at random, and rating on their own.",
    )


def _number(says: str, key: float | None) -> Cell:
    return Cell(says, key=float("-inf") if key is None else float(key))


def _two(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-", "−")


def _range_of_agreement(of: Interval) -> str:
    """Of an agreement: its lower end may be cut."""
    return f"{low_end(of.low)} to {_two(of.high)}"


def _range(of: Interval) -> str:
    return f"{_two(of.low)} to {_two(of.high)}"
