"""Things that the scenes of grooming need beside the common ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import furniture
import numpy as np
import seats
from furniture import DARK, OAK, STEEL, WHITE
from seats import _leg
from shapes import (
    Colour,
    Kit,
    Mesh,
    band,
    bent,
    box,
    disc,
    ellipse,
    lathe,
    loft,
    moved,
    ring,
    rod,
    sheet,
    spline,
    turned,
    waves,
)
from shapes import tube as pipe


def head_end_bed(
    head: float = 0.0,
    height: float = 0.55,
    bend: float = -0.2,
    mattress: Colour = (0.80, 0.81, 0.82),
) -> list[Mesh]:
    """Make a hospital bed without rails and pillow, the raised end of its mattress apart.

    The parts head-end and head-deck are what lies nearer to the head than `bend`.
    """
    whole = furniture.bed(
        head, rail_left="none", rail_right="none", pillow=False, height=height, mattress=mattress
    )
    done = []
    for m in whole:
        if m.name not in ("mattress", "deck"):
            done.append(m)
            continue
        a, b, c, d = (m.vertices[m.faces[:, i]] for i in range(4))
        normals = np.zeros_like(m.vertices)
        for i in range(4):
            np.add.at(normals, m.faces[:, i], np.cross(c - a, d - b))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True) + 1e-12
        raised = m.vertices[m.faces].mean(1)[:, 0] < bend
        name = "head-end" if m.name == "mattress" else "head-deck"
        for part, inside in ((name, raised), (m.name, ~raised)):
            used, rows = np.unique(m.faces[inside], return_inverse=True)
            done.append(
                replace(
                    m,
                    name=part,
                    vertices=m.vertices[used],
                    normals=normals[used],
                    faces=rows.reshape(-1, 4),
                )
            )
    return done


def leg_blanket(
    start: float = -0.03,
    end: float = 0.98,
    top: float = 0.55,
    hang: float = 0.30,
    feet: float = 0.64,
    colour: Colour = (0.33, 0.40, 0.22),
) -> list[Mesh]:
    """Make a blanket over the legs of a person in a bed, from `start` to `end` along the bed.

    `top` is how high the mattress is, and `feet` where the ankles are.
    """
    kit = Kit()
    x, t = np.meshgrid(
        np.linspace(start, end, 130), np.linspace(-0.445 - hang, 0.445 + hang, 170), indexing="ij"
    )
    y = np.clip(t, -0.445, 0.445)
    over = np.abs(t) - 0.445
    bow = 0.05
    angle = np.clip(over / bow, 0, np.pi / 2)
    drop = np.where(
        over > 0, bow * (1 - np.cos(angle)) + np.clip(over - bow * np.pi / 2, 0, None), 0
    )
    high = np.interp(
        x,
        [0.0, 0.15, feet - 0.28, feet - 0.08, feet + 0.02, feet + 0.10, feet + 0.2],
        [0.205, 0.205, 0.155, 0.17, 0.22, 0.175, 0.03],
    )
    half = np.interp(x, [0.0, 0.3, feet, feet + 0.15], [0.215, 0.20, 0.15, 0.15])
    across = 1 / (1 + np.exp((np.abs(y) - half - 0.035) / 0.022))
    dip = 1 - 0.16 * np.exp(-((y / 0.05) ** 2)) * np.clip((x - 0.22) / 0.1, 0, 1)
    z = top + 0.022 + high * across * dip
    for _ in range(10):
        q = np.pad(z, 1, mode="edge")
        z = (4 * z + q[2:, 1:-1] + q[:-2, 1:-1] + q[1:-1, 2:] + q[1:-1, :-2]) / 8
    z = z + 0.006 * waves(x, y, 0.32, 4)
    low = np.clip(drop / 0.15, 0, 1)
    out = np.where(over > 0, bow * np.sin(angle), 0) + low * (
        0.012 + 0.012 * np.sin(x * 31 + 2 * np.sin(x * 9))
    )
    grid = np.stack([x, y + np.sign(t) * out, z - drop], -1)
    kit.put("", [sheet(grid, 0.014)], colour, "towel")
    return kit.meshes


def desk_wheelchair(
    seat: Colour = (0.10, 0.10, 0.11),
    body: Colour = (0.30, 0.30, 0.33),
    arm_top: float = 0.745,
    stick_at: float = 0.045,
) -> list[Mesh]:
    """Make a powered wheelchair with short armrests, which goes under a table; joystick right."""
    done = []
    for m in seats.powered_wheelchair(seat=seat, body=body, headrest=False):
        if m.name == "joystick":
            done.append(replace(m, vertices=m.vertices + (stick_at - 0.24, 0, arm_top - 0.72)))
        elif m.name.startswith("armrest"):
            v = m.vertices * (0.78, 1, 1) + (-0.055, 0, 0)
            lift = np.clip((v[:, 2:] - 0.5) / 0.15, 0, 1) * (arm_top - 0.725)
            done.append(replace(m, vertices=v + lift * (0, 0, 1)))
        else:
            done.append(m)
    return done


def long_table(
    width: float = 1.5,
    depth: float = 0.5,
    height: float = 0.78,
    wood: Colour = (0.74, 0.60, 0.43),
) -> list[Mesh]:
    """Make a table with a thin top, free for knees; its long side is along y."""
    kit = Kit()
    top = [box((depth, width, 0.026), (0, 0, height - 0.013), 0.009, 1, 3)]
    back = box((0.02, width - 0.12, 0.09), (depth / 2 - 0.05, 0, height - 0.07), 0.004)
    legs = [
        _leg((x, s * (width / 2 - 0.05)), (x, s * (width / 2 - 0.05)), height - 0.02, 0.045)
        for x in (-depth / 2 + 0.05, depth / 2 - 0.05)
        for s in (-1, 1)
    ]
    kit.put("top", top, wood, "wood")
    kit.put("legs", [back, *legs], wood, "wood")
    return kit.meshes


def straightener(
    length: float = 0.28,
    opened: float = 4.0,
    colour: Colour = (0.045, 0.045, 0.05),
    accent: Colour = (0.70, 0.71, 0.73),
) -> list[Mesh]:
    """Make a slim hair straightener that lies flat on z = 0 along x, its plates at +x."""
    kit = Kit()
    k = length / 0.28
    groups: dict[str, list] = {"arms": [], "plates": [], "band": []}
    for s in (-1, 1):
        rings = [
            ellipse(0.0085 * a, 0.015 * b, (0, 0, x * k), 28, 3.2)
            for x, a, b in (
                (-0.14, 0.7, 0.8),
                (-0.13, 1.0, 0.95),
                (0.0, 1.0, 1.0),
                (0.125, 1.0, 1.0),
                (0.14, 0.6, 0.8),
            )
        ]
        arm = moved(turned(turned(loft(rings), "y", 90), "x", 90), (0, s * 0.0105, 0))
        plate = box((0.10 * k, 0.004, 0.026), (0.078 * k, s * 0.0018, 0), 0.0015)
        trim = [ellipse(0.0089, 0.0156, (0, 0, x * k), 28, 3.2) for x in (0.008, 0.018)]
        belt = moved(turned(turned(loft(trim), "y", 90), "x", 90), (0, s * 0.0105, 0))
        for name, part in (("arms", arm), ("plates", plate), ("band", belt)):
            part = turned(part, "z", s * opened / 2, (-0.14 * k, 0, 0))
            groups[name].append(moved(part, (0, 0, 0.0165)))
    kit.put("arms", groups["arms"], colour, "plastic")
    kit.put("plates", groups["plates"], (0.78, 0.62, 0.55), "metal")
    kit.put("band", groups["band"], accent, "metal")
    return kit.meshes


def straightener_stand(height: float = 0.15, colour: Colour = (0.20, 0.20, 0.22)) -> list[Mesh]:
    """Make an upright stand with two rings, into which a straightener is put from above."""
    kit = Kit()
    parts = [box((0.12, 0.11, 0.012), (0, 0, 0.006), 0.005, 1, 3)]
    for z in (height * 0.45, height):
        parts.append(ring(0.040, 0.0050, (0, 0, z)))
    for t in np.radians([45, 135, 225, 315]):
        c, s = 0.040 * np.cos(t), 0.040 * np.sin(t)
        parts.append(rod((c, s, 0.008), (c, s, height), 0.0042))
    kit.put("", parts, colour, "metal")
    return kit.meshes


def hairdryer(colour: Colour = WHITE) -> list[Mesh]:
    """Make a hairdryer that lies on its side on z = 0, its mouth at +x, its handle at -y."""
    kit = Kit()
    barrel = lathe(
        [
            (0, -0.085),
            (0.030, -0.083),
            (0.042, -0.05),
            (0.042, 0.0),
            (0.033, 0.06),
            (0.033, 0.10),
            (0.027, 0.10),
            (0.027, 0.04),
            (0, 0.04),
        ],
        (0, 0, 0.042),
        "x",
        ease=0.008,
    )
    grip = pipe(
        spline([(-0.02, -0.02, 0.042), (-0.03, -0.09, 0.032), (-0.045, -0.16, 0.024)]), 0.0195, 18
    )
    kit.put("body", [barrel, grip], colour, "plastic")
    mouth = lathe(
        [(0.034, 0.098), (0.036, 0.10), (0.036, 0.118), (0.030, 0.118), (0.028, 0.10)],
        (0, 0, 0.042),
        "x",
        ends=False,
    )
    kit.put("mouth", [mouth], (0.30, 0.30, 0.32), "plastic")
    rear = disc(0.026, 0.004, (-0.0845, 0, 0.042), "x", 0.001)
    kit.put("rear", [rear], (0.45, 0.46, 0.48), "plastic")
    return kit.meshes


def round_mirror(radius: float = 0.175, tilt: float = 12.0, wood: Colour = OAK) -> list[Mesh]:
    """Make a round mirror on a foot; it faces +x and is turned up by `tilt` degrees."""
    kit = Kit()
    z = radius + 0.05
    kit.put(
        "foot",
        [
            lathe(
                [(0, 0), (0.075, 0), (0.075, 0.012), (0.014, 0.024), (0.012, 0.06), (0, 0.06)],
                (-0.01, 0, 0),
                ease=0.006,
            )
        ],
        wood,
        "wood",
    )
    back = turned(disc(radius, 0.018, (0, 0, 0), "x", 0.007), "y", -tilt)
    kit.put("frame", [moved(back, (0, 0, z))], wood, "wood")
    glass = turned(disc(radius - 0.014, 0.004, (0.009, 0, 0), "x", 0.001), "y", -tilt)
    kit.put("glass", [moved(glass, (0, 0, z))], (0.92, 0.93, 0.93), "mirror")
    return kit.meshes


def toothpaste(
    colour: Colour = (0.88, 0.88, 0.87), stripe: Colour = (0.16, 0.42, 0.62), length: float = 0.15
) -> list[Mesh]:
    """Make a tube of toothpaste that lies on z = 0, its cap at +x."""
    kit = Kit()
    body = []
    for x, a, b in (
        (-0.5, 0.0025, 0.024),
        (-0.46, 0.003, 0.024),
        (0.0, 0.014, 0.021),
        (0.28, 0.018, 0.019),
        (0.34, 0.011, 0.011),
        (0.36, 0.008, 0.008),
    ):
        body.append(ellipse(a, b, (0, 0, x * length), 32, 2.2))
    shape = turned(loft(body), "y", 90)
    kit.put("tube", [moved(shape, (0, 0, 0.018))], colour, "plastic")
    belt = [
        ellipse(a + 0.0006, b + 0.0006, (0, 0, x * length), 32, 2.2)
        for x, a, b in ((-0.18, 0.0098, 0.0223), (0.1, 0.0155, 0.0204))
    ]
    kit.put("stripe", [moved(turned(loft(belt), "y", 90), (0, 0, 0.018))], stripe, "plastic")
    cap = lathe([(0, 0.34), (0.013, 0.34), (0.011, 0.5), (0, 0.5)])
    cap = turned((cap[0] * (1, 1, length), cap[1]), "y", 90)
    kit.put("cap", [moved(cap, (0, 0, 0.018))], stripe, "plastic")
    return kit.meshes


def toothbrush(
    length: float = 0.19,
    thick: float = 0.006,
    colour: Colour = WHITE,
    bristles: Colour = (0.35, 0.58, 0.75),
) -> list[Mesh]:
    """Make a toothbrush that lies on z = 0, its bristles at +x and up; `thick` is its handle."""
    kit = Kit()
    half = length / 2
    way = spline(
        [
            (-half, 0, thick),
            (0, 0, thick),
            (half * 0.35, 0, thick),
            (half * 0.6, 0, 0.006),
            (half, 0, 0.006),
        ],
        10,
    )
    size = np.interp(
        way[:, 0] / half, [-1, 0.25, 0.5, 0.75, 1], [thick, thick, 0.004, 0.005, 0.005]
    )
    kit.put("handle", [pipe(way, size, 16)], colour, "plastic")
    head = box((0.028, 0.011, 0.011), (half - 0.016, 0, 0.014), 0.003)
    kit.put("bristles", [head], bristles, "towel")
    return kit.meshes


def gum_brush(length: float = 0.15, colour: Colour = (0.86, 0.52, 0.60)) -> list[Mesh]:
    """Make a gum brush that lies on z = 0: a stick with a soft finger of silicone at +x."""
    kit = Kit()
    half = length / 2
    kit.put("stick", [pipe([(-half, 0, 0.006), (half * 0.5, 0, 0.006)], 0.0045)], WHITE, "plastic")
    soft = pipe([(half * 0.35, 0, 0.0095), (half, 0, 0.0095)], [0.0095, 0.008], 16)
    kit.put("finger", [soft], colour, "rubber")
    return kit.meshes


def cuff(colour: Colour = (0.50, 0.51, 0.53), radius: float = 0.042) -> list[Mesh]:
    """Make a cuff for a hand that lies on z = 0: a wide ring of cloth, flat, with a strap."""
    kit = Kit()
    t = np.linspace(0, 2 * np.pi, 50)
    path = np.stack([radius * 1.15 * np.cos(t), 0 * t, 0.026 + 0.022 * np.sin(t)], 1)
    kit.put("band", [band(path, (0, 0.05, 0), 0.006)], colour, "cloth")
    strap = spline([(radius, 0, 0.03), (radius + 0.035, 0, 0.012), (radius + 0.085, 0, 0.004)], 8)
    kit.put("strap", [band(strap, (0, 0.026, 0), 0.004)], DARK, "cloth")
    pocket = box((0.06, 0.016, 0.006), (0, 0, 0.052), 0.002)
    kit.put("pocket", [pocket], DARK, "leather")
    buckle = bent([(radius + 0.01, -0.016, 0.026), (radius + 0.01, 0.016, 0.026)], 0.01)
    kit.put("buckle", [pipe(buckle, 0.003, 8)], STEEL, "metal")
    return kit.meshes


GROOMING: dict[str, Callable[..., list[Mesh]]] = {
    "cuff": cuff,
    "desk-wheelchair": desk_wheelchair,
    "gum-brush": gum_brush,
    "hairdryer": hairdryer,
    "head-end-bed": head_end_bed,
    "leg-blanket": leg_blanket,
    "long-table": long_table,
    "round-mirror": round_mirror,
    "straightener": straightener,
    "straightener-stand": straightener_stand,
    "toothbrush": toothbrush,
    "toothpaste": toothpaste,
}
