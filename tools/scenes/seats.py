"""Chairs and the powered wheelchair, each at its own origin, forward +x."""

from __future__ import annotations

import numpy as np
from furniture import DARK, OAK, SIDES, STEEL, _castor, _one_of, _tray
from shapes import (
    Colour,
    Kit,
    Mesh,
    Solid,
    ball,
    bent,
    box,
    changed,
    disc,
    ellipse,
    lathe,
    loft,
    moved,
    pad,
    ring,
    rod,
    spline,
    tube,
    turned,
)

BEECH: Colour = (0.74, 0.57, 0.40)


def _leg(
    foot: tuple[float, float], top: tuple[float, float], height: float, thick: float = 0.036
) -> Solid:
    """Make a wooden leg from the floor up, thinner at its foot."""
    rings = [
        ellipse(thick * k / 2, thick * k / 2, (x, y, z), 20, 4)
        for x, y, z, k in (
            (*foot, 0.0, 0.62),
            (*foot, 0.004, 0.68),
            (*top, height - 0.004, 1.0),
            (*top, height, 0.9),
        )
    ]
    return loft(rings)


def chair(
    seat: Colour = (0.42, 0.47, 0.44), wood: Colour = BEECH, arms: bool = False
) -> list[Mesh]:
    """Make a wooden chair with an upholstered seat, 0.47 m high."""
    kit = Kit()
    parts = []
    for _, s in SIDES:
        parts.append(_leg((0.21, s * 0.215), (0.19, s * 0.195), 0.44))
        parts.append(
            tube(
                spline(
                    [
                        (-0.25, s * 0.2, 0.0),
                        (-0.20, s * 0.19, 0.44),
                        (-0.215, s * 0.19, 0.66),
                        (-0.27, s * 0.185, 0.90),
                    ]
                ),
                0.017,
            )
        )
        parts.append(box((0.38, 0.02, 0.055), (-0.005, s * 0.195, 0.41), 0.006))
        if arms:
            parts.append(
                tube(
                    spline(
                        [
                            (-0.22, s * 0.21, 0.66),
                            (0.0, s * 0.245, 0.675),
                            (0.17, s * 0.24, 0.66),
                            (0.20, s * 0.225, 0.63),
                            (0.195, s * 0.205, 0.44),
                        ],
                        10,
                    ),
                    0.016,
                )
            )
    parts += [box((0.02, 0.38, 0.055), (x, 0, 0.41), 0.006) for x in (0.185, -0.195)]
    for z, x, h in ((0.86, -0.262, 0.085), (0.70, -0.228, 0.05)):
        slat = turned(box((0.016, 0.37, h), (0, 0, 0), 0.007, 6), "y", -12)
        parts.append(
            moved(
                changed(
                    slat,
                    lambda v: (
                        v
                        - np.stack(
                            [0.03 * (1 - (v[:, 1] / 0.185) ** 2), 0 * v[:, 1], 0 * v[:, 1]], 1
                        )
                    ),
                ),
                (x, 0, z),
            )
        )
    kit.put("frame", parts, wood, "wood")
    kit.put("seat", [pad((0.42, 0.43, 0.055), (0.0, 0, 0.455), 0.022, 0.012)], seat, "cloth")
    return kit.meshes


def armchair(
    cover: Colour = (0.50, 0.42, 0.36),
    wood: Colour = OAK,
    seat: float = 0.46,
    castors: bool = False,
) -> list[Mesh]:
    """Make an upholstered armchair with a high back; `seat` is how high one sits."""
    kit = Kit()
    lift = seat - 0.46
    soft = [
        pad((0.56, 0.52, 0.15), (0.06, 0, 0.385 + lift), 0.05, 0.02),
        moved(
            turned(pad((0.66, 0.54, 0.14), (0, 0, 0), 0.055, 0.025), "y", 101),
            (-0.285, 0, 0.76 + lift),
        ),
        moved(
            turned(pad((0.22, 0.46, 0.11), (0, 0, 0), 0.045, 0.02), "y", 101),
            (-0.275, 0, 0.97 + lift),
        ),
    ]
    kit.put("cushions", soft, cover, "cloth")
    shell = [
        moved(
            turned(box((0.70, 0.60, 0.06), (0, 0, 0), 0.028, 4, 3), "y", 101),
            (-0.365, 0, 0.745 + lift),
        ),
        box((0.62, 0.60, 0.12), (0.02, 0, 0.275 + lift), 0.03, 1, 3),
    ]
    shell += [
        box((0.62, 0.085, 0.30), (0.02, s * 0.305, 0.45 + lift), 0.035, 4, 3) for _, s in SIDES
    ]
    kit.put("shell", shell, tuple(0.92 * c for c in cover), "cloth")
    for side, s in SIDES:
        rest = box((0.56, 0.10, 0.055), (0.055, s * 0.305, 0.625 + lift), 0.025, 6, 3)
        kit.put(f"armrest-{side}", [rest], wood, "wood")
    for i, (x, y) in enumerate(((0.27, 0.27), (0.27, -0.27), (-0.30, 0.27), (-0.30, -0.27))):
        if castors:
            _castor(kit, f"castor-{i}", x, y, 0.042, 0.22 + min(lift, 0))
        else:
            kit.put(
                f"leg-{i}", [_leg((x * 1.04, y * 1.04), (x, y), 0.23 + lift, 0.05)], wood, "wood"
            )
    return kit.meshes


