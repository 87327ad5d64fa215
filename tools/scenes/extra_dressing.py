"""Things of the dressing scenes, each at its own origin, forward +x."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from furniture import DARK, OAK, STEEL
from seats import BEECH, _leg
from shapes import (
    Colour,
    Kit,
    Mesh,
    band,
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
    sheet,
    spline,
    waves,
)
from shapes import tube as pipe
from small import _sole


def table(
    width: float = 0.8, depth: float = 0.32, height: float = 0.75, wood: Colour = OAK
) -> list[Mesh]:
    """Make a plain wooden table, its long side along y."""
    kit = Kit()
    parts = [
        box((depth, width, 0.026), (0, 0, height - 0.013), 0.008, 1, 3),
        box((depth - 0.08, width - 0.08, 0.07), (0, 0, height - 0.06), 0.004),
    ]
    for x in (-1, 1):
        for y in (-1, 1):
            at = (x * (depth / 2 - 0.035), y * (width / 2 - 0.035))
            parts.append(_leg(at, at, height - 0.02, 0.042))
    kit.put("", parts, wood, "wood")
    return kit.meshes


def low_stool(
    height: float = 0.25,
    radius: float = 0.14,
    seat: Colour = (0.62, 0.11, 0.10),
    wood: Colour = BEECH,
) -> list[Mesh]:
    """Make a low round stool with four short legs."""
    kit = Kit()
    legs = []
    for t in np.radians([45, 135, 225, 315]):
        c, s = radius * np.cos(t), radius * np.sin(t)
        legs.append(_leg((0.98 * c, 0.98 * s), (0.72 * c, 0.72 * s), height - 0.035, 0.04))
    kit.put("legs", legs, wood, "wood")
    top = lathe(
        [
            (0, height - 0.045),
            (radius - 0.006, height - 0.045),
            (radius, height - 0.006),
            (radius * 0.7, height),
            (0, height),
        ],
        ease=0.012,
    )
    kit.put("seat", [top], seat, "leather")
    return kit.meshes


def folded_garment(
    colour: Colour = (0.24, 0.45, 0.28),
    length: float = 0.30,
    width: float = 0.24,
    collar: bool = True,
    layers: int = 3,
    thick: float = 0.018,
    material: str = "cloth",
) -> list[Mesh]:
    """Make a folded shirt with a collar, or a jumper with its sleeves on top; the neck at -x."""
    kit = Kit()
    high = thick * layers
    kit.put(
        "",
        [
            pad(
                (length - 0.004 * i, width - 0.003 * (i % 2), thick),
                (0.002 * i, 0.002 * i, thick * (i + 0.52)),
                thick * 0.48,
                0.004,
            )
            for i in range(layers)
        ],
        colour,
        material,
    )
    shade = tuple(0.86 * c for c in colour)
    if collar:
        ends = []
        for s in (-1, 1):
            path = spline(
                [
                    (-length / 2 + 0.012, s * 0.008, high + 0.012),
                    (-length / 2 + 0.006, s * 0.045, high + 0.014),
                    (-length / 2 + 0.02, s * 0.078, high + 0.008),
                ],
                6,
            )
            ends.append(band(path, (0.045, s * 0.02, 0.004), 0.007))
        kit.put("collar", ends, tuple(0.80 * c for c in colour), material)
        strip = box((0.09, 0.022, 0.003), (-length / 2 + 0.075, 0, high + 0.0065), 0.0012)
        kit.put("placket", [strip], shade, material)
        kit.put(
            "buttons",
            [
                disc(0.0045, 0.003, (-length / 2 + 0.05 + 0.03 * i, 0, high + 0.0085))
                for i in range(3)
            ],
            (0.88, 0.88, 0.84),
            "plastic",
        )
    else:
        arms = [
            pipe(
                spline(
                    [
                        (-length / 2 + 0.03, s * width * 0.42, high + 0.002),
                        (-0.01, s * width * 0.30, high + 0.014),
                        (length / 2 - 0.04, s * 0.035, high + 0.010 + 0.006 * (s > 0)),
                    ]
                ),
                [0.026] * 16 + [0.02],
                14,
            )
            for s in (-1, 1)
        ]
        arms = [
            changed(a, lambda v: np.stack([v[:, 0], v[:, 1], high + (v[:, 2] - high) * 0.6], 1))
            for a in arms
        ]
        kit.put("sleeves", arms, colour, material)
        neck = changed(ring(0.055, 0.011, (-length / 2 + 0.045, 0, high + 0.004)), lambda v: v)
        kit.put("neck", [neck], shade, material)
    return kit.meshes


def jacket(
    colour: Colour = (0.80, 0.60, 0.12),
    length: float = 0.72,
    lining: Colour = (0.30, 0.30, 0.32),
    hook: bool = True,
) -> list[Mesh]:
    """Make a jacket that hangs by its neck on a wall hook at the origin; the wall is at x = 0."""
    kit = Kit()
    rings = []
    for z, ry, rx in (
        (0.0, 0.055, 0.028),
        (-0.035, 0.085, 0.04),
        (-0.07, 0.14, 0.05),
        (-0.12, 0.19, 0.056),
        (-0.20, 0.205, 0.06),
        (-0.4, 0.20, 0.062),
        (-0.6, 0.21, 0.066),
        (-length, 0.225, 0.07),
    ):
        rings.append(ellipse(rx, ry, (0.07, 0, z - 0.03), 72, 2.6))
    heights = np.array([r[0, 2] for r in rings])
    fine = np.linspace(0, 1, 60)
    stack = np.stack(rings)
    own = np.linspace(0, 1, len(rings))
    stack = np.stack(
        [[np.interp(fine, own, stack[:, i, k]) for k in range(3)] for i in range(stack.shape[1])]
    ).transpose(2, 0, 1)
    low = np.clip((heights[0] - stack[..., 2]) / length, 0, 1)
    fold = 0.016 * low * np.sin(stack[..., 1] * 38 + 1.5 * np.sin(stack[..., 2] * 5))
    stack[..., 0] += fold * (stack[..., 0] > 0.07) + 0.006 * waves(
        stack[..., 1], stack[..., 2], 0.3, 4
    )
    kit.put("body", [loft(list(stack))], colour, "cloth")
    arms = []
    for s in (-1, 1):
        way = spline(
            [
                (0.075, s * 0.135, -0.125),
                (0.078, s * 0.205, -0.22),
                (0.085, s * 0.25, -0.42),
                (0.09, s * 0.262, -0.66),
            ],
            12,
        )
        size = np.interp(np.linspace(0, 1, len(way)), [0, 0.25, 1], [0.05, 0.062, 0.05])
        size = size + 0.003 * np.sin(np.arange(len(way)) * 1.1)
        arms.append(pipe(way, size, 20))
        arms.append(moved(disc(0.052, 0.05, (0, 0, 0), "z", 0.012), (0.09, s * 0.262, -0.68)))
    kit.put("sleeves", arms, tuple(0.96 * c for c in colour), "cloth")
    collar = spline(
        [
            (0.055, 0.075, -0.06),
            (0.05, 0.04, -0.015),
            (0.055, 0, -0.005),
            (0.05, -0.04, -0.015),
            (0.055, -0.075, -0.06),
        ],
        8,
    )
    kit.put(
        "collar",
        [pipe(collar + np.array([0.02, 0, 0]), 0.024, 14)],
        tuple(0.85 * c for c in colour),
        "cloth",
    )
    front = np.array(
        [(0.128, 0.0, -0.10), (0.140, 0.0, -0.25), (0.143, 0.0, -0.45), (0.147, 0, -length - 0.02)]
    )
    kit.put(
        "zip",
        [band(spline(front + np.array([0.004, 0, 0]), 8), (0, 0.014, 0), 0.008)],
        lining,
        "plastic",
    )
    if hook:
        steel = [
            disc(0.024, 0.008, (0.004, 0, 0.03), "x"),
            pipe(bent([(0.0, 0, 0.03), (0.06, 0, 0.02), (0.075, 0, 0.055)], 0.02), 0.007),
        ]
        kit.put("hook", steel, STEEL, "metal")
    return kit.meshes


def strap(
    points: Sequence[Sequence[float]],
    across: Sequence[float] = (1, 0, 0),
    width: float = 0.03,
    thick: float = 0.004,
    colour: Colour = (0.10, 0.10, 0.11),
) -> list[Mesh]:
    """Make a flat strap through points; `across` is the direction of its width."""
    kit = Kit()
    w = np.asarray(across, float)
    path = spline([list(p) for p in points], 8)
    kit.put("", [band(path, width * w / np.linalg.norm(w), thick)], colour, "cloth")
    return kit.meshes


def splint(
    colour: Colour = (0.88, 0.88, 0.86), calf: float = 0.25, foot: float = 0.20, straps: bool = True
) -> list[Mesh]:
    """Make an ankle splint that stands upright: its sole along +x, its shell behind the calf."""
    kit = Kit()
    t, z = np.meshgrid(
        np.radians(np.linspace(100, 260, 24)), np.linspace(0.0, calf, 30), indexing="ij"
    )
    wide = np.interp(z, [0, 0.06, calf], [0.036, 0.040, 0.054])
    shell = np.stack([0.03 + wide * np.cos(t), wide * np.sin(t), z], -1)
    kit.put("shell", [sheet(shell, 0.004)], colour, "plastic")
    x, y = np.meshgrid(np.linspace(-0.005, foot, 30), np.linspace(-1, 1, 20), indexing="ij")
    half = np.interp(x, [0, 0.06, foot * 0.75, foot], [0.034, 0.036, 0.045, 0.030])
    lip = 0.022 * np.abs(y) ** 4 * np.clip(1 - x / (foot * 0.6), 0, 1)
    kit.put("sole", [sheet(np.stack([x, half * y, 0.002 + lip], -1), 0.004)], colour, "plastic")
    if straps:
        belt = spline(
            [
                (0.02, 0.055, calf - 0.04),
                (0.05, 0.05, calf - 0.04),
                (0.075, 0.0, calf - 0.04),
                (0.05, -0.05, calf - 0.04),
                (0.02, -0.055, calf - 0.04),
            ],
            6,
        )
        kit.put("strap", [band(belt, (0, 0, 0.032), 0.003)], (0.35, 0.37, 0.40), "cloth")
    return kit.meshes


def shoehorn(length: float = 0.5, colour: Colour = (0.90, 0.90, 0.88)) -> list[Mesh]:
    """Make a long shoehorn that hangs from a loop at the origin; its hollow side faces +x."""
    kit = Kit()
    u, t = np.meshgrid(np.linspace(0, 1, 60), np.linspace(-1, 1, 14), indexing="ij")
    half = np.interp(u, [0, 0.06, 0.55, 0.85, 1.0], [0.010, 0.014, 0.013, 0.023, 0.019])
    half = half * np.sqrt(np.clip((1.012 - u) / 0.04, 0, 1))
    bow = 0.012 * np.sin(np.pi * u) + 0.5 * half * (1 - t**2) * np.clip((u - 0.5) * 3, 0.15, 1)
    points = np.stack([-bow, half * t, -0.02 - u * length], -1)
    kit.put("", [sheet(points, 0.004)], colour, "plastic")
    loop = bent(
        [(0, 0.0, -0.03), (0.0, 0.012, 0.0), (-0.02, 0.0, 0.016), (0, -0.012, 0.0), (0, 0, -0.03)],
        0.01,
    )
    kit.put("loop", [pipe(loop, 0.0025, 8)], (0.25, 0.30, 0.42), "cloth")
    return kit.meshes


def sock(colour: Colour = (0.20, 0.46, 0.26), length: float = 0.20) -> list[Mesh]:
    """Make a sock that lies flat on z = 0, its toes to +x, its leg to +y."""
    kit = Kit()
    way = spline(
        [
            (0, length * 0.85, 0),
            (0, length * 0.4, 0),
            (0.004, 0.035, 0),
            (0.03, 0.004, 0),
            (length * 0.45, 0.0, 0),
            (length * 0.8, 0.003, 0),
        ],
        12,
    )
    size = np.interp(np.linspace(0, 1, len(way)), [0, 0.3, 0.5, 1], [0.045, 0.043, 0.050, 0.043])
    flat = changed(pipe(way, size, 20), lambda v: v * (1, 1, 0.22) + (0, 0, 0.0105))
    kit.put("", [flat], colour, "towel")
    cuff = pad((0.096, 0.045, 0.022), (0, length * 0.85, 0.0115), 0.008, 0.002)
    kit.put("cuff", [cuff], tuple(0.75 * c for c in colour), "towel")
    return kit.meshes


def shoes(colour: Colour = (0.88, 0.88, 0.86), apart: float = 0.12) -> list[Mesh]:
    """Make a pair of low shoes side by side, toes at +x."""
    kit = Kit()
    for side, s in (("left", 1), ("right", -1)):
        sole = loft(
            [_sole(k, z) for z, k in ((0, 0.97), (0.004, 1.0), (0.022, 1.0), (0.026, 0.96))]
        )
        rings = []
        for z, front, width in (
            (0.022, 1.0, 0.97),
            (0.045, 0.97, 1.0),
            (0.058, 0.88, 0.98),
            (0.07, 0.66, 0.86),
            (0.082, 0.46, 0.76),
            (0.086, 0.42, 0.70),
            (0.078, 0.38, 0.62),
            (0.04, 0.34, 0.56),
        ):
            r = _sole(1.0, z)
            r[:, 0] = -0.134 + (r[:, 0] + 0.134) * front
            r[:, 1] *= width
            rings.append(r)
        at = (0, s * apart / 2, 0)
        kit.put(f"{side}-upper", [moved(loft(rings[:6], False), at)], colour, "leather")
        kit.put(f"{side}-inside", [moved(loft(rings[5:]), at)], (0.30, 0.29, 0.28), "cloth")
        kit.put(f"{side}-sole", [moved(sole, at)], (0.72, 0.71, 0.68), "rubber")
        laces = [
            rod((x, s * apart / 2 - 0.018, z), (x, s * apart / 2 + 0.018, z), 0.0025, 8)
            for x, z in ((0.0, 0.081), (0.02, 0.077), (0.04, 0.071))
        ]
        kit.put(f"{side}-laces", laces, (0.55, 0.56, 0.58), "cloth")
    return kit.meshes


def worn_shoe(person: Mapping[str, Any], pose: Mapping[str, Any], side: str = "left") -> list[Mesh]:
    """Make the shoe of one foot alone, for a person who is drawn barefoot in the same pose."""
    from draw import _people  # here, because draw.py uses this file

    who = {**person, "clothes": {**person.get("clothes", {}), "feet": "shoes"}}
    ((_, posed),) = _people([{"person": who, "pose": pose}])
    return [
        Mesh(
            m.name.removeprefix(f"shoe-{side}").strip("-"),
            np.asarray(m.vertices, float),
            m.faces,
            tuple(m.colour)[:3],
            m.material,
            bool(m.smooth),
            m.colours,
            m.normals,
        )
        for m in posed.meshes
        if m.name.startswith(f"shoe-{side}")
    ]


def trousers_hung(
    colour: Colour = (0.42, 0.43, 0.45),
    outside: float = 0.46,
    inside: float = 0.24,
    half: float = 0.028,
    width: float = 0.19,
) -> list[Mesh]:
    """Make trousers over a board along y whose top is at z = 0; the legs hang down on +x."""
    kit = Kit()
    path = bent(
        [(half, 0, -outside), (half, 0, 0.012), (-half, 0, 0.012), (-half, 0, -inside)], 0.03, 8
    )
    steps = np.r_[0, np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))]
    s = np.linspace(0, steps[-1], 90)
    line = np.stack([np.interp(s, steps, path[:, i]) for i in range(3)], 1)
    legs = []
    for side in (-1, 1):
        y = np.linspace(-1, 1, 40)
        share = s / steps[-1]
        wide = np.interp(share, [0, 0.62, 1], [width * 0.38, width * 0.48, width * 0.54])
        mid = side * np.interp(share, [0, 0.62, 0.8, 1], [0.145, 0.118, 0.097, 0.094])
        for k in (0, 1):
            grid = line[:, None] + np.stack([0 * y, y, 0 * y], 1)[None] * wide[:, None, None]
            grid[..., 1] += mid[:, None]
            bulge = 0.014 * np.sqrt(np.clip(1 - y**2, 0, 1))[None] * (1 if k else 0.12)
            out = np.where(line[:, 0] > 0, 1.0, -1.0)[:, None]
            low = np.clip(-line[:, 2] / outside, 0, 1)[:, None]
            over = (np.abs(line[:, 0]) < half * 0.98)[:, None]
            crease = 0.008 * low * waves(grid[..., 1], grid[..., 2], 0.22, 3)
            grid[..., 0] += np.where(over, 0, out * (0.003 + bulge + crease * k))
            grid[..., 2] += np.where(over, 0.003 + bulge, 0)
            legs.append(sheet(grid, 0.004))
    kit.put("", legs, colour, "cloth")
    hem = [
        box((0.02, width * 0.74, 0.012), (half + 0.008, side * 0.143, -outside + 0.03), 0.004)
        for side in (-1, 1)
    ]
    kit.put("hems", hem, tuple(0.8 * c for c in colour), "cloth")
    return kit.meshes


def bed_rail(
    height: float = 0.55,
    side: str = "right",
    length: float = 1.1,
    top: float = 0.35,
    low: float = 0.075,
    middle: float = 0.0,
    colour: Colour = (0.50, 0.51, 0.53),
) -> list[Mesh]:
    """Make a raised rail of two bars for a bed of that height; the bars are over the mattress."""
    kit = Kit()
    y = 0.485 if side == "left" else -0.485
    x0, x1 = middle - length / 2, middle + length / 2
    loop = bent(
        [
            (x0, y, height + low),
            (x0, y, height + top),
            (x1, y, height + top),
            (x1, y, height + low),
        ],
        0.08,
    )
    kit.put(
        "",
        [pipe(loop, 0.0145), rod((x0, y, height + low), (x1, y, height + low), 0.0125)],
        colour,
        "metal",
    )
    posts = [
        box((0.05, 0.022, 0.42), (x, y - np.sign(y) * 0.004, height - 0.11), 0.008)
        for x in (x0 + 0.02, x1 - 0.02)
    ]
    kit.put("posts", posts, (0.55, 0.56, 0.57), "metal")
    return kit.meshes


def leg_wedge(
    rise: float = 0.36,
    level: float = 0.30,
    width: float = 0.46,
    high: float = 0.22,
    end: float = 0.20,
    colour: Colour = (0.20, 0.34, 0.58),
) -> list[Mesh]:
    """Make a foam wedge for both legs: it rises along +x, then goes on about level."""
    kit = Kit()
    long = rise + level
    outline = bent(
        [
            (0.3, 0, 0.0),
            (0.0, 0, 0.0),
            (0.0, 0, 0.025),
            (rise, 0, high),
            (long, 0, end),
            (long, 0, 0.0),
            (0.3, 0, 0.0),
        ],
        0.03,
        7,
    )[:-1]
    middle = np.array([rise, 0, 0.08])
    rings = []
    for y, k in (
        (-1, 0.96),
        (-0.985, 0.985),
        (-0.96, 1.0),
        (0, 1),
        (0.96, 1.0),
        (0.985, 0.985),
        (1, 0.96),
    ):
        rings.append(middle + (outline - middle) * k + (0, y * width / 2, 0))
    kit.put("", [loft(rings)], colour, "leather")
    return kit.meshes


def floor_stand(height: float = 0.95, reach: float = 0.25) -> list[Mesh]:
    """Make a stand for a tablet: a foot, a post, an arm to +x that ends at `height`."""
    kit = Kit()
    kit.put(
        "foot",
        [lathe([(0, 0), (0.17, 0), (0.17, 0.018), (0.03, 0.03), (0, 0.03)], ease=0.008)],
        DARK,
        "metal",
    )
    post = bent([(0, 0, 0.02), (0, 0, height), (reach, 0, height)], 0.08)
    kit.put("post", [pipe(post, 0.014)], STEEL, "metal")
    return kit.meshes


DRESSING = {
    "bed-rail": bed_rail,
    "floor-stand": floor_stand,
    "folded-garment": folded_garment,
    "jacket": jacket,
    "leg-wedge": leg_wedge,
    "low-stool": low_stool,
    "shoehorn": shoehorn,
    "shoes": shoes,
    "sock": sock,
    "splint": splint,
    "strap": strap,
    "table": table,
    "trousers-hung": trousers_hung,
    "worn-shoe": worn_shoe,
}
