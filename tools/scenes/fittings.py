"""Fittings of a room, each at its own origin, forward +x."""

from __future__ import annotations

import numpy as np
from furniture import DARK, STEEL
from shapes import (
    Colour,
    Kit,
    Mesh,
    ball,
    band,
    bent,
    box,
    disc,
    lathe,
    rod,
    spline,
    turned,
)
from shapes import tube as pipe


def door(
    width: float = 0.93,
    height: float = 2.08,
    colour: Colour = (0.80, 0.77, 0.71),
    opened: float = 0.0,
) -> list[Mesh]:
    """Make a door in its frame, to stand on a wall; it faces +x, `opened` is in degrees."""
    kit = Kit()
    frame = [
        box((0.06, 0.075, height + 0.07), (0.01, s * (width / 2 + 0.035), height / 2 + 0.03), 0.008)
        for s in (-1, 1)
    ]
    frame.append(box((0.06, width + 0.14, 0.075), (0.01, 0, height + 0.035), 0.008))
    kit.put("frame", frame, (0.83, 0.83, 0.81), "plastic")
    hinge = (0.02, width / 2, 0)
    leaf = [box((0.04, width, height), (0.005, 0, height / 2), 0.004)]
    kit.put("leaf", [turned(p, "z", opened, hinge) for p in leaf], colour, "plastic")
    y = -width / 2 + 0.075
    grip = [
        disc(0.025, 0.014, (0.03, y, 1.03), "x"),
        pipe(bent([(0.03, y, 1.03), (0.08, y, 1.03), (0.08, y + 0.12, 1.03)], 0.02), 0.0095),
    ]
    kit.put("handle", [turned(p, "z", opened, hinge) for p in grip], STEEL, "metal")
    return kit.meshes


def window(
    width: float = 1.2, height: float = 1.2, sill: float = 0.9, colour: Colour = (0.85, 0.85, 0.84)
) -> list[Mesh]:
    """Make a window to stand on a wall; it faces +x."""
    kit = Kit()
    middle = sill + height / 2
    bars = [
        box((0.06, 0.06, height + 0.06), (0.02, y, middle), 0.01)
        for y in (-width / 2, 0, width / 2)
    ]
    bars += [box((0.06, width, 0.06), (0.02, 0, z), 0.01) for z in (sill, sill + height)]
    bars.append(box((0.16, width + 0.16, 0.028), (0.06, 0, sill - 0.035), 0.01))
    kit.put("frame", bars, colour, "plastic")
    kit.put(
        "pane", [box((0.006, width, height), (0.012, 0, middle), 0.002)], (0.9, 0.95, 1.0), "sky"
    )
    return kit.meshes


def radio(colour: Colour = (0.55, 0.30, 0.22)) -> list[Mesh]:
    """Make a table radio that faces +x."""
    kit = Kit()
    kit.put("case", [box((0.085, 0.24, 0.15), (0, 0, 0.079), 0.022, 1, 3)], colour, "wood")
    kit.put(
        "front",
        [box((0.006, 0.215, 0.122), (0.041, 0, 0.079), 0.002)],
        (0.80, 0.77, 0.70),
        "plastic",
    )
    slots = [
        box((0.004, 0.11, 0.0035), (0.0435, 0.045, 0.032 + 0.0115 * i), 0.0015) for i in range(9)
    ]
    kit.put("grille", slots, (0.20, 0.19, 0.18), "plastic")
    kit.put(
        "knobs",
        [disc(0.017, 0.016, (0.05, -0.065, z), "x") for z in (0.055, 0.105)],
        STEEL,
        "metal",
    )
    kit.put("aerial", [rod((-0.03, 0.10, 0.15), (-0.05, 0.17, 0.38), 0.0025, 8)], STEEL, "metal")
    return kit.meshes


def lamp(
    colour: Colour = (0.88, 0.82, 0.70),
    lit: bool = False,
    height: float = 0.42,
    base: Colour = (0.45, 0.47, 0.42),
) -> list[Mesh]:
    """Make a table lamp with a shade."""
    kit = Kit()
    kit.put(
        "base",
        [
            lathe(
                [
                    (0, 0),
                    (0.075, 0),
                    (0.075, 0.018),
                    (0.02, 0.03),
                    (0.045, 0.09),
                    (0.05, 0.13),
                    (0.018, 0.20),
                    (0.012, height - 0.1),
                    (0, height - 0.1),
                ],
                ease=0.02,
            )
        ],
        base,
        "ceramic",
    )
    shade = lathe(
        [(0.135, height - 0.19), (0.085, height), (0.082, height), (0.132, height - 0.19)],
        ends=False,
    )
    kit.put("shade", [shade], colour, "light" if lit else "cloth")
    return kit.meshes