def riser_armchair(
    height: str = "low",
    cover: Colour = (0.36, 0.44, 0.48),
    brakes: str = "on",
    footrest: bool = False,
) -> list[Mesh]:
    """Make a riser armchair on castors with its hand control; the seat is low or high."""
    kit = Kit()
    high = _one_of("height", height, "low", "high") == "high"
    kit.meshes += armchair(cover, OAK, 0.62 if high else 0.46, True)
    lift = 0.16 if high else 0.0
    base = [box((0.60, 0.05, 0.05), (-0.015, s * 0.27, 0.125), 0.012) for s in (-1, 1)]
    base += [box((0.05, 0.54, 0.05), (x, 0, 0.125), 0.012) for x in (-0.29, 0.26)]
    kit.put("base", base, (0.25, 0.25, 0.26), "metal")
    if high:
        arms = [
            turned(box((0.46, 0.03, 0.04), (0, s * 0.22, 0.25), 0.01), "y", t * 21, (0, 0, 0.25))
            for s in (-1, 1)
            for t in (-1, 1)
        ]
        arms.append(rod((-0.1, 0, 0.15), (0.1, 0, 0.33), 0.025))
        kit.put("lift", arms, STEEL, "metal")
    on = _one_of("brakes", brakes, "on", "off") == "on"
    for s in (-1, 1):
        pedal = turned(
            box((0.085, 0.045, 0.012), (0.36, s * 0.27, 0.075), 0.005),
            "y",
            18 if on else -28,
            (0.30, s * 0.27, 0.075),
        )
        kit.put(
            "pedal-left" if s > 0 else "pedal-right",
            [pedal],
            (0.70, 0.14, 0.12) if on else (0.20, 0.48, 0.25),
            "plastic",
        )
    if footrest:
        rest = turned(
            pad((0.42, 0.50, 0.07), (0.55, 0, 0.37 + lift), 0.03, 0.01),
            "y",
            8,
            (0.33, 0, 0.4 + lift),
        )
        kit.put("footrest", [rest], cover, "cloth")
    control = box((0.13, 0.05, 0.026), (0.16, 0.385, 0.56 + lift), 0.01)
    kit.put("control", [turned(control, "y", 80, (0.16, 0.385, 0.56 + lift))], DARK, "plastic")
    cable = spline(
        [
            (0.16, 0.385, 0.49 + lift),
            (0.12, 0.41, 0.36 + lift),
            (0.0, 0.39, 0.24),
            (-0.1, 0.30, 0.2),
        ]
    )
    kit.put("control-cable", [tube(cable, 0.004, 8)], DARK, "rubber")
    return kit.meshes


def stool(
    height: float = 0.46, seat: Colour = (0.42, 0.44, 0.47), wood: Colour = BEECH
) -> list[Mesh]:
    """Make a round stool with four legs."""
    kit = Kit()
    legs = []
    for t in np.radians([45, 135, 225, 315]):
        c, s = np.cos(t), np.sin(t)
        legs.append(_leg((0.19 * c, 0.19 * s), (0.12 * c, 0.12 * s), height - 0.04))
    legs.append(ring(0.15, 0.009, (0, 0, 0.20)))
    kit.put("legs", legs, wood, "wood")
    top = lathe(
        [
            (0, height - 0.05),
            (0.165, height - 0.05),
            (0.172, height - 0.005),
            (0.12, height + 0.003),
            (0, height),
        ],
        ease=0.015,
    )
    kit.put("seat", [top], seat, "leather")
    return kit.meshes


