"""Figures: their marks, layout without overlap, and conversion to SVG and PNG."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import resvg_py
from hypothesis import given
from hypothesis import strategies as st

from careeval.core.text import percent
from careeval.report import charts
from careeval.report.charts import drawing, svg
from careeval.report.charts.drawing import Axis, Band, Box, Curve, Point, Segment, TextLine
from careeval.report.charts.plots import Area, place_labels, spread_labels
from careeval.report.documents import write_figures
from careeval.report.texts import in_full
from careeval.results.entry import Entry
from careeval.results.findings import Findings, findings
from careeval.results.graded_rubric import Errors
from careeval.results.tables import Runs
from careeval.stats.estimate import Estimate
from results.authored import changed


def with_numbers(summary: Entry, **numbers: Estimate | Errors) -> Entry:
    """Return a summary with other numbers."""
    return changed(summary, numbers={**summary.numbers, **numbers})


Draw = Callable[[Sequence[Entry], int], charts.Figure]

DRAWN: dict[str, Draw] = {
    "overview": lambda entries, _: charts.overview(entries),
    "worst_at_k": charts.worst_at_k,
    "distributions": charts.distributions,
    "cost_scatter": charts.cost_scatter,
    "worst_scatter": charts.worst_scatter,
    "severity_scatter": lambda entries, width: charts.severity_scatter(
        [(each.name, each.severe, each.score, False) for each in entries], width
    ),
}


def sizes(names: Iterable[str], *more: int) -> list[tuple[str, int]]:
    """Each figure with each width that it is drawn for."""
    return [
        (name, width)
        for name in names
        for width in (charts.WIDE, *(() if name == "overview" else (*more, charts.NARROW)))
    ]


LONG = "vendor/some-model-2026-08-07-high-reasoning-{:02}"
HOSTILE = [
    '<script>alert("1")</script> {{ 7 * 7 }} \x00\x1b[31m\u202e',
    "'; \" & ]]> --><!--\n\tx\ufffe",
]


@pytest.fixture(scope="module")
def graded(two_systems: Findings) -> list[Entry]:
    """Two entries with their numbers."""
    return list(two_systems.entries)


def _points(figure: charts.Figure, shape: str = "circle") -> list[Point]:
    """Return the points with a label."""
    return [m for m in figure.marks if isinstance(m, Point) and m.shape == shape and m.label]


def _texts(figure: charts.Figure) -> list[str]:
    return [m.text for m in figure.marks if isinstance(m, TextLine)]


def _tick(figure: charts.Figure, label: str) -> float:
    return next(m.x for m in figure.marks if isinstance(m, TextLine) and m.text == label)


def _many(graded: Sequence[Entry], n: int) -> list[Entry]:
    """So many entries that differ in name and, a little, in score and cost."""
    made = []
    for k in range(n):
        each = graded[k % 2]
        value = 0.3 + 0.01 * (k * 7 % n)
        asking = replace(each.cost.asking, value=1.0, reason="", per_response=0.001 * 1.3**k)
        other = with_numbers(
            changed(each, name=LONG.format(k), cost=replace(each.cost, asking=asking)),
            score=Estimate(value, value, value, (value - 0.05, value + 0.05)),
            worst_at_n=Estimate(value / 2, value / 2, value / 2, (0.0, value)),
        )
        made.append(other)
    return made


def test_0_percent_has_no_minus() -> None:
    """What reads as 0.0% in a description has no minus."""
    assert f"{drawing.as_percent(-0.0004):.1f}" == "0.0"


def test_a_score_stands_where_the_summary_says(summaries: list[Entry]) -> None:
    """A score is drawn at its percentage, on a line from one end of its interval to the other."""
    figure = charts.overview(summaries[:1])
    cell = summaries[0].by_adl["dressing"]  # type: ignore[index]
    assert cell.score.value is not None
    assert cell.score.ci95 is not None
    start, end = (_tick(figure, label) for label in ("0", "100"))

    def x(fraction: float) -> float:
        return start + (end - start) * round(100 * fraction, 1) / 100

    (point,) = [p for p in _points(figure) if p.label.startswith("Dressing")]
    assert point.x == pytest.approx(x(cell.score.value), abs=0.6)
    lines = [m for m in figure.marks if isinstance(m, Segment) and m.y == m.y2 == point.y]
    ends = [(line.x, line.x2) for line in lines]
    assert any(pair == pytest.approx(tuple(map(x, cell.score.ci95)), abs=0.6) for pair in ends)


def test_an_axis_is_straight_or_equal_in_ratios() -> None:
    """Halfway along from 0 to 200 stands 100, and from 0.01 to 1 on a logarithmic one 0.1."""
    assert Axis((0, 200)).along(10, 80)(100) == 50
    assert Axis((0.01, 1), log=True).along(10, 80)(0.1) == pytest.approx(50)
    assert Axis((0, 200)).along(90, -80)(100) == 50


def test_a_small_cell_is_hollow(summaries: list[Entry]) -> None:
    """A cell of four scenarios or fewer is hollow and has no interval; one of five has one."""
    figure = charts.overview(summaries[:1])
    hollow = {p.label.partition(",")[0]: p.hollow for p in _points(figure)}
    assert hollow == {"Overall": False, "Dressing": False, "Eating": True, "Bathing": True}
    rows = {p.y: p.hollow for p in _points(figure)}
    intervals = [m for m in figure.marks if isinstance(m, Segment) and m.colour == "accent"]
    assert all((m.x == m.x2) == rows[m.y] for m in intervals if m.y in rows)


@pytest.mark.parametrize("name", ["overview", "distributions"])
def test_what_may_not_be_ranked_is_hollow(one_system: Findings, name: str) -> None:
    """An entry that may not be ranked is hollow in every mark, and the key says what that means."""
    figure = DRAWN[name](one_system.entries, charts.WIDE)
    assert all(p.hollow for shape in ("circle", "square") for p in _points(figure, shape))
    assert drawing.HOLLOW.meaning in _texts(figure)


def test_an_unknown_number_is_not_drawn(summaries: list[Entry]) -> None:
    """A worst of n that is unknown has no mark, and the one beside it keeps its own."""
    unknown = Estimate.unknown("a response is missing")
    first = with_numbers(summaries[0], worst_at_n=unknown)
    worst = _points(charts.overview([first, summaries[1]]), "triangle-down")
    assert [p.label for p in worst] == [f"Overall, worst of 2: {in_full(summaries[1].worst_at_n)}"]
    beneath = charts.worst_scatter([first, summaries[1]])
    assert [p.label.partition(":")[0] for p in _points(beneath)] == ["beta"]
    assert "Not drawn: alpha: a response is missing" in _texts(beneath)


def test_what_is_not_ranked_is_hollow_beside_severe_errors(graded: list[Entry]) -> None:
    """An entry and a reference each have a point; one that is not ranked is hollow."""
    first, second = graded
    figure = charts.severity_scatter(
        [
            (first.name, first.severe, first.score, False),
            ("Refuses", second.severe, second.score, True),
            ("Nothing", second.severe, Estimate.unknown("nothing was judged"), True),
        ]
    )
    hollow = {p.label.partition(":")[0]: p.hollow for p in _points(figure)}
    assert hollow == {first.name: False, "Refuses": True}
    assert "Not drawn: Nothing: nothing was judged" in _texts(figure)
    assert "not ranked" in _texts(figure)


def test_one_response_has_no_worst(graded: list[Entry]) -> None:
    """With one response a scenario no worst is drawn beside the score, and no key speaks of it."""
    figure = charts.overview([changed(each, n_epochs=1) for each in graded])
    assert not _points(figure, "triangle-down")
    assert not any("worst" in text for text in _texts(figure))
    first = graded[0]
    once = changed(first, worst_at_k=first.worst_at_k[:1], severe_of_k=first.severe_of_k[:1])
    alone = charts.worst_at_k([once])
    assert len(_points(alone)) == 2
    ticks = [m.text for m in alone.marks if isinstance(m, TextLine) and m.align == "middle"]
    assert ticks == ["1", "1"]


def test_bars_are_as_long_as_their_shares(summaries: list[Entry]) -> None:
    """Bars of errors share one scale and have their share beside them, and 0 has no length."""
    shares = (0.0, 0.1, 0.2, 0.05)
    kinds = [
        replace(summaries[0].severe, share=Estimate(share, share, share, None, "made up"))
        for share in shares
    ]
    others = [
        with_numbers(summaries[0], severe=kinds[0], mild=kinds[1]),
        with_numbers(summaries[1], severe=kinds[2], mild=kinds[3]),
    ]
    figure = charts.overview(others)
    bars = [m for m in figure.marks if isinstance(m, Box) and m.label]
    lengths = {bar.label.partition(",")[0]: bar.x2 - bar.x for bar in bars}
    longest = max(lengths.values())
    assert lengths == pytest.approx(
        {
            "Severe errors: 0.0%": 0,
            "Mild errors: 10.0%": longest / 2,
            "Severe errors: 20.0%": longest,
            "Mild errors: 5.0%": longest / 4,
        }
    )
    printed = {(m.y, m.text) for m in figure.marks if isinstance(m, TextLine)}
    for bar in bars:
        share = bar.label.partition(": ")[2].partition(",")[0]
        assert ((bar.y + bar.y2) / 2, f"\u2009{share}") in printed


def test_an_unknown_share_has_no_bar(summaries: list[Entry]) -> None:
    """A share that is unknown is said to be, and is no bar of length 0."""
    unknown = replace(summaries[0].severe, share=Estimate.unknown("not judged"))
    figure = charts.overview([with_numbers(summaries[0], severe=unknown)])
    assert not [m for m in figure.marks if isinstance(m, Box) and "Severe" in m.label]
    assert "unknown" in _texts(figure)


def test_curves_have_bands_for_few_and_names_for_all(graded: list[Entry]) -> None:
    """Up to three entries have the band of their interval; each curve ends at its own name."""
    for n in (1, 3, 4):
        figure = charts.worst_at_k(_many(graded, n))
        bands = [m for m in figure.marks if isinstance(m, Band)]
        curves = [m for m in figure.marks if isinstance(m, Curve)]
        assert len(curves) == 2 * n
        assert bool(bands) == (n <= 3)
        text = "".join(_texts(figure))
        assert all(text.count(LONG.format(k)) == 2 for k in range(n))
    assert all(len(curve.xs) == len(graded[0].worst_at_k) for curve in curves)


def test_every_scenario_is_in_one_bar(graded: list[Entry]) -> None:
    """The bars of an entry count each scenario once, and a full score is in the last below 100."""
    whole = replace(graded[0].scenarios[0], score=1.0)
    zero = replace(whole, score=0.0)
    figure = charts.distributions([changed(graded[0], scenarios=(whole, whole, zero))])
    text = [m.label for m in figure.marks if isinstance(m, Box) and m.label]
    assert text == ["0 to 10%: 1 scenarios", "90 to 100%: 2 scenarios"]


def test_cost_is_drawn_in_ratios_and_an_unknown_one_listed(graded: list[Entry]) -> None:
    """Ten times the cost is as far as ten times that; an unknown cost is listed with its reason."""
    made = _many(graded, 4)
    costs = (0.001, 0.01, 0.1, None)
    entries_ = [
        changed(s, cost=replace(s.cost, asking=replace(
            s.cost.asking, per_response=cost, value=cost, reason="" if cost else "no price"
        )))
        for s, cost in zip(made, costs, strict=True)
    ]  # fmt: skip
    figure = charts.cost_scatter(entries_)
    first, second, third = sorted(p.x for p in _points(figure))
    assert third - second == pytest.approx(second - first)
    assert f"Not drawn: {LONG.format(3)}: no price" in _texts(figure)


@pytest.mark.parametrize("name", DRAWN)
def test_entries_keep_their_order(name: str, graded: list[Entry]) -> None:
    """A figure names the entries in the order in which they are given, and in no other."""
    made = _many(graded, 3)[::-1]
    text = DRAWN[name](made, charts.WIDE).description
    places = [text.index(each.name) for each in made]
    assert places == sorted(places)


@pytest.mark.parametrize(("name", "width"), sizes(DRAWN, 520))
@pytest.mark.parametrize("n", [1, 30])
def test_everything_is_within_the_figure(
    name: str, width: int, n: int, graded: list[Entry]
) -> None:
    """No mark and no name is cut off by the edge, for one entry as for thirty with long names."""
    figure = DRAWN[name](_many(graded, n), width)
    assert figure.width <= width
    for m in figure.marks:
        if isinstance(m, TextLine):
            length = drawing.text_width(m.text, m.size) * 0.9
            left = m.x - {"start": 0, "middle": length / 2, "end": length}[m.align]
            assert -1 <= left <= left + length <= figure.width + 1, m
        elif isinstance(m, Segment | Box):
            assert -1 <= min(m.x, m.x2) <= max(m.x, m.x2) <= figure.width + 1, m
            assert max(m.y, m.y2) <= figure.height
        elif isinstance(m, Point):
            assert 0 <= m.x <= figure.width
            assert 0 <= m.y <= figure.height


@pytest.mark.parametrize(("name", "width"), sizes(DRAWN))
def test_no_words_lie_on_others(name: str, width: int, graded: list[Entry]) -> None:
    """No two texts of a figure of nine entries overlap."""
    figure = DRAWN[name](_many(graded, 9), width)
    areas = []
    for m in figure.marks:
        if isinstance(m, TextLine):
            # guessed widths are on the large side
            length = drawing.text_width(m.text, m.size) * 0.85
            left = m.x - {"start": 0, "middle": length / 2, "end": length}[m.align]
            areas.append((m.text, Area(left, m.y - 4, left + length, m.y + 4)))
    for k, (text, area) in enumerate(areas):
        assert [other for other, at in areas[:k] if area.overlap(at) > 0] == [], text


@pytest.mark.parametrize(("name", "width"), sizes(DRAWN))
def test_every_figure_becomes_an_svg(name: str, width: int, graded: list[Entry]) -> None:
    """Every figure is named and described, takes the page's colours and no style of its own."""
    figure = DRAWN[name](graded, width)
    text = charts.inline_svg(figure, "here", "A <figure>", "What it shows.")
    root = ElementTree.fromstring(text)
    assert float(root.attrib["width"]) <= width
    assert root.attrib["viewBox"].split()[2:] == [root.attrib["width"], root.attrib["height"]]
    grouped = root.find("{http://www.w3.org/2000/svg}g") is not None
    assert grouped == (name == "worst_at_k")
    assert root.attrib["role"] == ("group" if grouped else "img")
    assert [child.text for child in root][:2] == ["A <figure>", "What it shows."]
    ids = {child.attrib["id"] for child in root if "id" in child.attrib}
    assert {root.attrib["aria-labelledby"], root.attrib["aria-describedby"]} == ids
    assert "var(--" in text
    assert not any(part in text for part in ("#", "style=", "font-family"))


