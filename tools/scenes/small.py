"""Small things and tubes, each at its own origin, forward +x."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from furniture import DARK, GREY, STEEL, WHITE
from shapes import (
    Array,
    Colour,
    Kit,
    Mesh,
    Solid,
    bent,
    box,
    disc,
    ellipse,
    lathe,
    loft,
    moved,
    pad,
    ring,
    rod,
    sheet,
    spline,
    turned,
    turning,
)
from shapes import tube as pipe


def cup(
    colour: Colour = (0.78, 0.80, 0.80),
    height: float = 0.095,
    full: bool = True,
    drink: Colour = (0.35, 0.20, 0.10),
    spout: bool = False,
) -> list[Mesh]:
    """Make a mug with a handle at -y, or a beaker with a spouted lid at +x."""
    kit = Kit()
    r = 0.041
    wall = lathe(
        [
            (0, 0),
            (r * 0.86, 0),
            (r, height * 0.5),
            (r, height),
            (r - 0.004, height),
            (r - 0.005, height * 0.5),
            (r * 0.8, 0.006),
            (0, 0.006),
        ],
        ease=0.003,
    )
    grip = spline(
        [
            (0, -r + 0.001, height * 0.82),
            (0, -r - 0.022, height * 0.78),
            (0, -r - 0.026, height * 0.45),
            (0, -r + 0.002, height * 0.22),
        ],
        8,
    )
    kit.put("cup", [wall, pipe(grip, 0.0052)], colour, "ceramic" if not spout else "plastic")
    if spout:
        lid = lathe(
            [
                (r + 0.001, height - 0.004),
                (r + 0.001, height + 0.006),
                (r * 0.5, height + 0.014),
                (0, height + 0.014),
            ],
            ease=0.003,
        )
        beak = pipe([(0.022, 0, height + 0.008), (0.036, 0, height + 0.04)], [0.012, 0.007])
        kit.put("lid", [lid, beak], (0.45, 0.60, 0.70), "plastic")
    elif full:
        kit.put(
            "drink", [disc(r - 0.005, 0.004, (0, 0, height * 0.82), "z", 0.001)], drink, "plastic"
        )
    return kit.meshes


def bowl(
    colour: Colour = (0.82, 0.83, 0.80),
    radius: float = 0.15,
    height: float = 0.085,
    water: bool = False,
) -> list[Mesh]:
    """Make a bowl, with water in it or not."""
    kit = Kit()
    k = height
    kit.put(
        "bowl",
        [
            lathe(
                [
                    (0, 0),
                    (radius * 0.5, 0),
                    (radius * 0.82, k * 0.4),
                    (radius, k),
                    (radius + 0.008, k + 0.002),
                    (radius - 0.004, k - 0.001),
                    (radius * 0.79, k * 0.44),
                    (radius * 0.5, 0.006),
                    (0, 0.005),
                ],
                ease=0.012,
            )
        ],
        colour,
        "plastic",
    )
    if water:
        kit.put(
            "water",
            [disc(radius * 0.91, 0.004, (0, 0, k * 0.72), "z", 0.001)],
            (0.80, 0.88, 0.90),
            "plastic",
        )
    return kit.meshes


def tube(
    points: Sequence[Sequence[float]],
    radius: float = 0.004,
    colour: Colour = (0.78, 0.80, 0.72),
    material: str = "plastic",
) -> list[Mesh]:
    """Make a smooth tube through points."""
    if len(points) < 2:
        raise ValueError("points: two or more are wanted")
    kit = Kit()
    kit.put("", [pipe(spline([list(p) for p in points], 12), radius, 14)], colour, material)
    return kit.meshes


def urine_bag(
    fill: float = 0.4, colour: Colour = (0.82, 0.66, 0.24), hook: bool = True
) -> list[Mesh]:
    """Make a urine bag that hangs from its top at the origin, facing +x."""
    kit = Kit()
    v, f = pad((0.30, 0.20, 0.02), (0, 0, 0), 0.009, 0.012)
    bag = (np.stack([v[:, 2], v[:, 1], v[:, 0] - 0.17], 1), f[:, ::-1])
    kit.put("bag", [bag], (0.82, 0.85, 0.86), "plastic")
    if fill:
        deep = 0.28 * fill
        v, f = pad((deep, 0.186, 0.024), (0, 0, 0), 0.01, 0.014)
        low = (np.stack([v[:, 2] + 0.002, v[:, 1], v[:, 0] - 0.316 + deep / 2], 1), f[:, ::-1])
        kit.put("urine", [low], colour, "plastic")
    kit.put(
        "tap",
        [rod((0, 0, -0.315), (0, 0, -0.36), 0.008), disc(0.011, 0.02, (0, 0, -0.345), "x")],
        (0.25, 0.45, 0.65),
        "plastic",
    )
    marks = [box((0.002, 0.03, 0.002), (0.019, -0.055, -0.28 + 0.04 * i), 0.0009) for i in range(6)]
    kit.put("marks", marks, (0.3, 0.35, 0.4), "plastic")
    if hook:
        kit.put(
            "hook",
            [
                pipe(
                    bent(
                        [
                            (0, s * 0.06, -0.03),
                            (0, s * 0.06, 0.03),
                            (-0.03, s * 0.06, 0.03),
                            (-0.03, s * 0.06, 0.005),
                        ],
                        0.012,
                    ),
                    0.003,
                    8,
                )
                for s in (-1, 1)
            ],
            WHITE,
            "plastic",
        )
    return kit.meshes


def hair_straightener(
    stand: bool = True,
    on_stand: bool = True,
    opened: float = 7.0,
    colour: Colour = (0.14, 0.13, 0.15),
    accent: Colour = (0.62, 0.35, 0.42),
    cable: bool = True,
) -> list[Mesh]:
    """Make a hair straightener, its plates at +x, in its stand or lying; its stand and cable."""
    kit = Kit()
    hinge = (-0.14, 0, 0)
    lift = np.array([0, 0, 0.05]) if stand and on_stand else np.array([0, 0, 0.019])
    tilt = -18.0 if stand and on_stand else 0.0
    groups: dict[str, list[Solid]] = {"arms": [], "plates": [], "band": []}
    for s in (-1, 1):
        rings = [
            ellipse(0.0075 * k, 0.0165 * w, (0, 0, x), 28, 3.2)
            for x, k, w in (
                (-0.14, 0.7, 0.6),
                (-0.13, 1.0, 0.85),
                (-0.04, 1.0, 0.92),
                (0.02, 1.0, 1.0),
                (0.12, 0.95, 0.95),
                (0.135, 0.6, 0.7),
            )
        ]
        arm = moved(turned(loft(rings), "y", 90), (0, 0, s * 0.0085))
        plate = box((0.095, 0.027, 0.004), (0.075, 0, s * 0.0018), 0.0015)
        trim = moved(
            turned(
                loft([ellipse(0.0079, 0.0170, (0, 0, x), 28, 3.2) for x in (0.005, 0.012)]), "y", 90
            ),
            (0, 0, s * 0.0085),
        )
        for name, part in (("arms", arm), ("plates", plate), ("band", trim)):
            part = turned(part, "y", -s * opened / 2, hinge)
            groups[name].append(moved(turned(part, "y", tilt, (0, 0, 0)), lift))
    kit.put("arms", groups["arms"], colour, "plastic")
    kit.put("plates", groups["plates"], (0.75, 0.55, 0.50), "metal")
    kit.put("band", groups["band"], accent, "metal")
    if stand:
        shift = (0, 0, 0) if on_stand else (0.10, 0.12, 0)
        foot = [box((0.24, 0.09, 0.012), (0.0, 0, 0.006), 0.005, 1, 3)]
        foot += [
            pipe(
                bent(
                    [
                        (0.06, -0.03, 0.01),
                        (0.06, -0.026, 0.078),
                        (0.06, -0.026, 0.05),
                        (0.06, 0.026, 0.05),
                        (0.06, 0.026, 0.078),
                        (0.06, 0.03, 0.01),
                    ],
                    0.008,
                ),
                0.003,
                8,
            ),
            pipe(
                bent(
                    [
                        (-0.08, -0.03, 0.01),
                        (-0.08, -0.02, 0.02),
                        (-0.08, 0.02, 0.02),
                        (-0.08, 0.03, 0.01),
                    ],
                    0.006,
                ),
                0.003,
                8,
            ),
        ]
        kit.put("stand", [moved(p, shift) for p in foot], GREY, "metal")
    if cable:
        start = lift + turning("y", tilt) @ np.array([-0.14, 0, 0])
        path = spline(
            [
                start,
                start + np.array((-0.04, 0.0, -0.006)),
                (-0.24, 0.03, 0.004),
                (-0.30, 0.14, 0.004),
                (-0.22, 0.22, 0.004),
                (-0.30, 0.32, 0.004),
                (-0.44, 0.34, 0.004),
            ],
            12,
        )
        kit.put("cable", [pipe(path, 0.0034, 10)], DARK, "rubber")
    return kit.meshes


def call_switch(
    reach: float = 0.55,
    height: float = 0.25,
    swung: float = 0.0,
    colour: Colour = (0.78, 0.18, 0.14),
    cable: bool = True,
) -> list[Mesh]:
    """Make a call switch on a swivel arm: clamped at the origin, its button `reach` away at +x."""
    kit = Kit()
    end = np.array([reach, 0, height])
    elbow = np.array([reach * 0.45, 0, height + 0.13])
    joints = [np.array([0, 0, 0.02]), elbow, end]
    goose = spline(
        [joints[0], (0.01, 0, height * 0.7), elbow, end + np.array((-0.06, 0, 0.02)), end], 14
    )
    parts = [pipe(goose, 0.0075)]
    parts += [ring(0.0078, 0.0012, p, "z", 14) for p in goose[::60]]
    clamp = [
        box((0.05, 0.04, 0.07), (0, 0, -0.005), 0.01, 1, 3),
        rod((-0.02, 0, -0.02), (-0.06, 0, -0.02), 0.008),
        disc(0.018, 0.012, (-0.06, 0, -0.02), "x"),
    ]
    case = [disc(0.042, 0.022, end, "z", 0.008)]
    button = [
        lathe(
            [(0, 0.03), (0.020, 0.027), (0.029, 0.018), (0.030, 0.01), (0, 0.01)], end, ease=0.003
        )
    ]
    for name, solids, shade, stuff in (
        ("arm", parts, (0.30, 0.31, 0.32), "metal"),
        ("clamp", clamp, DARK, "plastic"),
        ("case", case, (0.88, 0.88, 0.87), "plastic"),
        ("button", button, colour, "plastic"),
    ):
        kit.put(name, [turned(p, "z", swung) for p in solids], shade, stuff)
    if cable:
        path = spline(
            [
                end + np.array((-0.04, 0, -0.005)),
                end + np.array((-0.10, 0.01, -0.06)),
                (reach * 0.4, 0.02, height),
                (0.04, 0.02, 0.0),
                (0.0, 0.03, -0.20),
            ],
            10,
        )
        kit.put("cable", [turned(pipe(path, 0.0025, 8), "z", swung)], WHITE, "plastic")
    return kit.meshes


def tablet(
    screen: Colour = (0.45, 0.58, 0.66), tilt: float = 20.0, stand: bool = True, lit: bool = True
) -> list[Mesh]:
    """Make a tablet on its stand; the screen faces +x."""
    kit = Kit()
    back = turned(box((0.009, 0.25, 0.175), (0, 0, 0.0875), 0.004, 1, 3), "y", -tilt)
    face = turned(box((0.002, 0.232, 0.155), (0.0048, 0, 0.0875), 0.0008), "y", -tilt)
    fields = [
        turned(
            box(
                (0.001, 0.058, 0.04), (0.0062, (i % 3 - 1) * 0.07, 0.06 + 0.055 * (i // 3)), 0.0004
            ),
            "y",
            -tilt,
        )
        for i in range(6)
    ]
    up = (0, 0, 0.03 if stand else 0.002)
    kit.put("case", [moved(back, up)], DARK, "plastic")
    kit.put(
        "screen",
        [moved(face, up)],
        screen if lit else (0.03, 0.03, 0.035),
        "screen" if lit else "glass",
    )
    if lit:
        kit.put("fields", [moved(p, up) for p in fields], (0.80, 0.84, 0.86), "screen")
    if stand:
        kit.put(
            "stand",
            [
                disc(0.075, 0.012, (-0.03, 0, 0.006)),
                pipe(spline([(-0.05, 0, 0.01), (-0.055, 0, 0.06), (-0.035, 0, 0.11)]), 0.010),
                box((0.035, 0.10, 0.012), (0.005, 0, 0.026), 0.005),
            ],
            STEEL,
            "metal",
        )
    return kit.meshes


def slippers(
    colour: Colour = (0.38, 0.36, 0.46), apart: float = 0.11, astray: bool = False
) -> list[Mesh]:
    """Make a pair of slippers, toes at +x, side by side or one astray."""
    kit = Kit()
    for side, s in (("left", 1), ("right", -1)):
        sole = loft(
            [
                _sole(k, z)
                for z, k in ((0, 0.96), (0.005, 1.0), (0.016, 1.0), (0.02, 0.95), (0.018, 0.6))
            ]
        )
        u, t = np.meshgrid(np.linspace(0, 1, 18), np.linspace(0, np.pi, 26), indexing="ij")
        x = 0.005 + 0.128 * u
        half = np.interp(x, [0, 0.05, 0.09, 0.12, 0.134], [0.046, 0.049, 0.044, 0.028, 0.006])
        top = np.stack(
            [
                x,
                half * np.cos(t),
                0.016 + (0.062 - 0.30 * np.clip(x - 0.03, 0, None)) * np.sin(t) ** 0.8,
            ],
            -1,
        )
        turn, move = (0.0, (0.0, s * apart / 2, 0.0))
        if astray and s < 0:
            turn, move = 70.0, (0.22, -0.20, 0.0)
        place = [moved(turned(p, "z", turn), move) for p in (sheet(top, 0.006),)]
        kit.put(f"{side}-top", place, colour, "towel")
        kit.put(
            f"{side}-sole",
            [moved(turned(sole, "z", turn), move)],
            tuple(0.6 * c for c in colour),
            "rubber",
        )
    return kit.meshes


def _sole(k: float, z: float) -> Array:
    t = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    x = 0.134 * np.cos(t)
    width = np.interp(x, [-0.134, -0.06, 0.0, 0.06, 0.134], [0.034, 0.036, 0.037, 0.046, 0.044])
    return np.stack([k * x, k * width * np.sin(t), np.full(48, z)], 1)


def glasses(colour: Colour = (0.16, 0.13, 0.12), folded: bool = False) -> list[Mesh]:
    """Make glasses that lie on z = 0, the lenses at +x."""
    kit = Kit()
    parts, panes = [], []
    for s in (-1, 1):
        rim = _ring_of(ellipse(0.021, 0.026, (0, s * 0.034, 0), 40, 2.6))
        parts.append(rim)
        panes.append(
            loft([ellipse(0.020, 0.025, (0, s * 0.034, z), 40, 2.6) for z in (-0.0008, 0.0008)])
        )
        y = s * 0.064
        ends = [
            (0.0, y, 0.008),
            (-0.03 if folded else -0.10, y * (0.2 if folded else 1), 0.008),
            (-0.04 if folded else -0.135, y * (-0.5 if folded else 0.98), -0.012),
        ]
        arm = pipe(spline(ends, 8), 0.002, 8)
        parts.append(moved(arm, (0.003, 0, 0.021)))
    face = turning("y", 80)
    rims = [(v @ face.T + np.array((0, 0, 0.022)), f) for v, f in parts[::2]]
    rims.append(pipe(spline([(0, -0.010, 0.028), (0.002, 0, 0.031), (0, 0.010, 0.028)]), 0.0018, 8))
    kit.put("frame", rims + parts[1::2], colour, "plastic")
    kit.put(
        "lenses",
        [(v @ face.T + np.array((0, 0, 0.022)), f) for v, f in panes],
        (0.95, 0.97, 0.98),
        "glass",
    )
    return kit.meshes


def _ring_of(path: Array, thick: float = 0.0019) -> Solid:
    closed = np.concatenate([path, path[:2]])
    return pipe(closed, thick, 8)