def powered_wheelchair(
    tray: bool = False,
    seat: Colour = (0.10, 0.10, 0.11),
    joystick: str = "right",
    body: Colour = (0.22, 0.30, 0.38),
    headrest: bool = True,
    footplate_left: str = "down",
    footplate_right: str = "down",
) -> list[Mesh]:
    """Make a powered wheelchair, its seat 0.53 m high."""
    kit = Kit()
    for side, s in SIDES:
        c = (0.0, s * 0.275, 0.17)
        kit.put(f"tyre-{side}", [disc(0.17, 0.075, c, "y", 0.028)], DARK, "rubber")
        kit.put(f"wheel-{side}", [disc(0.095, 0.085, c, "y", 0.01)], (0.6, 0.61, 0.62), "plastic")
        _castor(kit, f"castor-front-{side}", 0.33, s * 0.23, 0.075, 0.20)
        _castor(kit, f"castor-rear-{side}", -0.36, s * 0.20, 0.075, 0.20)
        pan = box((0.32, 0.07, 0.05), (0.0, s * 0.275, 0.70), 0.022, 2, 3)
        kit.put(f"armrest-{side}-pad", [pan], (0.07, 0.07, 0.075), "leather")
        post = bent(
            [(-0.24, s * 0.275, 0.50), (-0.24, s * 0.275, 0.675), (0.12, s * 0.275, 0.675)], 0.04
        )
        kit.put(f"armrest-{side}-tube", [tube(post, 0.013)], DARK, "metal")
        plate = box((0.20, 0.14, 0.014), (0.48, s * 0.09, 0.11), 0.006)
        if _one_of("footplate", locals()[f"footplate_{side}"], "up", "down") == "up":
            plate = turned(plate, "x", s * -95, (0.48, s * 0.165, 0.11))
        kit.put(f"footplate-{side}", [plate], (0.15, 0.15, 0.16), "plastic")
        hanger = bent(
            [
                (0.22, s * 0.12, 0.48),
                (0.31, s * 0.14, 0.48),
                (0.41, s * 0.165, 0.11),
                (0.56, s * 0.165, 0.11),
            ],
            0.05,
        )
        kit.put(f"hanger-{side}", [tube(hanger, 0.012)], DARK, "metal")
    kit.put("body", [box((0.52, 0.40, 0.20), (-0.04, 0, 0.24), 0.06, 4, 3)], body, "plastic")
    kit.put(
        "frame",
        [box((0.66, 0.06, 0.05), (0, s * 0.2, 0.17), 0.015) for s in (-1, 1)]
        + [
            box((0.62, 0.3, 0.04), (0, 0, 0.17), 0.015),
            box((0.2, 0.2, 0.14), (0, 0, 0.39), 0.03),
            box((0.46, 0.42, 0.02), (0, 0, 0.452), 0.008),
        ],
        (0.2, 0.2, 0.21),
        "metal",
    )
    soft = [
        pad((0.47, 0.45, 0.075), (0.01, 0, 0.50), 0.03, 0.012),
        moved(turned(pad((0.52, 0.42, 0.07), (0, 0, 0), 0.03, 0.018), "y", 98), (-0.27, 0, 0.79)),
    ]
    kit.put("seat", soft, seat, "cloth")
    kit.put(
        "back-shell",
        [moved(turned(box((0.50, 0.40, 0.03), (0, 0, 0), 0.014), "y", 98), (-0.325, 0, 0.78))],
        (0.2, 0.2, 0.21),
        "plastic",
    )
    if headrest:
        kit.put(
            "headrest",
            [
                moved(
                    turned(pad((0.13, 0.25, 0.06), (0, 0, 0), 0.028, 0.01), "y", 98),
                    (-0.315, 0, 1.18),
                )
            ],
            seat,
            "leather",
        )
        kit.put("headrest-post", [rod((-0.33, 0, 0.95), (-0.345, 0, 1.17), 0.009)], STEEL, "metal")
    hand = 1 if _one_of("joystick", joystick, "left", "right") == "left" else -1
    kit.put(
        "joystick",
        [
            box((0.13, 0.07, 0.045), (0.22, hand * 0.275, 0.69), 0.018, 1, 3),
            rod((0.24, hand * 0.275, 0.71), (0.24, hand * 0.275, 0.765), 0.005),
            ball((0.016, 0.016, 0.02), (0.24, hand * 0.275, 0.775)),
        ],
        DARK,
        "plastic",
    )
    if tray:
        kit.meshes += _tray((0.15, 0, 0.745))
    return kit.meshes
