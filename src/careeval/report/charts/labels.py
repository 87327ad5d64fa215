"""Placement of labels without overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Area(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Area) -> float:
        """Return the area that two rectangles share, in square pixels."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across * down if across > 0 and down > 0 else 0.0

    def outside(self, bounds: Area) -> float:
        """Return how much of the rectangle lies outside the bounds, in square pixels."""
        whole = (self.right - self.left) * (self.bottom - self.top)
        return whole - self.overlap(bounds)


def spread_labels(
    wanted: Sequence[float], heights: Sequence[float], top: float, bottom: float
) -> list[float]:
    """Return positions for the middles of labels in one column, near the `wanted` positions.

    Labels do not overlap and keep the order of `wanted`. They begin at `top` or below, and end at
    `bottom` or above if all of them fit.
    """
    order = sorted(range(len(wanted)), key=lambda n: wanted[n])
    middles = [0.0] * len(wanted)
    least = top
    for n in order:
        middles[n] = max(wanted[n], least + heights[n] / 2)
        least = middles[n] + heights[n] / 2
    most = bottom
    for n in reversed(order):
        middles[n] = min(middles[n], most - heights[n] / 2)
        most = middles[n] - heights[n] / 2
    # if they do not all fit, they begin at the top
    if order and (above := top - (middles[order[0]] - heights[order[0]] / 2)) > 0:
        middles = [y + above for y in middles]
    return middles


def place_labels(
    points: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    bounds: Area,
    taken: Sequence[Area] = (),
) -> list[Area]:
    """Return an area for the label of each point, near it and away from the others.

    Labels are placed one after the other; those that still overlap are placed again.

    Args:
        points: Positions in pixels.
        sizes: Width and height of each label.
        bounds: The area that labels may use.
        taken: Other areas that they should not cover.
    """
    around = [Area(x - 5, y - 5, x + 5, y + 5) for x, y in points]
    placed: dict[int, Area] = {}

    def put(n: int) -> None:
        def cost(at: tuple[float, Area]) -> float:
            far, area = at
            on_labels = sum(area.overlap(other) for k, other in placed.items() if k != n)
            on_points = sum(area.overlap(other) for k, other in enumerate(around) if k != n)
            on_marks = sum(area.overlap(other) for other in taken)
            out = area.outside(bounds)
            return 1000 * out + 10 * on_labels + 4 * on_points + on_marks + far

        placed[n] = min(_candidates(*points[n], *sizes[n]), key=cost)[1]

    for n in range(len(points)):
        put(n)
    # the first were placed before the last: place those that overlap again
    for n in range(len(points)):
        if any(placed[n].overlap(placed[k]) for k in placed if k != n):
            put(n)
    return [placed[n] for n in range(len(points))]


def _candidates(x: float, y: float, width: float, height: float) -> Iterator[tuple[float, Area]]:
    """Yield possible areas of a label, the nearest first, each with the cost of its distance."""
    for away in (7, 14, 24, 38, 56, 80, 110):
        for across, down in (
            (1, 0), (-1, 0), (0, -1), (0, 1), (0.7, -0.7), (0.7, 0.7), (-0.7, -0.7), (-0.7, 0.7),
        ):  # fmt: skip
            middle_x = x + across * (away + width / 2)
            middle_y = y + down * (away + height / 2)
            yield 0.5 * (away - 7), Area(
                middle_x - width / 2, middle_y - height / 2,
                middle_x + width / 2, middle_y + height / 2,
            )  # fmt: skip
