"""The things of a bathroom, each at its own origin, forward +x."""

from __future__ import annotations

import numpy as np
from furniture import GREY, SIDES, STEEL, WHITE, _castor, _one_of
from shapes import (
    Colour,
    Kit,
    Mesh,
    bent,
    box,
    changed,
    disc,
    ellipse,
    lathe,
    loft,
    moved,
    rod,
    tube,
    turned,
)


def shower_chair(
    colour: Colour = (0.86, 0.87, 0.86),
    arms: bool = True,
    back: bool = True,
    castors: bool = False,
    accent: Colour = (0.36, 0.52, 0.60),
) -> list[Mesh]:
    """Make a shower chair of plastic and white tubes, its seat 0.50 m high."""
    kit = Kit()
    low = 0.12 if castors else 0.0
    frame = []
    for i, (x, s) in enumerate(((0.2, 1), (0.2, -1), (-0.2, 1), (-0.2, -1))):
        foot = (x * 1.12, s * 0.24, low)
        frame.append(rod(foot, (x * 0.95, s * 0.215, 0.47), 0.0135))
        if castors:
            _castor(kit, f"castor-{i}", foot[0], foot[1], 0.05, 0.14)
        else:
            kit.put(
                f"foot-{i}",
                [
                    lathe(
                        [(0, 0), (0.024, 0), (0.017, 0.045), (0, 0.045)],
                        (foot[0], foot[1], 0),
                        ease=0.006,
                    )
                ],
                GREY,
                "rubber",
            )
    for _, s in SIDES:
        frame.append(rod((-0.2, s * 0.215, 0.46), (0.2, s * 0.215, 0.46), 0.0125))
        if arms:
            frame.append(
                tube(
                    bent(
                        [
                            (-0.2, s * 0.235, 0.46),
                            (-0.21, s * 0.245, 0.69),
                            (0.16, s * 0.245, 0.69),
                            (0.18, s * 0.235, 0.46),
                        ],
                        0.06,
                    ),
                    0.0125,
                )
            )
    kit.put("frame", frame, (0.84, 0.85, 0.85), "plastic")
    if arms:
        for side, s in SIDES:
            kit.put(
                f"armrest-{side}",
                [rod((-0.13, s * 0.245, 0.692), (0.12, s * 0.245, 0.692), 0.02)],
                accent,
                "rubber",
            )
    plate = loft(
        [
            ellipse(0.22 * k, 0.225 * k, (0.01, 0, z), 64, 3.6)
            for z, k in (
                (0.472, 0.94),
                (0.476, 0.985),
                (0.49, 1.0),
                (0.504, 0.985),
                (0.509, 0.95),
                (0.502, 0.86),
                (0.499, 0.5),
            )
        ]
    )
    kit.put("seat", [plate], colour, "plastic")
    holes = [
        disc(0.008, 0.003, (x, y, 0.5005), "z", 0.001)
        for x in (-0.09, 0.0, 0.09)
        for y in (-0.09, 0.0, 0.09)
    ]
    kit.put("seat-holes", holes, (0.35, 0.36, 0.36), "plastic")
    if back:
        hoop = bent(
            [
                (-0.205, 0.20, 0.46),
                (-0.26, 0.19, 0.86),
                (-0.26, -0.19, 0.86),
                (-0.205, -0.20, 0.46),
            ],
            0.09,
            10,
        )
        kit.put("back-tube", [tube(hoop, 0.0125)], (0.84, 0.85, 0.85), "plastic")
        rest = changed(
            turned(box((0.024, 0.34, 0.20), (0, 0, 0), 0.011, 6, 3), "y", -8),
            lambda v: (
                v - np.stack([0.03 * (1 - (v[:, 1] / 0.17) ** 2), 0 * v[:, 1], 0 * v[:, 1]], 1)
            ),
        )
        kit.put("back", [moved(rest, (-0.225, 0, 0.74))], colour, "plastic")
    return kit.meshes


