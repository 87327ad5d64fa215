"""Things that the scenes of bathing need beside the common ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import furniture
import numpy as np
from furniture import DARK, STEEL, _castor, _one_of
from shapes import (
    Colour,
    Kit,
    Mesh,
    ball,
    band,
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
    waves,
)
from shapes import tube as pipe

CREAM: Colour = (0.86, 0.85, 0.81)


def block(
    sides: Sequence[float] = (0.3, 0.2, 0.02),
    colour: Colour = CREAM,
    material: str = "wood",
    edge: float = 0.006,
) -> list[Mesh]:
    """Make a block with rounded edges whose foot is at the origin: a shelf, a book, a panel."""
    kit = Kit()
    x, y, z = sides
    kit.put("", [box((x, y, z), (0, 0, z / 2), edge, 1, 3)], colour, material)
    return kit.meshes


def round_plate(
    radius: float = 0.05,
    thick: float = 0.02,
    colour: Colour = (0.90, 0.74, 0.10),
    material: str = "plastic",
    edge: float = 0.006,
) -> list[Mesh]:
    """Make a round plate that faces +x, its middle at the origin."""
    kit = Kit()
    kit.put("", [disc(radius, thick, (0, 0, 0), "x", edge)], colour, material)
    return kit.meshes


def bottle(
    radius: float = 0.032,
    height: float = 0.17,
    colour: Colour = (0.78, 0.82, 0.72),
    cap: Colour = (0.9, 0.9, 0.89),
) -> list[Mesh]:
    """Make a bottle or a tin with a cap."""
    kit = Kit()
    h = height * 0.78
    kit.put(
        "body",
        [lathe([(0, 0), (radius, 0), (radius, h * 0.9), (radius * 0.45, h), (0, h)], ease=0.006)],
        colour,
        "plastic",
    )
    kit.put(
        "cap",
        [
            lathe(
                [(0, h - 0.004), (radius * 0.5, h - 0.004), (radius * 0.5, height), (0, height)],
                ease=0.004,
            )
        ],
        cap,
        "plastic",
    )
    return kit.meshes


def hairbrush(colour: Colour = (0.45, 0.25, 0.13)) -> list[Mesh]:
    """Make a hairbrush that lies on z = 0, its bristles up, its handle at -y."""
    kit = Kit()
    head = loft(
        [
            ellipse(0.032 * k, 0.055 * k, (0, 0.05, z), 40, 2.5)
            for z, k in ((0, 0.9), (0.004, 1), (0.014, 1), (0.018, 0.92))
        ]
    )
    grip = pipe(spline([(0, 0.0, 0.010), (0, -0.06, 0.010), (0, -0.125, 0.011)]), 0.011)
    kit.put("back", [head, grip], colour, "wood")
    rows = [
        rod((x, 0.05 + y, 0.016), (x, 0.05 + y, 0.034), 0.0022, 5)
        for x in np.linspace(-0.02, 0.02, 5)
        for y in np.linspace(-0.04, 0.04, 9)
    ]
    kit.put("bristles", rows, DARK, "plastic")
    return kit.meshes


def plain_rug(
    state: str = "flat",
    length: float = 0.75,
    width: float = 0.85,
    thick: float = 0.025,
    radius: float = 0.095,
    colour: Colour = (0.42, 0.07, 0.08),
) -> list[Mesh]:
    """Make a thick plain rug: flat, or rolled up along its length; its width is along y."""
    kit = Kit()
    if _one_of("state", state, "flat", "rolled") == "flat":
        v, f = box((length, width, thick), (0, 0, thick / 2), thick * 0.4, 30, 3)
        top = v[:, 2] > thick * 0.6
        v[:, 2] += top * 0.0015 * waves(v[:, 0], v[:, 1], 0.3, 5)
        kit.put("", [(v, f)], colour, "towel")
        return kit.meshes
    gap = thick * 1.04
    turns = (radius - gap / 2 - 0.012) / gap
    t = np.linspace(0, 2 * np.pi * turns, 200)
    r = 0.012 + gap * t / (2 * np.pi)
    path = np.stack([r * np.cos(t), 0 * t, r * np.sin(t) + r.max() + thick / 2], 1)
    kit.put("", [band(path, (0, width, 0), thick)], colour, "towel")
    return kit.meshes


def roll(
    length: float = 0.9,
    radius: float = 0.11,
    colour: Colour = (0.45, 0.46, 0.48),
    layers: float = 5.0,
) -> list[Mesh]:
    """Make a rolled blanket that lies along x on z = 0."""
    kit = Kit()
    thick = radius / (layers + 0.5)
    t = np.linspace(0, 2 * np.pi * layers, 260)
    r = thick * (0.3 + t / (2 * np.pi))
    path = np.stack([0 * t, r * np.cos(t), r * np.sin(t) + r.max() + thick / 2], 1)
    v, f = band(path, (length, 0, 0), thick * 0.97)
    v[:, 2] *= 1 + 0.02 * waves(v[:, 0], 0 * v[:, 0], 0.5, 2)
    kit.put("", [(v, f)], colour, "towel")
    return kit.meshes


def folded_sheet(
    length: float = 0.35,
    width: float = 0.30,
    layers: int = 5,
    thick: float = 0.016,
    colour: Colour = (0.58, 0.72, 0.86),
    material: str = "cloth",
) -> list[Mesh]:
    """Make a sheet or towel folded flat, on z = 0."""
    kit = Kit()
    kit.put(
        "",
        [
            pad(
                (length - 0.004 * (i % 2), width - 0.003 * i, thick),
                (0.002 * (i % 3), 0.002 * i, thick * 0.55 + thick * 0.98 * i),
                thick * 0.48,
                0.002,
            )
            for i in range(layers)
        ],
        colour,
        material,
    )
    return kit.meshes


def over_edge(
    lay: float = 0.2,
    hang: float = 0.2,
    width: float = 0.25,
    inside: float = 0.0,
    colour: Colour = (0.88, 0.88, 0.86),
    thick: float = 0.006,
) -> list[Mesh]:
    """Make a cloth that lies `lay` deep behind an edge at the origin and hangs over it at +x.

    With `inside` it hangs down behind as well, as over the rim of a basin.
    """
    kit = Kit()
    t = thick / 2 + 0.002
    corners = [(-lay, 0, t), (0, 0, t), (t + 0.004, 0, -0.012), (t + 0.004, 0, -hang)]
    if inside:
        corners = [(-lay - t, 0, -inside), (-lay - t, 0, t), *corners[1:]]
    path = bent(corners, 0.012, 6)
    steps = np.r_[0, np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))]
    s = np.linspace(0, steps[-1], 70)
    line = np.stack([np.interp(s, steps, path[:, i]) for i in range(3)], 1)
    y = np.linspace(-width / 2, width / 2, 50)
    grid = line[:, None] + np.stack([0 * y, y, 0 * y], 1)[None]
    low = np.clip(-grid[..., 2] / 0.15, 0, 1)
    grid[..., 0] += low * (grid[..., 0] > 0) * 0.012 * (1 + np.sin(grid[..., 1] * 44 + 1))
    grid[..., 1] *= 1 - 0.06 * low
    grid[..., 2] += 0.002 * (1 + waves(grid[..., 0], grid[..., 1], 0.12, 4)) * (low == 0)
    kit.put("", [sheet(grid, thick)], colour, "towel")
    return kit.meshes


def path_curtain(
    points: Sequence[Sequence[float]],
    start: float = 0.0,
    end: float = 9.0,
    full: float = 0.0,
    height: float = 2.05,
    foot: float = 0.3,
    deep: float = 0.045,
    colour: Colour = (0.66, 0.78, 0.66),
    rail: bool = True,
) -> list[Mesh]:
    """Make a curtain on a rail through points, its cloth from `start` to `end` metres along it.

    `full` is how many metres of rail the cloth would fill when drawn: its folds are of that many.
    """
    kit = Kit()
    track = bent([list(p) for p in points], 0.18, 12)
    steps = np.r_[0, np.cumsum(np.linalg.norm(np.diff(track, axis=0), axis=1))]
    end = min(end, steps[-1])
    folds = round((full or end - start) * 6.5)
    count = max(folds * 14, 60)
    u, z = np.meshgrid(np.linspace(0, 1, count), np.linspace(foot, height, 20), indexing="ij")
    phase = 2 * np.pi * folds * (u + 0.006 * np.sin(9 * u))
    dense = np.clip((full or 0) / (end - start) / 4, 0, 1)
    s = start + (end - start) * u + (1 - 0.7 * dense) * 0.3 * deep * np.sin(2 * phase)
    s = np.clip(s, 0, steps[-1])
    along = np.gradient(track, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    at = np.stack([np.interp(s, steps, track[:, i]) for i in range(2)], -1)
    out = np.stack([-np.interp(s, steps, along[:, 1]), np.interp(s, steps, along[:, 0])], -1)
    off = deep * (1 - 0.3 * z / height) * np.sin(phase) + 0.01 * waves(u * 3, z, 0.8, 2)
    p = np.concatenate([at + off[..., None] * out, z[..., None]], -1)
    kit.put("cloth", [sheet(p, 0.003)], colour, "cloth")
    if rail:
        line = track.copy()
        line[:, 2] = height + 0.04
        kit.put("rail", [pipe(line, 0.016)], (0.80, 0.81, 0.82), "metal")
    return kit.meshes


def trolley(
    length: float = 0.6,
    width: float = 0.4,
    height: float = 0.8,
    colour: Colour = (0.80, 0.81, 0.82),
) -> list[Mesh]:
    """Make a trolley with two shelves on castors; its length is along x."""
    kit = Kit()
    shelves = [box((length, width, 0.02), (0, 0, z - 0.01), 0.009, 1, 3) for z in (height, 0.30)]
    kit.put("shelves", shelves, colour, "plastic")
    posts = [
        rod(
            (x * (length / 2 - 0.02), y * (width / 2 - 0.02), 0.11),
            (x * (length / 2 - 0.02), y * (width / 2 - 0.02), height - 0.005),
            0.012,
        )
        for x in (-1, 1)
        for y in (-1, 1)
    ]
    lip = bent(
        [
            (-length / 2, -width / 2, 0),
            (length / 2, -width / 2, 0),
            (length / 2, width / 2, 0),
            (-length / 2, width / 2, 0),
            (-length / 2, -width / 2, 0),
        ],
        0.02,
    )
    posts.append(pipe(np.add(lip, (0, 0, height - 0.004)), 0.008, 8))
    kit.put("frame", posts, STEEL, "metal")
    for i, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        _castor(kit, f"castor-{i}", x * (length / 2 - 0.03), y * (width / 2 - 0.03), 0.045, 0.12)
    return kit.meshes


def locker(
    width: float = 0.6, depth: float = 0.42, height: float = 0.8, wood: Colour = (0.76, 0.62, 0.44)
) -> list[Mesh]:
    """Make a bedside locker with a drawer and a door, its front at +x, its width along y."""
    kit = Kit()
    kit.put(
        "body",
        [
            box((depth - 0.02, width - 0.02, height - 0.1), (-0.01, 0, height / 2 + 0.03), 0.005),
            box((depth, width, 0.025), (0, 0, height - 0.0125), 0.008, 1, 3),
        ],
        wood,
        "wood",
    )
    x = depth / 2 - 0.012
    front = [
        box((0.016, width - 0.05, h), (x, 0, z), 0.005)
        for h, z in ((0.15, height - 0.12), (height - 0.33, (height - 0.13) / 2 + 0.02))
    ]
    kit.put("fronts", front, tuple(1.07 * c for c in wood), "wood")
    grips = [
        pipe(
            bent([(x, -0.05, z), (x + 0.03, -0.05, z), (x + 0.03, 0.05, z), (x, 0.05, z)], 0.015),
            0.005,
        )
        for z in (height - 0.12, height - 0.27)
    ]
    kit.put("handles", grips, STEEL, "metal")
    for i, (a, b) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        _castor(kit, f"castor-{i}", a * (depth / 2 - 0.04), b * (width / 2 - 0.04), 0.03, 0.09)
    return kit.meshes


def basket(
    radius: float = 0.20, height: float = 0.5, colour: Colour = (0.66, 0.50, 0.31)
) -> list[Mesh]:
    """Make a wicker laundry basket with a lid."""
    kit = Kit()
    t = np.linspace(0, 2 * np.pi, 145)[:-1]
    rings = []
    for i, z in enumerate(np.linspace(0, height, 4 * round(height / 0.022))):
        row = i // 2
        r = radius * (0.86 + 0.14 * z / height)
        r = r + 0.006 * np.sin(18 * t + np.pi * (row % 2)) * (1 if i % 2 else 0.6) - 0.004 * (i % 2)
        rings.append(np.stack([r * np.cos(t), r * np.sin(t), 0 * t + z], 1))
    kit.put("wall", [loft(rings)], colour, "wood")
    hoops = [ring(radius * k, 0.013, (0, 0, z)) for z, k in ((0.01, 0.87), (height, 1.0))]
    hoops.append(
        lathe(
            [
                (0, height + 0.03),
                (radius * 0.9, height + 0.02),
                (radius * 1.02, height + 0.005),
                (radius, height - 0.01),
                (0, height),
            ],
            ease=0.01,
        )
    )
    hoops += [
        ring(radius * k, 0.005, (0, 0, height + 0.03 - 0.010 * k)) for k in (0.3, 0.5, 0.7, 0.86)
    ]
    kit.put("lid", hoops, tuple(0.88 * c for c in colour), "wood")
    return kit.meshes


def pendant(
    cord: float = 0.28, colour: Colour = (0.50, 0.52, 0.54), button: Colour = (0.75, 0.10, 0.08)
) -> list[Mesh]:
    """Make an alarm pendant that hangs by its cord from a hook; the wall is at x = 0."""
    kit = Kit()
    kit.put(
        "hook",
        [
            disc(0.022, 0.01, (0.005, 0, 0), "x", 0.003),
            pipe(spline([(0.005, 0, 0), (0.04, 0, -0.008), (0.05, 0, 0.012)]), 0.006),
        ],
        STEEL,
        "metal",
    )
    x = 0.03
    loop = [
        (x, 0.0, 0.004),
        (x, 0.02, -0.02),
        (x, 0.034, -cord * 0.5),
        (x, 0.006, -cord),
        (x, -0.006, -cord),
        (x, -0.034, -cord * 0.5),
        (x, -0.02, -0.02),
        (x, 0.0, 0.004),
    ]
    kit.put("cord", [pipe(spline(loop, 8), 0.0035)], (0.12, 0.12, 0.14), "cloth")
    body = loft(
        [
            ellipse(0.034 * k, 0.028 * k, (0, 0, z), 40, 2.6)
            for z, k in ((-0.01, 0.8), (-0.007, 1), (0.007, 1), (0.01, 0.8))
        ]
    )
    kit.put("case", [moved(turned(body, "y", 90), (x, 0, -cord - 0.03))], colour, "plastic")
    kit.put(
        "button", [disc(0.015, 0.01, (x + 0.011, 0, -cord - 0.03), "x", 0.003)], button, "plastic"
    )
    return kit.meshes


def shade(radius: float = 0.07, colour: Colour = (0.90, 0.89, 0.86)) -> list[Mesh]:
    """Make the shade of a reading lamp, its neck at the origin, open at +x; its bulb is off."""
    kit = Kit()
    k = radius / 0.07
    cone = lathe(
        [
            (0.022 * k, 0),
            (0.036 * k, 0.02 * k),
            (0.066 * k, 0.09 * k),
            (0.070 * k, 0.115 * k),
            (0.066 * k, 0.115 * k),
            (0.062 * k, 0.09 * k),
            (0.032 * k, 0.02 * k),
            (0.020 * k, 0.004 * k),
        ],
        ends=False,
    )
    neck = [disc(0.026 * k, 0.05 * k, (0, 0, 0), "z")]
    kit.put("cone", [turned(cone, "y", 90), *[turned(p, "y", 90) for p in neck]], colour, "plastic")
    kit.put(
        "bulb",
        [ball((0.03 * k, 0.026 * k, 0.026 * k), (0.06 * k, 0, 0))],
        (0.82, 0.82, 0.80),
        "plastic",
    )
    return kit.meshes


def steel_bowl(radius: float = 0.16, height: float = 0.11, tap: bool = True) -> list[Mesh]:
    """Make a steel wash bowl with a small tap at +x."""
    kit = Kit()
    k = height
    kit.put(
        "bowl",
        [
            lathe(
                [
                    (0, 0),
                    (radius * 0.6, 0),
                    (radius * 0.88, k * 0.35),
                    (radius * 0.97, k),
                    (radius + 0.006, k + 0.002),
                    (radius * 0.95, k - 0.001),
                    (radius * 0.84, k * 0.4),
                    (radius * 0.56, 0.008),
                    (0, 0.007),
                ],
                ease=0.012,
            )
        ],
        (0.78, 0.79, 0.80),
        "metal",
    )
    if tap:
        out = radius * 0.85
        spout = bent(
            [(out - 0.01, 0, 0.035), (out + 0.07, 0, 0.035), (out + 0.07, 0, 0.008)], 0.015
        )
        kit.put(
            "tap",
            [
                pipe(spout, 0.009),
                disc(0.012, 0.03, (out + 0.035, 0, 0.05)),
                box((0.012, 0.045, 0.009), (out + 0.035, 0, 0.068), 0.003),
            ],
            (0.62, 0.63, 0.65),
            "metal",
        )
    return kit.meshes


def wheelchair_aside(
    swing: float = 100.0,
    brake_left: str = "off",
    brake_right: str = "off",
    frame: Colour = (0.05, 0.05, 0.055),
    seat: Colour = (0.40, 0.41, 0.43),
) -> list[Mesh]:
    """Make a wheelchair with its footplates swung aside."""
    done = []
    for m in furniture.wheelchair(
        brake_left=brake_left, brake_right=brake_right, frame=frame, seat=seat
    ):
        if m.name == "calf-strap":
            continue
        side = 1 if m.name.endswith("left") else -1
        if m.name.startswith(("hanger", "footplate")):
            at = np.array([0.285, side * 0.225, 0])
            m = replace(m, vertices=(m.vertices - at) @ turning("z", side * swing).T + at)
        done.append(m)
    return done


BATHING: dict[str, Callable[..., list[Mesh]]] = {
    "basket": basket,
    "block": block,
    "bottle": bottle,
    "folded-sheet": folded_sheet,
    "hairbrush": hairbrush,
    "locker": locker,
    "over-edge": over_edge,
    "path-curtain": path_curtain,
    "pendant": pendant,
    "plain-rug": plain_rug,
    "roll": roll,
    "round-plate": round_plate,
    "shade": shade,
    "steel-bowl": steel_bowl,
    "trolley": trolley,
    "wheelchair-aside": wheelchair_aside,
}
