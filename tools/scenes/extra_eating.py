"""Things that the scenes of eating need beside the common ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import seats
from furniture import DARK, SIDES, STEEL, WHITE
from shapes import (
    Colour,
    Kit,
    Mesh,
    ball,
    bent,
    box,
    disc,
    lathe,
    moved,
    pad,
    rod,
    spline,
    turned,
    turned_meshes,
)
from shapes import tube as pipe

GREY_SEAT: Colour = (0.33, 0.34, 0.36)


def pot(
    radius: float = 0.04,
    height: float = 0.075,
    lid: bool = False,
    colour: Colour = WHITE,
    content: Colour = (0.86, 0.82, 0.74),
) -> list[Mesh]:
    """Make a pot of yoghurt: open and full nearly to its rim, or with a lid of foil."""
    kit = Kit()
    r, h = radius, height
    wall = [(0, 0), (r * 0.78, 0), (r, h), (r + 0.004, h + 0.001), (r - 0.003, h - 0.001)]
    wall += [(r * 0.8, 0.006), (0, 0.006)]
    kit.put("pot", [lathe(wall, ease=0.002)], colour, "plastic")
    if lid:
        top = [(0, h + 0.001), (r + 0.006, h), (r + 0.006, h + 0.004), (r * 0.9, h + 0.005)]
        kit.put("lid", [lathe([*top, (0, h + 0.004)], ease=0.001)], STEEL, "metal")
        tab = box((0.022, 0.02, 0.002), (r + 0.012, 0, h + 0.003), 0.0009)
        kit.put("tab", [tab], STEEL, "metal")
    else:
        fill = [(0, h * 0.8), (r * 0.93, h * 0.8), (r * 0.9, h * 0.86), (0, h * 0.9)]
        kit.put("content", [lathe(fill, ease=0.003)], content, "plastic")
    return kit.meshes


def spoon(length: float = 0.17, colour: Colour = STEEL, material: str = "metal") -> list[Mesh]:
    """Make a spoon that lies on z = 0, its bowl at +x."""
    kit = Kit()
    bowl = ball((0.024, 0.016, 0.006), (length / 2 - 0.024, 0, 0.006))
    path = [(length / 2 - 0.045, 0, 0.008), (0, 0, 0.012), (-length / 2, 0, 0.004)]
    way = spline(path, 10)
    grip = pipe(way, np.linspace(0.003, 0.005, len(way)), 10)
    kit.put("", [bowl, grip], colour, material)
    return kit.meshes


def tumbler(radius: float = 0.034, height: float = 0.11) -> list[Mesh]:
    """Make a clear beaker, full of water."""
    kit = Kit()
    r, h = radius, height
    kit.put(
        "glass",
        [lathe([(0, 0), (r * 0.82, 0), (r, h), (0, h)], ease=0.003)],
        (0.95, 0.98, 0.99),
        "glass",
    )
    rim = lathe(
        [
            (r - 0.001, h - 0.003),
            (r + 0.0012, h - 0.003),
            (r + 0.0012, h + 0.001),
            (r - 0.001, h + 0.001),
        ],
        ease=0.0006,
        ends=False,
    )
    kit.put("rim", [rim], (0.80, 0.86, 0.88), "plastic")
    return kit.meshes


def tilted_wheelchair(
    tilt: float = 12.0,
    seat: Colour = (0.13, 0.13, 0.15),
    rest: Colour = GREY_SEAT,
    body: Colour = (0.20, 0.27, 0.36),
    arm_top: float = 0.84,
    arm_apart: float = 0.27,
    head_at: float = -0.29,
    head_high: float = 1.23,
    pad_at: float = -0.17,
    pad_high: float = 1.31,
    pad_apart: float = 0.108,
    switch: str = "right",
) -> list[Mesh]:
    """Make a powered wheelchair whose seat is tilted back, its headrest with a pad on either side.

    The places of armrests, headrest and pads are those of the chair before it is tilted; it turns
    about the point 0.45 m over the floor at the origin. `switch` is where the thumb's switch is.
    """
    whole = seats.powered_wheelchair(seat=seat, body=body, headrest=False)
    still = ("tyre", "wheel", "castor", "body", "frame")
    done = [m for m in whole if m.name.startswith(still)]
    kit = Kit()
    kit.meshes += [m for m in whole if not m.name.startswith((*still, "armrest", "joystick"))]
    for side, s in SIDES:
        y = s * arm_apart
        top = box((0.36, 0.075, 0.045), (0.04, y, arm_top - 0.0225), 0.02, 2, 3)
        kit.put(f"armrest-{side}-pad", [top], (0.07, 0.07, 0.075), "leather")
        post = bent([(-0.26, y, 0.50), (-0.26, y, arm_top - 0.05), (0.18, y, arm_top - 0.05)], 0.05)
        kit.put(f"armrest-{side}-tube", [pipe(post, 0.013)], DARK, "metal")
        hold = turned(pad((0.07, 0.10, 0.03), (0, 0, 0), 0.013, 0.006), "x", 90)
        hold = turned(hold, "y", 90)
        kit.put(
            f"headrest-pad-{side}",
            [moved(hold, (pad_at, s * (pad_apart + 0.019), pad_high))],
            rest,
            "leather",
        )
        arm = bent(
            [
                (head_at - 0.03, s * 0.05, head_high),
                (head_at - 0.03, s * (pad_apart + 0.045), head_high + 0.01),
                (pad_at, s * (pad_apart + 0.045), pad_high),
                (pad_at, s * (pad_apart + 0.03), pad_high),
            ],
            0.03,
        )
        kit.put(f"headrest-arm-{side}", [pipe(arm, 0.006)], STEEL, "metal")
        if side == switch:
            at = (0.297, s * 0.204, arm_top - 0.012)
            kit.put("switch", [disc(0.026, 0.018, at, "z", 0.006)], (0.93, 0.74, 0.05), "plastic")
            foot = [disc(0.031, 0.012, (at[0], at[1], at[2] - 0.012), "z", 0.004)]
            foot.append(rod((0.2, y, arm_top - 0.03), (at[0], at[1], at[2] - 0.018), 0.006))
            kit.put("switch-foot", foot, DARK, "plastic")
    soft = turned(pad((0.12, 0.26, 0.055), (0, 0, 0), 0.026, 0.012), "y", 98)
    kit.put("headrest", [moved(soft, (head_at, 0, head_high))], rest, "leather")
    post = [rod((-0.33, 0, 0.95), (head_at - 0.035, 0, head_high), 0.010)]
    kit.put("headrest-post", post, STEEL, "metal")
    return done + turned_meshes(kit.meshes, "y", -tilt, (0, 0, 0.45))


EATING: dict[str, Callable[..., list[Mesh]]] = {
    "pot": pot,
    "spoon": spoon,
    "tilted-wheelchair": tilted_wheelchair,
    "tumbler": tumbler,
}