def toilet(
    raised: bool = False,
    arms: bool = False,
    lid: str = "up",
    cistern: bool = True,
    seat: Colour = (0.88, 0.88, 0.87),
) -> list[Mesh]:
    """Make a toilet, forward +x, its seat's middle at the origin, with a raised seat or not."""
    kit = Kit()
    bowl = []
    for z, rx, ry, x in (
        (0.0, 0.20, 0.12, -0.10),
        (0.02, 0.20, 0.12, -0.10),
        (0.12, 0.17, 0.105, -0.10),
        (0.22, 0.18, 0.13, -0.06),
        (0.32, 0.235, 0.175, -0.015),
        (0.39, 0.255, 0.19, 0.0),
        (0.405, 0.25, 0.185, 0.0),
        (0.405, 0.19, 0.13, 0.01),
        (0.38, 0.175, 0.12, 0.01),
        (0.27, 0.12, 0.08, 0.0),
        (0.22, 0.05, 0.04, 0.0),
    ):
        bowl.append(ellipse(rx, ry, (x, 0, z), 56, 2.3))
    parts = [loft(bowl), box((0.12, 0.30, 0.06), (-0.27, 0, 0.375), 0.025, 1, 3)]
    if cistern:
        parts += [
            box((0.18, 0.40, 0.36), (-0.385, 0, 0.60), 0.035, 1, 3),
            box((0.195, 0.415, 0.035), (-0.385, 0, 0.79), 0.015, 1, 3),
        ]
        kit.put("flush", [disc(0.028, 0.014, (-0.385, 0, 0.813))], STEEL, "metal")
    kit.put("bowl", parts, (0.90, 0.90, 0.89), "ceramic")
    z = 0.415
    if raised:
        rise = [
            ellipse(rx, ry, (x, 0, h), 56, 2.3)
            for h, rx, ry, x in (
                (0.41, 0.235, 0.185, 0),
                (0.43, 0.245, 0.195, 0),
                (0.50, 0.235, 0.195, 0),
                (0.52, 0.225, 0.19, 0),
                (0.525, 0.20, 0.165, 0),
                (0.51, 0.145, 0.10, 0.01),
                (0.42, 0.135, 0.095, 0.01),
            )
        ]
        kit.put("raised-seat", [loft(rise, False)], seat, "plastic")
        z = 0.525
    else:
        torus = [
            ellipse(
                0.20 + 0.045 * np.cos(t),
                0.145 + 0.045 * np.cos(t),
                (0.005, 0, z + 0.012 + 0.012 * np.sin(t)),
                56,
                2.3,
            )
            for t in np.linspace(0, 2 * np.pi, 14, endpoint=False)
        ]
        kit.put("seat", [loft(torus, closed=True)], seat, "plastic")
    cover = loft(
        [
            ellipse(0.245 * k, 0.19 * k, (0.005, 0, h), 56, 2.3)
            for h, k in ((0, 0.97), (0.006, 1.0), (0.014, 0.99), (0.02, 0.9), (0.022, 0.4))
        ]
    )
    state = _one_of("lid", lid, "up", "down", "none")
    if state == "up":
        cover = turned(cover, "y", -98, (-0.245, 0, 0.0))
    if state != "none":
        kit.put(
            "lid",
            [moved(cover, (0, 0, z + 0.028 if state == "down" else z + 0.02))],
            seat,
            "plastic",
        )
    if arms:
        for side, s in SIDES:
            kit.put(
                f"arm-{side}",
                [
                    tube(
                        bent(
                            [
                                (-0.30, s * 0.31, 0.66),
                                (-0.30, s * 0.31, 0.73),
                                (0.22, s * 0.31, 0.73),
                                (0.22, s * 0.31, 0.0),
                            ],
                            0.06,
                        ),
                        0.015,
                    )
                ],
                WHITE,
                "plastic",
            )
    return kit.meshes


