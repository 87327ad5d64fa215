"""The figures, one function each, and how a figure becomes a part of the page.

A figure draws estimates that are given to it, and computes nothing but where they stand. Entries
keep the order in which they are given.
"""

from careeval.report.charts.distribution import distribution, distributions
from careeval.report.charts.domains import domains
from careeval.report.charts.drawing import NARROW, WIDE, Figure, alternative
from careeval.report.charts.scatter import cost_scatter, worst_scatter
from careeval.report.charts.scores import overview
from careeval.report.charts.svg import inline_svg, png, standalone_svg
from careeval.report.charts.worst import worst_at_k

__all__ = [
    "NARROW",
    "WIDE",
    "Figure",
    "alternative",
    "cost_scatter",
    "distribution",
    "distributions",
    "domains",
    "inline_svg",
    "overview",
    "png",
    "standalone_svg",
    "worst_at_k",
    "worst_scatter",
]