@pytest.mark.parametrize("name", DRAWN)
def test_hostile_names_are_words(name: str, graded: list[Entry]) -> None:
    """Names with markup, quotes and control characters become text and nothing else."""
    renamed = [replace(each, name=name) for each, name in zip(graded, HOSTILE, strict=True)]
    figure = DRAWN[name](renamed, charts.WIDE)
    for text in (
        charts.inline_svg(figure, "here", HOSTILE[0], figure.description),
        charts.standalone_svg(figure, "here", HOSTILE[1], figure.description),
    ):
        tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(text).iter()}
        assert tags <= {
            "svg", "title", "desc", "text", "line", "rect", "circle", "polygon", "polyline", "g",
        }  # fmt: skip
        assert not {"\x00", "\x1b", "\u202e", "\ufffe"} & set(text)


def test_nothing_graded_is_an_empty_figure() -> None:
    """Without an entry a figure of many is still one, with no mark that says anything."""
    for name, draw in DRAWN.items():
        figure = draw([], charts.WIDE)
        assert not any(isinstance(m, Point | Box) and m.label for m in figure.marks), name
        ElementTree.fromstring(charts.inline_svg(figure, "here", "title", "words"))


def test_a_description_has_the_main_numbers(summaries: list[Entry]) -> None:
    """The overview's words name each entry with its score, its interval and its severe errors."""
    text = charts.overview(summaries).description
    for s in summaries:
        assert s.score.value is not None
        assert f"{s.system}: severe errors {percent(s.severe.share.value)}%, 95% interval" in text
        assert f"score {100 * s.score.value:.1f}%" in text
    assert "95% interval" in text