def hoist_rail(
    length: float = 3.0,
    height: float = 2.4,
    at_x: float = 0.0,
    drop: float = 0.9,
    boom: bool = True,
    sling: bool = False,
) -> list[Mesh]:
    """Make a ceiling rail along x with a hoist, a strap `drop` long and a spreader bar."""
    kit = Kit()
    kit.put(
        "rail",
        [
            box((length, 0.06, 0.055), (0, 0, height), 0.008),
            *[
                box((0.06, 0.12, 0.012), (x, 0, height + 0.032), 0.004)
                for x in (-length / 2 + 0.2, 0, length / 2 - 0.2)
            ],
        ],
        (0.84, 0.85, 0.86),
        "metal",
    )
    case = [box((0.30, 0.17, 0.15), (at_x, 0, height - 0.13), 0.05, 3, 3)]
    kit.put("hoist", case, (0.86, 0.87, 0.87), "plastic")
    kit.put(
        "hoist-trim",
        [box((0.302, 0.172, 0.02), (at_x, 0, height - 0.15), 0.009)],
        (0.3, 0.42, 0.52),
        "plastic",
    )
    if not boom:
        return kit.meshes
    z = height - 0.2 - drop
    kit.put(
        "strap",
        [band(np.array([(at_x, 0, height - 0.19), (at_x, 0, z + 0.06)]), (0, 0.035, 0), 0.003)],
        (0.20, 0.22, 0.25),
        "cloth",
    )
    bar = spline(
        [
            (at_x, -0.26, z - 0.02),
            (at_x, -0.2, z + 0.012),
            (at_x, 0, z + 0.035),
            (at_x, 0.2, z + 0.012),
            (at_x, 0.26, z - 0.02),
        ],
        12,
    )
    kit.put(
        "spreader-bar",
        [pipe(bar, 0.018, 14), ball((0.032, 0.045, 0.035), (at_x, 0, z + 0.045))],
        (0.86, 0.87, 0.87),
        "plastic",
    )
    hooks = []
    for s in (-1, 1):
        for x in (-1, 1):
            y = s * (0.26 if x > 0 else 0.19)
            hooks.append(
                pipe(
                    spline(
                        [
                            (at_x, y, z),
                            (at_x + x * 0.03, y, z - 0.03),
                            (at_x + x * 0.04, y, z - 0.06),
                            (at_x + x * 0.015, y, z - 0.075),
                            (at_x + x * 0.002, y, z - 0.055),
                        ]
                    ),
                    0.006,
                )
            )
    kit.put("hooks", hooks, STEEL, "metal")
    if sling:
        for side, s in (("left", 1), ("right", -1)):
            loops = [
                band(
                    spline(
                        [
                            (at_x + x * 0.03, s * 0.24, z - 0.06),
                            (at_x + x * 0.10, s * 0.25, z - 0.3),
                            (at_x + x * 0.16, s * 0.22, z - 0.55),
                        ]
                    ),
                    (0.0, 0.03, 0),
                    0.003,
                )
                for x in (-1, 1)
            ]
            kit.put(f"sling-{side}", loops, (0.25, 0.38, 0.55), "cloth")
    return kit.meshes


def robot_arm(
    reach: float = 0.55,
    height: float = 0.75,
    opened: float = 0.06,
    colour: Colour = (0.86, 0.87, 0.88),
    accent: Colour = (0.25, 0.42, 0.55),
    base: bool = False,
) -> list[Mesh]:
    """Make a robot arm from a shoulder at the origin, its gripper at (reach, 0, height) to +x."""
    kit = Kit()
    hand = np.array([reach, 0, height])
    shoulder = np.array([0, 0, 0.08])
    wrist = hand - (0.16, 0, 0)
    far = np.linalg.norm(wrist - shoulder)
    elbow = (shoulder + wrist) / 2 + np.array([-0.35, 0, 0.9]) * 0.28 * max(0.3, 1.1 - far)
    white, bands = [], []
    for a, b, r in ((shoulder, elbow, 0.052), (elbow, wrist, 0.043)):
        white.append(pipe([a, a + (b - a) * 0.5, b], [r, r * 0.88, r * 0.95], 24))
    for p, r in ((shoulder, 0.058), (elbow, 0.052), (wrist, 0.044)):
        white.append(disc(r, 0.15 * r / 0.058, p, "y", 0.012))
        bands += [disc(r * 0.72, 0.165 * r / 0.058, p, "y", 0.004)]
    white.append(rod(wrist, wrist + np.array((0.06, 0, 0)), 0.036, 24))
    kit.put("links", white, colour, "plastic")
    kit.put("joints", bands, accent, "plastic")
    palm = box((0.05, 0.115, 0.06), wrist + np.array((0.085, 0, 0)), 0.016, 1, 3)
    kit.put("palm", [palm], (0.22, 0.23, 0.24), "plastic")
    fingers = []
    for s in (-1, 1):
        y = s * (opened / 2 + 0.009)
        fingers.append(box((0.06, 0.016, 0.028), wrist + np.array((0.125, y * 1.15, 0)), 0.006))
        fingers.append(box((0.055, 0.014, 0.024), wrist + np.array((0.17, y, 0)), 0.006))
    kit.put("fingers", fingers, DARK, "rubber")
    if base:
        kit.put(
            "base",
            [lathe([(0.11, -0.9), (0.10, -0.1), (0.07, 0.06), (0, 0.08)], ease=0.04)],
            colour,
            "plastic",
        )
    return kit.meshes
