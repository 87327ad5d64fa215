"""The figures, one function each, and their conversion to SVG and PNG.

A figure draws the estimates that it is given and computes only their positions. An entry is one
system as one grader judged it on one rubric; a figure draws entries in the order given.
"""

from careeval.report.charts.drawing import NARROW, WIDE, Figure
from careeval.report.charts.plots import (
    cost_scatter,
    severity_scatter,
    worst_at_k,
    worst_scatter,
)
from careeval.report.charts.rows import column, distributions, overview
from careeval.report.charts.svg import inline_svg, png, standalone_svg

__all__ = [
    "NARROW",
    "WIDE",
    "Figure",
    "column",
    "cost_scatter",
    "distributions",
    "inline_svg",
    "overview",
    "png",
    "severity_scatter",
    "standalone_svg",
    "worst_at_k",
    "worst_scatter",
]