@given(
    st.lists(st.tuples(st.floats(0, 300), st.integers(10, 30)), max_size=12),
    st.floats(0, 50),
    st.floats(50, 600),
)
def test_labels_of_a_column_never_overlap(
    labels: list[tuple[float, int]], top: float, bottom: float
) -> None:
    """Labels keep the order of what they name, overlap nowhere, and keep within if they can."""
    wanted, heights = [at for at, _ in labels], [float(height) for _, height in labels]
    middles = spread_labels(wanted, heights, top, bottom)
    order = sorted(range(len(labels)), key=lambda n: wanted[n])
    for one, other in pairwise(order):
        assert middles[other] - middles[one] >= (heights[one] + heights[other]) / 2 - 1e-6
    if sum(heights) <= bottom - top:
        assert all(
            top - 1e-6 <= y - h / 2 and y + h / 2 <= bottom + 1e-6
            for y, h in zip(middles, heights, strict=True)
        )
    else:
        assert middles[order[0]] - heights[order[0]] / 2 >= top - 1e-6


def test_a_label_with_room_is_where_it_is_wanted() -> None:
    """Labels that do not meet are not moved."""
    assert spread_labels([20, 60], [10, 10], 0, 100) == [20, 60]


def test_labels_beside_points_keep_clear() -> None:
    """Nine points on a slope have labels that cover neither each other nor a point."""
    points = [(60.0 + 40 * n, 200.0 - 15 * n) for n in range(9)]
    areas = place_labels(points, [(70.0, 13.0)] * 9, Area(0, 0, 480, 300))
    for n, area in enumerate(areas):
        assert not any(area.overlap(other) for other in areas[:n])
        assert not any(area.left < x < area.right and area.top < y < area.bottom for x, y in points)
        assert area.outside(Area(0, 0, 480, 300)) == pytest.approx(0)


