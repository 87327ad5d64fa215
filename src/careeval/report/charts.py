"""The figures, one function each, and how a figure becomes a part of the page.

A figure draws estimates that are given to it. Marks differ by shape, never by colour alone, and a
number without an interval is hollow. Colours are names until the page is shown: a reader's light or
dark page gives them their values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree import ElementTree

import altair as alt
import vl_convert

from careeval.report.words import entry_names, in_full
from careeval.results.summary import Errors, Summary
from careeval.stats import Estimate

WIDE, NARROW = 820, 300
"""Widths in pixels, everything included: for a desk, and for the smallest phone."""

_COLOURS = {
    "#010101": "ink",
    "#020202": "muted",
    "#030303": "line",
    "#040404": "accent",
    "#050505": "paper",
    "#060606": "harm",
    "#070707": "mild",
}
"""Colours as Vega draws them → the page's own names for them."""
_HEX = {name: colour for colour, name in _COLOURS.items()}

_ROW_HEIGHT = 32
_SCORE_ENDS, _SHARE_ENDS = (0, 100), (0, 10)
"""Percentages that an axis always shows."""

Figure = alt.LayerChart | alt.FacetChart

_SVG = "http://www.w3.org/2000/svg"


class _Place(NamedTuple):
    """A number and the ends of its interval, in percent; without one, the number thrice."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class _Mark:
    """One estimate in a figure: in which group of rows, on which row, and how it is drawn."""

    group: str
    row: str
    estimate: Estimate
    said: str
    shape: str = "circle"
    colour: str = "accent"
    interval: bool = True
    hollow: bool = False

    @property
    def place(self) -> _Place | None:
        """Where it stands; `None` where its value is unknown."""
        value = self.estimate.value
        if value is None:
            return None
        ends = (self.estimate.ci95 if self.interval else None) or (value, value)
        return _Place(*(round(100 * number, 1) for number in (value, *ends)))


def headline(summaries: Sequence[Summary], width: int = WIDE) -> Figure:
    """Score and worst of n on each rubric, a row an entry; hollow where it may not be ranked."""
    marks: list[_Mark] = []
    for name, s in zip(entry_names(summaries), summaries, strict=True):
        hollow = bool(s.not_ranked)
        marks += _score_and_worst("Ladder", name, s.score, s.worst_at_n, hollow)
        marks += _score_and_worst("Actions", name, s.action_score, s.action_worst_at_n, hollow)
    return _dots(marks, width, "% of the points", _SCORE_ENDS)


def activities(summaries: Sequence[Summary], width: int = WIDE) -> Figure:
    """Score and worst of n on the ladder by activity; hollow below five scenarios."""
    marks = [
        mark
        for name, s in zip(entry_names(summaries), summaries, strict=True)
        for adl, cell in s.by_adl.items()
        for mark in _score_and_worst(
            adl.capitalize(), name, cell.score, cell.worst_at_n, cell.small
        )
    ]
    return _dots(marks, width, "% of the points", _SCORE_ENDS)


def errors(summaries: Sequence[Summary], width: int = WIDE) -> Figure:
    """Share of responses with at least one error, by severity and rubric."""
    kinds = (
        ("Severe, ladder", "circle", "harm", "severe"),
        ("Severe, actions", "square", "harm", "action_severe"),
        ("Mild, ladder", "circle", "mild", "mild"),
        ("Mild, actions", "square", "mild", "action_mild"),
    )
    marks: list[_Mark] = []
    for kind, shape, colour, field in kinds:
        for name, s in zip(entry_names(summaries), summaries, strict=True):
            found: Errors | None = getattr(s, field)
            if found is not None:
                estimate = found.per_response
                said = f"{kind}, {name}: {in_full(estimate)}"
                marks.append(
                    _Mark(kind, name, estimate, said, shape, colour, hollow=estimate.ci95 is None)
                )
    return _dots(marks, width, "% of the responses", _SHARE_ENDS)


def inline_svg(figure: Figure, name: str, title: str, description: str) -> str:
    """A figure as an SVG element to stand in a page: named, described, in the page's own colours.

    Args:
        figure: The figure.
        name: Prefix of the ids in it; unique in the page.
        title: What it is.
        description: What it shows, and where the same numbers are as text.
    """
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(vl_convert.vegalite_to_svg(figure.to_dict()))
    for element in root.iter():
        for attribute in ("font-family", "style", "pointer-events"):
            element.attrib.pop(attribute, None)
        for attribute in ("fill", "stroke"):
            if (colour := _COLOURS.get(element.get(attribute, ""))) is not None:
                element.set(attribute, f"var(--{colour})")
    for tag, text in (("desc", description), ("title", title)):
        element = ElementTree.Element(f"{{{_SVG}}}{tag}", id=f"{name}-{tag}")
        element.text = text
        root.insert(0, element)
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title")
    root.set("aria-describedby", f"{name}-desc")
    return ElementTree.tostring(root, encoding="unicode")


def _score_and_worst(
    group: str, row: str, score: Estimate, worst: Estimate, hollow: bool
) -> tuple[_Mark, _Mark]:
    """The pair that most figures are about; the interval of the worst is left to the tables."""
    said = f"{group}, {row}"
    return (
        _Mark(group, row, score, f"{said}, score: {in_full(score)}", hollow=hollow),
        _Mark(
            group,
            row,
            worst,
            f"{said}, worst of n: {in_full(worst)}",
            shape="triangle-down",
            colour="harm",
            interval=False,
            hollow=hollow,
        ),
    )


def _dots(marks: Iterable[_Mark], width: int, unit: str, ends: tuple[int, int]) -> Figure:
    """Estimates as dots with their intervals; rows of one group stand together, under its name.

    Where there is one row only, the groups' names stand in its place. An unknown estimate has no
    mark: the table beside the figure says why.
    """
    known = [(mark, place) for mark in marks if (place := mark.place) is not None]
    rows = list(dict.fromkeys(mark.row for mark, _ in known))
    groups = list(dict.fromkeys(mark.group for mark, _ in known))
    grouped = len(rows) > 1 and rows != groups
    labels = rows if grouped else groups
    room = min(max((8 * len(label) for label in labels), default=0), width * 2 // 5)

    base = alt.Chart().encode(
        y=alt.Y(
            "row:N" if grouped else "group:N",
            sort=labels,
            title=None,
            axis=alt.Axis(
                labelLimit=room, labelPadding=10, labelFontSize=13, labelColor=_HEX["ink"]
            ),
        ),
        stroke=alt.Stroke("colour:N", scale=None),
        description="said:N",
    )
    domain = _domain((place for _, place in known), ends)

    def x(field: str) -> alt.X:
        zero = alt.condition("datum.value == 0", alt.value(_HEX["muted"]), alt.value(_HEX["line"]))
        axis = alt.Axis(grid=True, tickCount=5, labelFlush=False, gridColor=zero)
        return alt.X(field, title=unit, scale=alt.Scale(domain=list(domain), nice=False), axis=axis)

    lines = base.mark_rule(strokeWidth=2, aria=False).encode(x=x("low:Q"), x2="high:Q")
    points = base.mark_point(size=80, strokeWidth=2, opacity=1).encode(
        x=x("value:Q"),
        shape=alt.Shape("shape:N", scale=None),
        fill=alt.Fill("fill:N", scale=None),
    )
    figure = alt.LayerChart(
        layer=[lines, points],
        data=alt.InlineData(values=[_datum(mark, place) for mark, place in known]),
        width=width - room - 40,
        height=alt.Step(_ROW_HEIGHT),
    )
    return _styled(_under_groups(figure, groups) if grouped else figure)


def _datum(mark: _Mark, place: _Place) -> dict[str, object]:
    """A mark as Vega takes it."""
    colour = _HEX[mark.colour]
    return {
        "group": mark.group,
        "row": mark.row,
        "said": mark.said,
        "shape": mark.shape,
        "colour": colour,
        "fill": _HEX["paper"] if mark.hollow else colour,
        **place._asdict(),
    }


def _domain(places: Iterable[_Place], ends: tuple[int, int]) -> tuple[int, int]:
    """The ends given, moved out in tens as far as the marks and their intervals need."""
    low, high = ends
    for place in places:
        low = min(low, 10 * math.floor(min(place) / 10))
        high = max(high, 10 * math.ceil(max(place) / 10))
    return low, high


def _under_groups(figure: alt.LayerChart, groups: list[str]) -> alt.FacetChart:
    header = alt.Header(
        labelOrient="top",
        labelAnchor="start",
        labelFontSize=13,
        labelFontWeight=600,
        labelColor=_HEX["ink"],
    )
    row: alt.Row = alt.Row("group:N", sort=groups, title=None, header=header)
    return figure.facet(row=row)


def _styled(figure: Figure) -> Figure:
    """No frame and no background: a figure is a part of the page's text."""
    styled: Figure = (
        figure.configure(background=_HEX["paper"], padding=4)
        .configure_view(stroke=None)
        .configure_facet(spacing=12)
        .configure_axis(
            domain=False,
            ticks=False,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            titlePadding=8,
            labelColor=_HEX["muted"],
            titleColor=_HEX["muted"],
        )
    )
    return styled