def wash_basin(height: float = 0.83, rail: bool = True, tap: bool = True) -> list[Mesh]:
    """Make a wash basin with a tap and a rail; its wall is at x = 0, its front at +x."""
    kit = Kit()
    rings = [
        ellipse(rx, ry, (x, 0, height + z), 64, n)
        for z, rx, ry, x, n in (
            (-0.17, 0.08, 0.10, 0.2, 2.5),
            (-0.15, 0.16, 0.19, 0.23, 3),
            (-0.07, 0.235, 0.275, 0.245, 4),
            (-0.01, 0.25, 0.295, 0.25, 4.5),
            (0.0, 0.243, 0.288, 0.25, 4.5),
            (-0.004, 0.19, 0.245, 0.275, 3.2),
            (-0.03, 0.17, 0.225, 0.28, 2.8),
            (-0.10, 0.11, 0.15, 0.28, 2.4),
            (-0.12, 0.03, 0.03, 0.28, 2),
        )
    ]
    kit.put("bowl", [loft(rings)], (0.91, 0.91, 0.90), "ceramic")
    kit.put("drain", [disc(0.022, 0.004, (0.28, 0, height - 0.117))], STEEL, "metal")
    pipe = bent([(0.22, 0, height - 0.16), (0.22, 0, height - 0.32), (0.0, 0, height - 0.32)], 0.05)
    kit.put("pipe", [tube(pipe, 0.018)], STEEL, "metal")
    if tap:
        spout = bent(
            [
                (0.06, 0, height),
                (0.06, 0, height + 0.14),
                (0.19, 0, height + 0.14),
                (0.19, 0, height + 0.10),
            ],
            0.045,
            8,
        )
        lever = turned(
            box((0.11, 0.022, 0.01), (0.10, 0, height + 0.18), 0.004),
            "y",
            -14,
            (0.06, 0, height + 0.18),
        )
        kit.put(
            "tap",
            [
                tube(spout, 0.012),
                disc(0.024, 0.016, (0.06, 0, height + 0.006)),
                disc(0.017, 0.03, (0.06, 0, height + 0.162)),
                lever,
            ],
            STEEL,
            "metal",
        )
    if rail:
        for side, s in SIDES:
            path = bent(
                [
                    (0.0, s * 0.37, height - 0.02),
                    (0.52, s * 0.37, height - 0.02),
                    (0.52, s * 0.37, height - 0.14),
                    (0.0, s * 0.37, height - 0.14),
                ],
                0.05,
                8,
            )
            kit.put(
                f"rail-{side}",
                [
                    tube(path, 0.0155),
                    disc(0.04, 0.012, (0.006, s * 0.37, height - 0.02), "x"),
                    disc(0.04, 0.012, (0.006, s * 0.37, height - 0.14), "x"),
                ],
                (0.86, 0.86, 0.85),
                "plastic",
            )
    return kit.meshes


def bath_lift(
    height: float = 0.40, colour: Colour = (0.87, 0.88, 0.88), back: float = 15.0, bath: bool = True
) -> list[Mesh]:
    """Make a bath lift, in its bath or alone; `height` is its seat over the bath's floor."""
    kit = Kit()
    floor = 0.14 if bath else 0.0
    z = floor + height
    kit.put(
        "seat",
        [box((0.40, 0.36, 0.03), (0.02, 0, z), 0.013, 1, 3)]
        + [box((0.38, 0.14, 0.02), (0.02, s * 0.25, z), 0.009, 1, 3) for s in (-1, 1)],
        colour,
        "plastic",
    )
    rest = turned(box((0.035, 0.36, 0.62), (0, 0, 0.31), 0.016, 1, 3), "y", -back)
    kit.put("back", [moved(rest, (-0.19, 0, z))], colour, "plastic")
    kit.put(
        "pads",
        [
            box((0.36, 0.32, 0.008), (0.02, 0, z + 0.018), 0.004),
            moved(
                turned(box((0.01, 0.32, 0.54), (0.021, 0, 0.32), 0.004), "y", -back), (-0.19, 0, z)
            ),
        ],
        (0.30, 0.45, 0.58),
        "leather",
    )
    legs = [
        turned(
            box((max(height, 0.2) * 0.95, 0.03, 0.04), (0, s * 0.13, floor + height / 2), 0.01),
            "y",
            t * 40,
            (0, 0, floor + height / 2),
        )
        for s in (-1, 1)
        for t in (-1, 1)
    ]
    legs.append(box((0.46, 0.32, 0.025), (0, 0, floor + 0.02), 0.01))
    kit.put("lift", legs, (0.70, 0.71, 0.72), "plastic")
    if bath:
        rings = [
            ellipse(rx, ry, (0.35, 0, h), 72, n)
            for h, rx, ry, n in (
                (0.02, 0.80, 0.30, 4),
                (0.30, 0.84, 0.35, 5),
                (0.56, 0.87, 0.385, 7),
                (0.585, 0.88, 0.39, 8),
                (0.59, 0.87, 0.385, 8),
                (0.588, 0.81, 0.325, 6),
                (0.56, 0.79, 0.305, 5),
                (0.20, 0.70, 0.24, 4),
                (0.14, 0.62, 0.19, 4),
                (0.135, 0.3, 0.1, 3),
            )
        ]
        kit.put("bath", [loft(rings)], (0.90, 0.90, 0.89), "ceramic")
    return kit.meshes