@given(st.text("abi W/-_·é漢", min_size=1, max_size=60), st.floats(30, 200))
def test_wrapped_text_keeps_its_characters_and_its_room(text: str, room: float) -> None:
    """Lines fit the room, and together they are the text but for spaces."""
    lines = drawing.wrapped(text, room, 12)
    assert all(drawing.text_width(line, 12) <= room for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(st.text("abiW-", min_size=1, max_size=60), st.floats(40, 200))
def test_a_shortened_name_keeps_both_ends(text: str, room: float) -> None:
    """A name that is too long fits, and begins and ends as it did; another one is as it was."""
    short = drawing.shortened(text, room, 12)
    assert drawing.text_width(short, 12) <= room
    if drawing.text_width(text, 12) <= room:
        assert short == text
    else:
        head, tail = short.split("…")
        assert text.startswith(head)
        assert text.endswith(tail)


def test_evening_out_breaks_no_word() -> None:
    """Two lines are evened out by their spaces: a long first word stays whole."""
    room = drawing.text_width("Communication and", drawing.NORMAL)
    assert drawing.fit_in_lines("Communication and intent", room, drawing.NORMAL, 2)[0].startswith(
        "Communication"
    )


@given(st.lists(st.floats(-300, 300, allow_subnormal=False), max_size=5), st.floats(40, 800))
def test_an_axis_holds_its_numbers(numbers: list[float], length: float) -> None:
    """An axis of percentages holds every number, and its labels are 36 pixels apart or more."""
    axis = drawing.percent_axis(numbers, length)
    assert axis.ends[0] <= min([0.0, *numbers])
    assert axis.ends[1] >= max([100.0, *numbers])
    to = axis.along(0, length)
    places = [to(tick) for tick, _ in axis.ticks]
    if axis.ticks and axis.ticks[-1][0] - axis.ticks[0][0] < 200 * (len(places) - 1):
        assert all(b - a >= 36 - 1e-6 for a, b in pairwise(places))


def _chunks(image: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 8
    while at < len(image):
        (length,) = struct.unpack(">I", image[at : at + 4])
        kind, body = image[at + 4 : at + 8], image[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack(">I", image[at + 8 + length : at + 12 + length])
        assert checksum == zlib.crc32(kind + body)
        yield kind, body
        at += 12 + length


def test_a_picture_carries_its_words(summaries: list[Entry]) -> None:
    """A PNG has its title and description as readable chunks, in UTF-8, and ends as one must."""
    figure = charts.overview(summaries)
    drawn = charts.standalone_svg(figure, "overview", "Profil", "Größe −1")
    chunks = list(_chunks(charts.png(drawn, "Profil", "Größe −1")))
    texts = dict(body.split(b"\0\0\0\0\0") for kind, body in chunks if kind == b"iTXt")
    assert texts == {b"Title": b"Profil", b"Description": "Größe −1".encode()}
    assert chunks[0][0] == b"IHDR"
    assert chunks[-1] == (b"IEND", b"")
    width, height = struct.unpack(">II", chunks[0][1][:8])
    assert (width, height) == (2 * charts.WIDE, math.ceil(2 * figure.height))


def test_a_picture_needs_no_font_of_the_machine(
    summaries: list[Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A PNG is the same, words and all, on a machine that has no font."""
    drawn = charts.standalone_svg(charts.overview(summaries), "overview", "Ł−…", "Größe")
    here = charts.png(drawn, "Ł−…", "Größe")
    rendered = resvg_py.svg_to_bytes

    def without_fonts(source: str, **options: Any) -> bytes:
        return rendered(source, **options, skip_system_fonts=True)

    monkeypatch.setattr(resvg_py, "svg_to_bytes", without_fonts)
    assert charts.png(drawn, "Ł−…", "Größe") == here
    monkeypatch.setattr(svg, "_FONT_FILES", [])
    assert charts.png(drawn, "Ł−…", "Größe") != here


def test_figures_are_files_with_words(runs: Runs, tmp_path: Path) -> None:
    """Every figure is written once a format, stands alone, and is in the list with its words."""
    results = findings(runs)
    written = write_figures(results, tmp_path / "figures", ("svg",))
    assert written[-1].name == "figures.md"
    names = [path.stem for path in written[:-1]]
    assert len(names) == len(set(names)) == 6
    listed = written[-1].read_text(encoding="utf-8")
    for path in written[:-1]:
        text = path.read_text(encoding="utf-8")
        root = ElementTree.fromstring(text)
        assert "var(" not in text
        assert root.attrib["role"] == "img"
        assert len(root[0].text or "") > 5
        assert len(root[1].text or "") > 40
        assert f"`{path.name}`" in listed


def test_without_a_run_there_is_no_figure(tmp_path: Path) -> None:
    """Findings of nothing leave a list of no figure."""
    (only,) = write_figures(findings(Runs.of([], [])), tmp_path)
    assert "##" not in only.read_text(encoding="utf-8")
