"""Things that the scenes of toileting need beside the common ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import bathroom
import furniture
import numpy as np
from furniture import STEEL, WHITE
from shapes import Colour, Kit, Mesh, bent, box, disc, ellipse, lathe, loft, rod, spline
from shapes import tube as pipe


def toilet_seats(raised: bool = False, rise: Colour = (0.80, 0.82, 0.83)) -> list[Mesh]:
    """Make a toilet whose open lid stays, with its flat ring or with a thick raised seat."""
    kit = Kit()
    for m in bathroom.toilet(raised=False, lid="up"):
        if raised and m.name == "seat":
            continue
        if m.name == "bowl":
            middle = np.array([m.vertices[list(f)].mean(0) for f in m.faces])
            rim = (middle[:, 0] > -0.262) & (middle[:, 2] > 0.17) & (middle[:, 2] < 0.42)
            kit.meshes.append(replace(m, name="rim", faces=m.faces[rim]))
            m = replace(m, faces=m.faces[~rim])
        kit.meshes.append(m)
    if raised:
        body = loft(
            [
                ellipse(rx, ry, (x, 0, z), 64, 2.3)
                for z, rx, ry, x in (
                    (0.408, 0.250, 0.190, 0.0),
                    (0.412, 0.262, 0.203, 0.0),
                    (0.500, 0.262, 0.203, 0.0),
                    (0.516, 0.252, 0.194, 0.0),
                    (0.522, 0.225, 0.168, 0.0),
                    (0.518, 0.190, 0.135, 0.005),
                    (0.500, 0.160, 0.108, 0.01),
                    (0.410, 0.150, 0.100, 0.01),
                )
            ],
            False,
        )
        kit.put("raised-seat", [body], rise, "plastic")
        clamps = []
        for s in (-1, 1):
            clamps.append(box((0.075, 0.022, 0.105), (0.03, s * 0.206, 0.395), 0.008, 1, 3))
            clamps.append(rod((0.03, s * 0.21, 0.368), (0.03, s * 0.245, 0.368), 0.010))
            clamps.append(disc(0.022, 0.018, (0.03, s * 0.25, 0.368), "y"))
        kit.put("raised-seat-clamps", clamps, (0.42, 0.45, 0.48), "plastic")
    return kit.meshes


def reacher(length: float = 0.75, colour: Colour = (0.55, 0.57, 0.59)) -> list[Mesh]:
    """Make a long reacher that hangs from its trigger handle at the origin, its claw down."""
    kit = Kit()
    kit.put("rod", [rod((0, 0, -0.10), (0, 0, -length + 0.07), 0.009)], colour, "metal")
    grip = bent(
        [(0, 0, -0.11), (0, 0, 0.0), (0.0, 0.06, 0.012), (0, 0.075, -0.05), (0, 0.035, -0.09)], 0.02
    )
    dark = (0.17, 0.18, 0.20)
    kit.put(
        "grip",
        [
            pipe(grip, 0.012),
            pipe(spline([(0, 0.01, -0.10), (0, 0.05, -0.13), (0, 0.06, -0.18)]), 0.006),
        ],
        dark,
        "plastic",
    )
    z = -length
    claw = []
    for s in (-1, 1):
        path = [
            (0, s * 0.006, z + 0.075),
            (0, s * 0.034, z + 0.055),
            (0, s * 0.034, z + 0.02),
            (0, s * 0.012, z),
        ]
        claw.append(pipe(spline(path, 8), 0.0075))
        claw.append(disc(0.013, 0.012, (0, s * 0.012, z), "y"))
    kit.put("claw", claw, dark, "plastic")
    return kit.meshes


def toilet_brush() -> list[Mesh]:
    """Make a toilet brush in a white holder."""
    kit = Kit()
    kit.put(
        "holder",
        [
            lathe(
                [(0, 0), (0.058, 0), (0.052, 0.15), (0.046, 0.15), (0.05, 0.01), (0, 0.008)],
                ease=0.006,
            )
        ],
        WHITE,
        "ceramic",
    )
    kit.put(
        "brush",
        [
            rod((0, 0, 0.03), (0, 0, 0.38), 0.008),
            lathe([(0, 0.37), (0.013, 0.37), (0.015, 0.42), (0, 0.43)], ease=0.006),
        ],
        STEEL,
        "metal",
    )
    kit.put("bristles", [disc(0.04, 0.05, (0, 0, 0.135), "z", 0.015)], (0.83, 0.84, 0.83), "towel")
    return kit.meshes


def paper_roll() -> list[Mesh]:
    """Make a roll of paper on a holder; the wall is at x = 0, the roll's axis along y."""
    kit = Kit()
    arm = bent(
        [(0.0, 0.08, 0.05), (0.07, 0.08, 0.05), (0.07, 0.08, 0.0), (0.07, -0.06, 0.0)], 0.015
    )
    kit.put(
        "holder", [pipe(arm, 0.006), disc(0.026, 0.008, (0.004, 0.08, 0.05), "x")], STEEL, "metal"
    )
    kit.put(
        "roll",
        [
            disc(0.056, 0.10, (0.07, 0, 0), "y", 0.003),
            box((0.0025, 0.098, 0.10), (0.126, 0, -0.05), 0.001),
        ],
        (0.92, 0.92, 0.90),
        "cloth",
    )
    kit.put("core", [disc(0.02, 0.1015, (0.07, 0, 0), "y", 0.001)], (0.62, 0.52, 0.40), "cloth")
    return kit.meshes


