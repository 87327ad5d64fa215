"""Where labels go, so that none lies on another."""

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
        """The area of both, in square pixels."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across * down if across > 0 and down > 0 else 0.0

    def outside(self, bounds: Area) -> float:
        """How much of it lies outside, in square pixels."""
        whole = (self.right - self.left) * (self.bottom - self.top)
        return whole - self.overlap(bounds)


def spread(
    wanted: Sequence[float], heights: Sequence[float], top: float, bottom: float
) -> list[float]:
    """The middles of labels in one column, as near as may be to where they are wanted.

    None overlaps another, and their order is that of `wanted`. They begin at `top` or below, and
    end at `bottom` or above if there is room for all.
    """
    order = sorted(range(len(wanted)), key=lambda n: wanted[n])
    found = [0.0] * len(wanted)
    least = top
    for n in order:
        found[n] = max(wanted[n], least + heights[n] / 2)
        least = found[n] + heights[n] / 2
    most = bottom
    for n in reversed(order):
        found[n] = min(found[n], most - heights[n] / 2)
        most = found[n] - heights[n] / 2
    # where there is no room for all, they begin at the top
    if order and (above := top - (found[order[0]] - heights[order[0]] / 2)) > 0:
        found = [y + above for y in found]
    return found


def beside(
    points: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    bounds: Area,
    taken: Sequence[Area] = (),
) -> list[Area]:
    """An area for the label of each point, near it and off the others.

    They are placed one after the other, and those that meet others once more.

    Args:
        points: Places in pixels.
        sizes: Width and height of each one's label.
        bounds: Where labels may lie.
        taken: What else they should not cover.
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
    # the first knew nothing of the last: those that meet are put again
    for n in range(len(points)):
        if any(placed[n].overlap(placed[k]) for k in placed if k != n):
            put(n)
    return [placed[n] for n in range(len(points))]


def _candidates(x: float, y: float, width: float, height: float) -> Iterator[tuple[float, Area]]:
    """How far off, and where: beside, above, below, and the same further away."""
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
