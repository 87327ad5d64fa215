"""Conversion of figures to SVG and PNG."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from careeval.report.charts.drawing import Band, Box, Curve, Figure, Mark, Point, Segment, TextLine
from careeval.report.texts import strip_controls

_SVG = "http://www.w3.org/2000/svg"

_LIGHT = {
    "ink": "#1c2327",
    "muted": "#566068",
    "line": "#dedad1",
    "accent": "#0a5c63",
    "paper": "#ffffff",
    "harm": "#a3281b",
    "mild": "#7d5200",
}
"""The light colours of the page, for files."""
_FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif"

_FONT_FILES = [str(file) for file in sorted(Path(__file__).with_name("fonts").glob("*.ttf"))]
"""Fonts of Careeval Sans, whose widths `drawing.text_width` estimates."""
_PNG_STYLE = "svg { font-family: 'Careeval Sans' }"
_SCALE = 2


def inline_svg(figure: Figure, name: str, title: str, description: str) -> str:
    """Return a figure as an SVG element for a page, in the colours of the page.

    Each series is a group that can be focused; the page's style highlights it.

    Args:
        figure: The figure.
        name: Prefix of the ids in the SVG; unique in the page.
        title: Title of the figure.
        description: Description of the figure, for screen readers.
    """
    colours = {name: f"var(--{name})" for name in _LIGHT}
    root = _drawn(replace(figure, marks=tuple(m for m in figure.marks if not m.series)), colours)
    series = dict.fromkeys(mark.series for mark in figure.marks if mark.series)
    for one in series:
        attributes = {"tabindex": "0", "role": "img", "aria-label": _characters(one)}
        group = ElementTree.SubElement(root, "g", attributes)
        group.extend(_elements([m for m in figure.marks if m.series == one], colours))
    return _described(root, name, title, description, role="group" if series else "img")


def standalone_svg(figure: Figure, name: str, title: str, description: str) -> str:
    """Return a figure as the text of an SVG file, in light colours on white."""
    root = _drawn(figure, _LIGHT)
    root.set("font-family", _FONTS)
    background = ElementTree.Element("rect", width="100%", height="100%", fill=_LIGHT["paper"])
    root.insert(0, background)
    return _described(root, name, title, description)


def png(svg: str, title: str, description: str) -> bytes:
    """Return a standalone SVG as a PNG of twice the size.

    The title and the description are stored in it as UTF-8 text (`iTXt` chunks). The text of the
    SVG is drawn in the font of this package; a character that it lacks, in a font of the machine.

    Source: W3C, Portable Network Graphics (third edition), 11.3.3.4.
    """
    import resvg_py  # needed for PNG alone

    image = resvg_py.svg_to_bytes(svg, zoom=_SCALE, font_files=_FONT_FILES, style_sheet=_PNG_STYLE)
    end = image.rindex(b"IEND") - 4
    chunks = b"".join(
        _text_chunk(keyword, text)
        for keyword, text in (("Title", title), ("Description", description))
    )
    return image[:end] + chunks + image[end:]


def _text_chunk(keyword: str, text: str) -> bytes:
    """Return a PNG `iTXt` chunk: its text is not compressed and has no language."""
    body = b"iTXt" + keyword.encode("latin-1") + b"\0\0\0\0\0" + _characters(text).encode()
    return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))


def _drawn(figure: Figure, colours: Mapping[str, str]) -> ElementTree.Element:
    size = {"width": _number(figure.width), "height": _number(figure.height)}
    root = ElementTree.Element(
        "svg", size | {"xmlns": _SVG, "viewBox": f"0 0 {size['width']} {size['height']}"}
    )
    root.extend(_elements(figure.marks, colours))
    return root


def _elements(marks: Iterable[Mark], colours: Mapping[str, str]) -> Iterator[ElementTree.Element]:
    # earlier elements are drawn below later ones
    for mark in sorted(marks, key=lambda mark: _ORDER.index(type(mark))):
        tag, attributes, text = _element(mark, colours)
        element = ElementTree.Element(tag, attributes)
        if isinstance(mark, TextLine):
            element.text = _characters(text)
        elif text:
            ElementTree.SubElement(element, "title").text = _characters(text)
        yield element


_ORDER: list[type] = [Band, Box, Segment, Curve, Point, TextLine]

_SHAPES = {
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "diamond": ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
    "triangle-down": ((-1.2, -0.9), (1.2, -0.9), (0, 1.25)),
    "triangle-up": ((-1.2, 0.9), (1.2, 0.9), (0, -1.25)),
    "triangle-left": ((0.9, -1.2), (0.9, 1.2), (-1.25, 0)),
    "triangle-right": ((-0.9, -1.2), (-0.9, 1.2), (1.25, 0)),
    "cross": (
        (-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4),
        (0.4, 1.2), (-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4),
    ),
}  # fmt: skip
"""Corners of each shape, in radii of a circle that looks equally large."""


def _element(mark: Mark, colours: Mapping[str, str]) -> tuple[str, dict[str, str], str]:
    """Return the SVG element of a mark: tag, attributes and text."""
    colour = colours[mark.colour]
    match mark:
        case TextLine(x=x, y=y):
            # the baseline is about a third of the size below the middle of a letter
            attributes = {"x": _number(x), "y": _number(y + 0.35 * mark.size), "fill": colour}
            attributes["font-size"] = _number(mark.size)
            if mark.align != "start":
                attributes["text-anchor"] = mark.align
            if mark.bold:
                attributes["font-weight"] = "600"
            return "text", attributes, mark.text
        case Segment():
            ends = {"x1": mark.x, "y1": mark.y, "x2": mark.x2, "y2": mark.y2}
            attributes = {name: _number(value) for name, value in ends.items()}
            attributes |= {"stroke": colour, "stroke-width": _number(mark.width)}
            return "line", attributes | _faint(mark.faint), ""
        case Box():
            left, top = min(mark.x, mark.x2), min(mark.y, mark.y2)
            attributes = {"x": _number(left), "y": _number(top)}
            attributes["width"] = _number(abs(mark.x2 - mark.x))
            attributes["height"] = _number(abs(mark.y2 - mark.y))
            return "rect", attributes | _filled(colour, colours, mark.hollow), mark.label
        case Point():
            look = _filled(colour, colours, mark.hollow)
            if mark.shape == "circle":
                at = {"cx": mark.x, "cy": mark.y, "r": mark.radius}
                attributes = {name: _number(value) for name, value in at.items()}
                return "circle", attributes | look, mark.label
            corners = [
                (mark.x + mark.radius * dx, mark.y + mark.radius * dy)
                for dx, dy in _SHAPES[mark.shape]
            ]
            return "polygon", {"points": _path(corners)} | look, mark.label
        case Curve():
            attributes = {"points": _path(zip(mark.xs, mark.ys, strict=True)), "fill": "none"}
            attributes |= {"stroke": colour, "stroke-width": "1.5"}
            if mark.dashed:
                attributes["stroke-dasharray"] = "4 3"
            return "polyline", attributes, mark.label
        case Band():
            forth = zip(mark.xs, mark.lows, strict=True)
            back = zip(reversed(mark.xs), reversed(mark.highs), strict=True)
            attributes = {"points": _path([*forth, *back]), "fill": colour, "fill-opacity": "0.14"}
            return "polygon", attributes, ""


def _filled(colour: str, colours: Mapping[str, str], hollow: bool) -> dict[str, str]:
    fill = colours["paper"] if hollow else colour
    return {"fill": fill, "stroke": colour, "stroke-width": "1.5"}


def _faint(faint: bool) -> dict[str, str]:
    return {"opacity": "0.35"} if faint else {}


def _path(corners: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in corners)


def _characters(text: str) -> str:
    """Return the text without characters that XML does not allow."""
    return _NO_CHARACTER.sub("", strip_controls(text))


_NO_CHARACTER = re.compile("[\ud800-\udfff\ufffe\uffff]")


def _number(pixels: float) -> str:
    """Return a number of pixels as text, rounded to a tenth, without trailing zeros."""
    return f"{round(pixels, 1) + 0.0:g}"


def _described(
    root: ElementTree.Element, name: str, title: str, description: str, role: str = "img"
) -> str:
    for tag, text in (("desc", description), ("title", title)):
        element = ElementTree.Element(tag, id=f"{name}-{tag}")
        element.text = _characters(text)
        root.insert(0, element)
    root.set("role", role)
    root.set("aria-labelledby", f"{name}-title")
    root.set("aria-describedby", f"{name}-desc")
    return ElementTree.tostring(root, encoding="unicode")