def bin_with_lid(
    colour: Colour = (0.62, 0.64, 0.66), height: float = 0.34, radius: float = 0.115
) -> list[Mesh]:
    """Make a round bin with a lid."""
    kit = Kit()
    kit.put(
        "body",
        [
            lathe(
                [(0, 0), (radius * 0.93, 0), (radius, height * 0.86), (0, height * 0.86)],
                ease=0.008,
            )
        ],
        colour,
        "metal",
    )
    k = height * 0.86
    lid = lathe(
        [
            (0, k),
            (radius * 1.03, k),
            (radius * 1.03, k + 0.022),
            (radius * 0.75, height),
            (0, height + 0.006),
        ],
        ease=0.012,
    )
    kit.put("lid", [lid, disc(0.018, 0.03, (0, 0, height + 0.012))], (0.14, 0.15, 0.16), "plastic")
    return kit.meshes


def wall_tiles(
    width: float = 2.6,
    height: float = 1.2,
    tile: float = 0.2,
    colour: Colour = (0.78, 0.82, 0.80),
    border: Colour = (0.50, 0.64, 0.66),
) -> list[Mesh]:
    """Make a field of tiles on a wall at x = 0 that faces +x, middle at y = 0, from z = 0 up."""
    kit = Kit()
    kit.put(
        "joints",
        [box((0.006, width, height), (0.003, 0, height / 2), 0.001)],
        (0.62, 0.63, 0.62),
        "plastic",
    )
    columns, rows = round(width / tile), round(height / tile)
    step = width / columns
    one = [
        box(
            (0.010, step - 0.004, tile - 0.004),
            (0.007, -width / 2 + step * (i + 0.5), tile * (j + 0.5)),
            0.002,
            1,
            1,
        )
        for i in range(columns)
        for j in range(rows)
    ]
    kit.put("", one, colour, "ceramic")
    kit.put(
        "border", [box((0.014, width, 0.03), (0.007, 0, height + 0.015), 0.005)], border, "ceramic"
    )
    return kit.meshes


def feet_down_wheelchair(
    frame: Colour = (0.20, 0.22, 0.25), seat: Colour = (0.12, 0.13, 0.15), brakes: str = "on"
) -> list[Mesh]:
    """Make a wheelchair with both footplates folded up and no strap behind the calves."""
    made = furniture.wheelchair(
        footplate_left="up",
        footplate_right="up",
        brake_left=brakes,
        brake_right=brakes,
        frame=frame,
        seat=seat,
        knob=(0.12, 0.12, 0.13),
    )
    lower = (0, 0, -0.03)
    return [
        replace(m, vertices=m.vertices + lower) if m.name in ("seat", "seat-sling") else m
        for m in made
        if m.name != "calf-strap"
    ]


TOILETING: dict[str, Callable[..., list[Mesh]]] = {
    "bin": bin_with_lid,
    "feet-down-wheelchair": feet_down_wheelchair,
    "paper-roll": paper_roll,
    "reacher": reacher,
    "toilet-brush": toilet_brush,
    "toilet-seats": toilet_seats,
    "wall-tiles": wall_tiles,
}
