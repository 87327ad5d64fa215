"""How a figure becomes a part of a page, and a file of its own."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from careeval.report.charts.drawing import Band, Box, Curve, Figure, Line, Mark, Point, Words
from careeval.report.words import visible

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
"""The page's colours by day, on white: for a file that no page gives any."""
_FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif"

_FONT_FILES = [str(file) for file in sorted(Path(__file__).with_name("fonts").glob("*.ttf"))]
"""Of Careeval Sans, which is as wide as `drawing.text_width` takes text to be."""
_PNG_STYLE = "svg { font-family: 'Careeval Sans' }"
_SCALE = 2


def inline_svg(figure: Figure, name: str, title: str, description: str) -> str:
    """A figure as an SVG element to stand in a page: named, described, in the page's own colours.

    Each series is a group that can be focused, which the page's style brings out.

    Args:
        figure: The figure.
        name: Prefix of the ids in it; unique in the page.
        title: What it is.
        description: What it shows, and where the same numbers are as text.
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
    """A figure as an SVG file: as `inline_svg`, in colours of its own on white."""
    root = _drawn(figure, _LIGHT)
    root.set("font-family", _FONTS)
    background = ElementTree.Element("rect", width="100%", height="100%", fill=_LIGHT["paper"])
    root.insert(0, background)
    return _described(root, name, title, description)


def png(svg: str, title: str, description: str) -> bytes:
    """A standalone SVG as a PNG of twice its size, which carries its title and description.

    They stand in chunks `iTXt` before the end of the image, as UTF-8. Text is drawn in the font
    that is shipped, and what that has no sign for in a font of the machine.

    Source: W3C, Portable Network Graphics (third edition), 11.3.3.4.
    """
    import resvg_py  # needed for pictures alone

    image = resvg_py.svg_to_bytes(svg, zoom=_SCALE, font_files=_FONT_FILES, style_sheet=_PNG_STYLE)
    end = image.rindex(b"IEND") - 4
    said = b"".join(
        _text_chunk(keyword, text)
        for keyword, text in (("Title", title), ("Description", description))
    )
    return image[:end] + said + image[end:]


def _text_chunk(keyword: str, text: str) -> bytes:
    """A chunk of type, data and checksum; its text is neither compressed nor in a language."""
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
    # what is drawn first lies lowest
    for mark in sorted(marks, key=lambda mark: _ORDER.index(type(mark))):
        tag, attributes, text = _element(mark, colours)
        element = ElementTree.Element(tag, attributes)
        if isinstance(mark, Words):
            element.text = _characters(text)
        elif text:
            ElementTree.SubElement(element, "title").text = _characters(text)
        yield element


_ORDER: list[type] = [Band, Box, Line, Curve, Point, Words]

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
"""Corners in radii of the circle that looks as large."""


def _element(mark: Mark, colours: Mapping[str, str]) -> tuple[str, dict[str, str], str]:
    """A mark's tag, its attributes, and its text."""
    colour = colours[mark.colour]
    match mark:
        case Words(x=x, y=y):
            # a third of its size from the middle of a letter down to its foot
            found = {"x": _number(x), "y": _number(y + 0.35 * mark.size), "fill": colour}
            found["font-size"] = _number(mark.size)
            if mark.align != "start":
                found["text-anchor"] = mark.align
            if mark.bold:
                found["font-weight"] = "600"
            return "text", found, mark.text
        case Line():
            ends = {"x1": mark.x, "y1": mark.y, "x2": mark.x2, "y2": mark.y2}
            found = {name: _number(value) for name, value in ends.items()}
            found |= {"stroke": colour, "stroke-width": _number(mark.width)}
            return "line", found | _faint(mark.faint), ""
        case Box():
            left, top = min(mark.x, mark.x2), min(mark.y, mark.y2)
            found = {"x": _number(left), "y": _number(top)}
            found["width"] = _number(abs(mark.x2 - mark.x))
            found["height"] = _number(abs(mark.y2 - mark.y))
            return "rect", found | _filled(colour, colours, mark.hollow), mark.said
        case Point():
            look = _filled(colour, colours, mark.hollow)
            if mark.shape == "circle":
                at = {"cx": mark.x, "cy": mark.y, "r": mark.radius}
                found = {name: _number(value) for name, value in at.items()}
                return "circle", found | look, mark.said
            corners = [
                (mark.x + mark.radius * dx, mark.y + mark.radius * dy)
                for dx, dy in _SHAPES[mark.shape]
            ]
            return "polygon", {"points": _path(corners)} | look, mark.said
        case Curve():
            found = {"points": _path(zip(mark.xs, mark.ys, strict=True)), "fill": "none"}
            found |= {"stroke": colour, "stroke-width": "1.5"}
            if mark.dashed:
                found["stroke-dasharray"] = "4 3"
            return "polyline", found, mark.said
        case Band():
            there = zip(mark.xs, mark.lows, strict=True)
            back = zip(reversed(mark.xs), reversed(mark.highs), strict=True)
            found = {"points": _path([*there, *back]), "fill": colour, "fill-opacity": "0.14"}
            return "polygon", found, ""


def _filled(colour: str, colours: Mapping[str, str], hollow: bool) -> dict[str, str]:
    fill = colours["paper"] if hollow else colour
    return {"fill": fill, "stroke": colour, "stroke-width": "1.5"}


def _faint(faint: bool) -> dict[str, str]:
    return {"opacity": "0.35"} if faint else {}


def _path(corners: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in corners)


def _characters(text: str) -> str:
    """The text without what XML has no character for."""
    return _NO_CHARACTER.sub("", visible(text))


_NO_CHARACTER = re.compile("[\ud800-\udfff\ufffe\uffff]")


def _number(pixels: float) -> str:
    """To a tenth, and no longer than needed."""
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
