"""Figures: what they draw, and that they become elements of a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest

from careeval.report import charts
from careeval.results.summary import Summary, summarise
from careeval.results.tables import Runs

DRAWN = [charts.headline, charts.activities, charts.errors]


def _data(figure: charts.Figure) -> list[dict[str, Any]]:
    (values,) = figure.to_dict()["datasets"].values()
    return list(values)


def test_a_score_stands_where_the_summary_says(summaries: list[Summary]) -> None:
    """A score is drawn at its percentage, from one end of its interval to the other."""
    cell = summaries[0].by_adl["dressing"]  # type: ignore[index]
    assert cell.score.value is not None
    assert cell.score.ci95 is not None
    (mark,) = [
        mark
        for mark in _data(charts.activities(summaries))
        if (mark["group"], mark["row"], mark["shape"]) == ("Dressing", "alpha", "circle")
    ]
    ends = [cell.score.value, *cell.score.ci95]
    assert [mark["value"], mark["low"], mark["high"]] == [round(100 * end, 1) for end in ends]


def test_a_small_cell_is_hollow(summaries: list[Summary]) -> None:
    """A cell of four scenarios or fewer is hollow without an interval; one of five is neither."""
    marks = _data(charts.activities(summaries))
    assert {m["fill"] == m["colour"] for m in marks if m["group"] == "Dressing"} == {True}
    assert {m["fill"] == m["colour"] for m in marks if m["group"] == "Eating"} == {False}
    assert all(m["low"] == m["value"] == m["high"] for m in marks if m["group"] == "Eating")


def test_what_may_not_be_ranked_is_hollow(one_run: Runs, runs: Runs) -> None:
    """Beside other systems one that may not be ranked is hollow, and one that may is not."""
    lexical, ranked = (_data(charts.headline(summarise(r))) for r in (one_run, runs))
    assert all(mark["fill"] != mark["colour"] for mark in lexical)
    assert all(mark["fill"] == mark["colour"] for mark in ranked)


def test_an_unknown_number_is_not_drawn(runs: Runs) -> None:
    """A worst of n that is unknown has no mark: it is not at 0."""
    missing = runs.responses.to_dicts()
    judged = runs.judgments.to_dicts()
    missing[0] |= {"state": "missing", "text": ""}
    key = tuple(missing[0][name] for name in ("system", "scenario", "epoch"))
    kept = [j for j in judged if (j["system"], j["scenario"], j["epoch"]) != key]
    marks = _data(charts.headline(summarise(Runs.of(missing, kept))))
    assert {(m["row"], m["shape"]) for m in marks} == {
        ("alpha", "circle"),
        ("beta", "circle"),
        ("beta", "triangle-down"),
    }


@pytest.mark.parametrize("draw", DRAWN)
@pytest.mark.parametrize("width", [charts.WIDE, charts.NARROW])
def test_every_figure_becomes_an_svg(
    draw: Callable[..., charts.Figure], width: int, summaries: list[Summary]
) -> None:
    """Every figure fits its width, has a name and a description, and takes the page's colours."""
    text = charts.inline_svg(draw(summaries, width), "here", "A <figure>", "What it shows.")
    root = ElementTree.fromstring(text)
    assert float(root.attrib["width"]) <= width
    assert root.attrib["role"] == "img"
    assert [child.text for child in root][:2] == ["A <figure>", "What it shows."]
    ids = {child.attrib["id"] for child in root if "id" in child.attrib}
    assert {root.attrib["aria-labelledby"], root.attrib["aria-describedby"]} == ids
    assert "var(--accent)" in text or "var(--harm)" in text
    assert not any(colour in text for colour in ("#010101", "#04", "#05", "style=", "font-family"))


def test_said_numbers_are_rounded(summaries: list[Summary]) -> None:
    """What a mark says of itself is a percentage with one decimal, as everywhere on the page."""
    said = next(m["said"] for m in _data(charts.headline(summaries)))
    assert said.startswith("Ladder, alpha, score: ")
    assert all(len(word.strip("%,").partition(".")[2]) <= 1 for word in said.split())


def test_nothing_graded_is_an_empty_figure() -> None:
    """Without an entry a figure is still one, with nothing on it."""
    assert _data(charts.activities([])) == []
