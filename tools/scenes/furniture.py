"""Furniture of care: wheelchairs, beds, chairs, bathroom, each at its own origin, forward +x."""

from __future__ import annotations

import itertools

import numpy as np
from shapes import (
    Array,
    Colour,
    Kit,
    Mesh,
    Solid,
    band,
    bent,
    box,
    changed,
    disc,
    ellipse,
    loft,
    moved,
    pad,
    ring,
    rod,
    sheet,
    spline,
    tube,
    turned,
    waves,
)

STEEL: Colour = (0.72, 0.73, 0.75)
DARK: Colour = (0.09, 0.09, 0.10)
GREY: Colour = (0.45, 0.47, 0.49)
WHITE: Colour = (0.90, 0.90, 0.88)
OAK: Colour = (0.66, 0.48, 0.31)
SIDES = (("left", 1), ("right", -1))


def _one_of(what: str, value: object, *allowed: str) -> str:
    """Refuse a value that is not among the allowed ones."""
    word = {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value
    if word not in allowed:
        raise ValueError(f"{what}: {value!r} is not one of {', '.join(allowed)}")
    return str(word)


def _castor(kit: Kit, name: str, x: float, y: float, radius: float, top: float) -> None:
    """Add a castor with its fork."""
    kit.put(f"{name}-tyre", [disc(radius, 0.026, (x, y, radius), "y", 0.009)], DARK, "rubber")
    kit.put(f"{name}-hub", [disc(radius * 0.55, 0.03, (x, y, radius), "y")], GREY, "plastic")
    high = radius * 2 + 0.012
    fork = [
        box((0.03, 0.005, radius + 0.03), (x + 0.005, y + s * 0.021, radius + high / 4), 0.002)
        for s in (-1, 1)
    ]
    fork += [box((0.04, 0.048, 0.014), (x + 0.01, y, high), 0.005)]
    fork += [rod((x + 0.012, y, high), (x + 0.012, y, max(top, high + 0.01)), 0.012)]
    kit.put(f"{name}-fork", fork, STEEL, "metal")


def _brake(kit: Kit, side: str, s: int, on: bool, y: float, knob: Colour) -> None:
    """Add a brake: a lever with a knob, and a block that is on the tyre or off it."""
    pivot = np.array([0.175, y, 0.515])
    block = np.array([0.082, y, 0.50]) if on else np.array([0.135, y, 0.475])
    tip = pivot + ((0.125, s * 0.012, 0.045) if on else (-0.035, s * 0.012, 0.165))
    steel = [
        box((0.07, 0.03, 0.035), (0.175, s * 0.245, 0.515), 0.006),
        rod((0.175, s * 0.24, 0.515), pivot + np.array((0, s * 0.012, 0)), 0.011),
        tube(spline([pivot, (pivot + tip) / 2 + np.array((0, s * 0.006, 0.006)), tip]), 0.0075),
        rod(pivot, block + np.array((0.006, 0, 0)), 0.008),
    ]
    kit.put(f"brake-{side}-arm", steel, STEEL, "metal")
    roll = [rod(block - (0, 0.026, 0), block + np.array((0, 0.026, 0)), 0.0125)]
    kit.put(f"brake-{side}-block", roll, (0.8, 0.8, 0.81), "metal")
    kit.put(f"brake-{side}-knob", [rod(pivot + (tip - pivot) * 0.62, tip, 0.015)], knob, "plastic")


def _big_wheel(kit: Kit, side: str, s: int) -> None:
    """Add a driving wheel with spokes and a handrim."""
    c = np.array([-0.17, s * 0.29, 0.305])
    kit.put(f"tyre-{side}", [ring(0.287, 0.0165, c, "y", 96)], DARK, "rubber")
    steel = [ring(0.267, 0.008, c, "y", 96), disc(0.026, 0.06, c, "y"), disc(0.014, 0.13, c, "y")]
    for i in range(24):
        t = 2 * np.pi * i / 24
        out = np.array([np.cos(t), 0, np.sin(t)])
        lean = np.array([np.cos(t + 0.5), 0, np.sin(t + 0.5)])
        hub = c + lean * 0.024 + np.array((0, 0.02 * (1 if i % 2 else -1), 0))
        steel.append(rod(hub, c + out * 0.265, 0.0014, 5))
    rim = c + np.array((0, s * 0.034, 0))
    steel.append(ring(0.25, 0.0085, rim, "y", 96))
    for i in range(6):
        t = 2 * np.pi * (i + 0.5) / 6
        out = np.array([np.cos(t), 0, np.sin(t)])
        steel.append(rod(c + out * 0.266, rim + out * 0.25, 0.004, 6))
    kit.put(f"wheel-{side}", steel, STEEL, "metal")


def _footplate(kit: Kit, side: str, s: int, up: bool, frame: Colour) -> None:
    """Add a leg hanger with a footplate that is down or folded up."""
    hanger = bent(
        [(0.25, s * 0.225, 0.53), (0.33, s * 0.215, 0.53), (0.435, s * 0.185, 0.135)], 0.06
    )
    kit.put(f"hanger-{side}", [tube(hanger, 0.0115)], frame, "metal")
    plate = box((0.165, 0.150, 0.014), (0.47, s * 0.103, 0.125), 0.006)
    ribs = [
        box((0.006, 0.12, 0.004), (0.41 + 0.024 * i, s * 0.103, 0.133), 0.0015) for i in range(6)
    ]
    hinge = (0.47, s * 0.185, 0.128)
    parts = [plate, *ribs]
    if up:
        parts = [turned(p, "x", s * -96, hinge) for p in parts]
    parts.append(rod((0.395, s * 0.187, 0.128), (0.545, s * 0.187, 0.128), 0.009))
    kit.put(f"footplate-{side}", parts, (0.16, 0.16, 0.17), "plastic")


def wheelchair(
    tray: bool = False,
    footplate_left: str = "down",
    footplate_right: str = "down",
    brake_left: str = "on",
    brake_right: str = "on",
    armrest_left: bool = True,
    armrest_right: bool = True,
    frame: Colour = (0.16, 0.20, 0.30),
    seat: Colour = (0.10, 0.10, 0.115),
    knob: Colour = (0.70, 0.12, 0.10),
) -> list[Mesh]:
    """Make a manual wheelchair; its seat is 0.51 m high, its middle at the origin."""
    kit = Kit()
    for side, s in SIDES:
        y = s * 0.225
        metal = [
            tube(
                bent(
                    [(-0.43, y, 0.925), (-0.33, y, 0.925), (-0.245, y, 0.55), (-0.225, y, 0.16)],
                    0.05,
                ),
                0.0125,
            ),
            tube(
                bent(
                    [
                        (-0.235, y, 0.475),
                        (0.26, y, 0.485),
                        (0.275, y, 0.47),
                        (0.29, y, 0.20),
                        (0.25, y, 0.17),
                        (-0.225, y, 0.17),
                    ],
                    0.05,
                ),
                0.0125,
            ),
            rod((0.1, y, 0.17), (0.02, y, 0.475), 0.010),
            rod((-0.17, y, 0.305), (-0.17, s * 0.27, 0.305), 0.014),
            rod((-0.2, y, 0.305), (-0.235, y, 0.305), 0.02),
            rod((0.02, y, 0.19), (0.02, -y, 0.455), 0.0105),
            rod((0.302, y, 0.205), (0.302, y, 0.27), 0.018),
            rod((0.285, y, 0.25), (0.31, y, 0.25), 0.012),
        ]
        kit.put(f"frame-{side}", metal, frame, "metal")
        grip = rod((-0.355, y, 0.925), (-0.455, y, 0.925), 0.0185)
        kit.put(f"handle-{side}", [grip], DARK, "rubber")
        _big_wheel(kit, side, s)
        _castor(kit, f"castor-{side}", 0.29, y, 0.088, 0.25)
        up = _one_of("footplate", locals()[f"footplate_{side}"], "up", "down") == "up"
        _footplate(kit, side, s, up, frame)
        on = _one_of("brake", locals()[f"brake_{side}"], "on", "off") == "on"
        _brake(kit, side, s, on, s * 0.29, knob)
        if locals()[f"armrest_{side}"]:
            arm = bent(
                [
                    (-0.24, s * 0.25, 0.48),
                    (-0.25, s * 0.25, 0.715),
                    (0.13, s * 0.25, 0.715),
                    (0.135, s * 0.25, 0.48),
                ],
                0.06,
            )
            kit.put(f"armrest-{side}-tube", [tube(arm, 0.011)], frame, "metal")
            kit.put(
                f"armrest-{side}-pad",
                [box((0.30, 0.052, 0.034), (-0.06, s * 0.25, 0.738), 0.015, bevel=3)],
                (0.07, 0.07, 0.075),
                "leather",
            )
            guard = box((0.35, 0.004, 0.17), (-0.055, s * 0.243, 0.595), 0.0018)
            kit.put(f"armrest-{side}-guard", [guard], (0.11, 0.11, 0.12), "plastic")
    cushion = pad((0.43, 0.425, 0.055), (0.015, 0, 0.51), 0.022, 0.008)
    kit.put("seat", [cushion], seat, "cloth")
    kit.put("seat-sling", [box((0.46, 0.43, 0.012), (0.01, 0, 0.478), 0.005)], seat, "cloth")
    back = turned(box((0.022, 0.43, 0.42), (0, 0, 0), 0.01, 8), "y", -10)
    back = changed(
        back,
        lambda v: v + np.stack([-0.035 * (1 - (v[:, 1] / 0.22) ** 2), v[:, 1] * 0, v[:, 2] * 0], 1),
    )
    kit.put("back", [moved(back, (-0.262, 0, 0.72))], seat, "cloth")
    strap = [
        band(
            spline(
                [
                    (0.36, 0.20, 0.36),
                    (0.33, 0.10, 0.35),
                    (0.325, 0, 0.35),
                    (0.33, -0.10, 0.35),
                    (0.36, -0.20, 0.36),
                ]
            ),
            (0, 0, 0.05),
        )
    ]
    kit.put("calf-strap", strap, seat, "cloth")
    if tray:
        kit.meshes += _tray((0.15, 0, 0.775))
    return kit.meshes


def _tray(at: tuple[float, float, float]) -> list[Mesh]:
    """Make a tray that lies on the armrests, with a bay for the body."""
    kit = Kit()
    outline = bent(
        [
            (0.29, 0, 0),
            (0.29, 0.30, 0),
            (-0.25, 0.30, 0),
            (-0.25, 0.20, 0),
            (-0.03, 0.14, 0),
            (-0.03, 0, 0),
        ],
        0.07,
        10,
    )
    path = spline(outline, 2)
    top = _half_plate(path, 0.014)
    kit.put(
        "tray",
        [moved(top, at), moved((top[0] * (1, -1, 1), top[1][:, ::-1]), at)],
        (0.80, 0.72, 0.58),
        "wood",
    )
    rim = np.concatenate([path, (path * (1, -1, 1))[::-1][1:]])
    rim = rim[np.r_[True, np.linalg.norm(np.diff(rim, axis=0), axis=1) > 1e-5]]
    kit.put(
        "tray-rim",
        [moved(tube(rim + np.array((0, 0, 0.009)), 0.007, 8), at)],
        (0.62, 0.52, 0.38),
        "wood",
    )
    return kit.meshes


def _half_plate(path: Array, thick: float) -> Solid:
    """Make the left half of a plate: strips from an outline to its middle line y = 0."""
    x0, x1 = path[:, 0].min(), path[:, 0].max()
    xs = np.linspace(x0, x1, 40)
    outer, inner = [], []
    for x in xs:
        ys = []
        for a, b in itertools.pairwise(path):
            if (a[0] - x) * (b[0] - x) <= 0 and a[0] != b[0]:
                ys.append(a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0]))
        outer.append(max(ys, default=0.0))
        inner.append(min(ys) if len(ys) > 1 and x < -0.03 else 0.0)
    h = thick / 2
    rings = [
        np.array([(x, i, h), (x, o, h), (x, o, -h), (x, i, -h)])
        for x, o, i in zip(xs, outer, inner, strict=True)
    ]
    return loft(rings)


def _profile_mat(
    line: Array, width: float, thick: float, soft: float = 0.05, uneven: float = 0.0, seed: int = 0
) -> Solid:
    """Make a mattress or blanket: a rounded section carried along a line in the xz plane."""
    along = np.gradient(line, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    up = np.stack([-along[:, 2], along[:, 1] * 0, along[:, 0]], 1)
    length = np.r_[0, np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))]
    section = ellipse(width / 2, thick / 2, (0, 0, 0), 96, 7)
    rings = []
    for p, u, s in zip(line, up, length, strict=True):
        edge = min(s, length[-1] - s)
        shrink = np.sqrt(max(1 - (1 - min(edge / soft, 1)) ** 2, 0.0004))
        y = section[:, 0] * (1 - 0.035 * (1 - shrink))
        z = section[:, 1] * shrink
        if uneven:
            z = z + uneven * (z > 0) * waves(np.full_like(y, s), y, 0.45, seed)
        rings.append(p + np.stack([0 * y, y, 0 * y], 1) + z[:, None] * u)
    return loft(rings)


def bed_line(head: float, knees: float = 0.0, height: float = 0.45) -> Array:
    """Give the middle line of a bed's lying surface, from the head end to the feet."""
    a, k = np.radians(head), np.radians(knees)
    hip = np.array([-0.25, 0, height])
    top = hip + 0.77 * np.array([-np.cos(a), 0, np.sin(a)])
    seat = hip + np.array((0.22, 0, 0))
    knee = seat + 0.38 * np.array([np.cos(k), 0, np.sin(k)])
    end = knee + 0.66 * np.array([np.cos(k * 0.8), 0, -np.sin(k * 0.62)])
    path = bent([top, hip, seat, knee, end], 0.11, 12)
    total = np.r_[0, np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))]
    even = np.r_[
        np.linspace(0, 0.05, 8),
        np.linspace(0.06, total[-1] - 0.06, 70),
        np.linspace(total[-1] - 0.05, total[-1], 8),
    ]
    return np.stack([np.interp(even, total, path[:, i]) for i in range(3)], 1)


def _rail(kit: Kit, side: str, s: int, up: bool, z: float) -> None:
    """Add a bed rail: three bars between posts, raised or let down."""
    y = s * 0.49
    low = z + 0.06 if up else z - 0.36
    x0, x1 = -0.62, 0.62
    loop = bent(
        [(x0, y, low), (x0, y, low + 0.32), (x1, y, low + 0.32), (x1, y, low), (x0, y, low)], 0.08
    )
    bars = [tube(loop, 0.0145)]
    for h in (0.11, 0.215):
        bars.append(rod((x0, y, low + h), (x1, y, low + h), 0.0095))
    for x in (-0.21, 0.21):
        bars.append(rod((x, y, low), (x, y, low + 0.32), 0.0095))
    kit.put(f"rail-{side}", bars, (0.80, 0.80, 0.79), "metal")
    slides = [box((0.05, 0.022, 0.40), (x, s * 0.468, z - 0.08), 0.008) for x in (-0.42, 0.42)]
    kit.put(f"rail-{side}-slides", slides, (0.62, 0.63, 0.64), "metal")


def bed(
    head: float = 0.0,
    knees: float = 0.0,
    rail_left: str = "down",
    rail_right: str = "down",
    blanket: str = "none",
    pillow: bool = True,
    height: float = 0.55,
    mattress: Colour = (0.78, 0.80, 0.81),
    cover: Colour = (0.36, 0.47, 0.55),
    board: Colour = OAK,
) -> list[Mesh]:
    """Make a hospital bed: head end at -x, `head` its raising in degrees, top `height` high."""
    kit = Kit()
    z = height - 0.075
    line = bed_line(head, knees, z)
    kit.put("mattress", [_profile_mat(line, 0.88, 0.15)], mattress, "cloth")
    under = line
    along = np.gradient(under, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    down = np.stack([along[:, 2], along[:, 1] * 0, -along[:, 0]], 1)
    deck = [_profile_mat(under + down * 0.092, 0.86, 0.028, 0.01)]
    kit.put("deck", deck, (0.50, 0.52, 0.54), "plastic")
    frame = [box((1.96, 0.035, 0.07), (0, s * 0.435, z - 0.15), 0.01) for s in (-1, 1)]
    frame += [box((0.05, 0.84, 0.06), (x, 0, z - 0.16), 0.01) for x in (-0.95, -0.3, 0.3, 0.95)]
    frame += [box((1.7, 0.05, 0.05), (0, s * 0.30, 0.17), 0.01) for s in (-1, 1)]
    frame += [box((0.05, 0.76, 0.05), (x, 0, 0.17), 0.01) for x in (-0.85, 0.85)]
    frame += [
        turned(
            box((0.78, 0.045, 0.05), (x, s * 0.24, (z + 0.02) / 2), 0.01),
            "y",
            t * 17,
            (x, 0, (z + 0.02) / 2),
        )
        for s in (-1, 1)
        for x in (-0.4, 0.4)
        for t in (-1, 1)
    ]
    kit.put("frame", frame, (0.70, 0.71, 0.70), "metal")
    for i, (x, y) in enumerate(((-0.85, -0.33), (-0.85, 0.33), (0.85, -0.33), (0.85, 0.33))):
        _castor(kit, f"castor-{i}", x, y, 0.065, 0.17)
    for x, top in ((-1.03, height + 0.34), (1.03, height + 0.20)):
        low = z - 0.18
        panel = box((0.028, 0.93, top - low), (x, 0, (top + low) / 2), 0.013, bevel=3)
        kit.put("headboard" if x < 0 else "footboard", [panel], board, "wood")
        lips = [box((0.04, 0.96, 0.035), (x, 0, top), 0.016, bevel=3)]
        lips += [
            box((0.04, 0.035, top - low), (x, s * 0.465, (top + low) / 2), 0.014) for s in (-1, 1)
        ]
        kit.put(
            "headboard-edge" if x < 0 else "footboard-edge", lips, (0.75, 0.75, 0.73), "plastic"
        )
    for side, s, state in (("left", 1, rail_left), ("right", -1, rail_right)):
        if _one_of("rail", state, "up", "down", "none") != "none":
            _rail(kit, side, s, state == "up", z)
    if pillow:
        a = np.radians(head)
        lift = np.array([np.sin(a), 0, np.cos(a)])
        at = line[0] + 0.24 * np.array([np.cos(a), 0, -np.sin(a)]) + lift * 0.125
        soft = turned(pad((0.40, 0.62, 0.085), (0, 0, 0), 0.04, 0.035), "y", head)
        kit.put("pillow", [moved(soft, at)], (0.88, 0.88, 0.86), "cloth")
    state = _one_of("blanket", blanket, "none", "folded", "spread")
    if state == "spread":
        kit.put("blanket", [_spread(line, 0.42)], cover, "cloth")
        kit.put("blanket-turned", [_spread(line, 0.36, 0.58, 0.018)], (0.86, 0.86, 0.84), "cloth")
    if state == "folded":
        folds = [
            turned(
                pad(
                    (0.34, 0.80 - 0.015 * i, 0.038),
                    (0.78 + 0.006 * i, 0, height + 0.022 + 0.034 * i),
                    0.018,
                    0.004,
                ),
                "z",
                1.2 * i,
            )
            for i in range(3)
        ]
        kit.put("blanket", folds, cover, "cloth")
    return kit.meshes


def _spread(line: Array, start: float, end: float = 9.0, lift: float = 0.0) -> Solid:
    """Make a blanket over a mattress that hangs down at both sides."""
    total = np.r_[0, np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))]
    s = np.linspace(start, min(end, total[-1]), 90)
    mid = np.stack([np.interp(s, total, line[:, i]) for i in range(3)], 1)
    along = np.gradient(mid, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    up = np.stack([-along[:, 2], along[:, 1] * 0, along[:, 0]], 1)
    t = np.linspace(-0.71, 0.71, 120)
    flat = np.clip(np.abs(t) - 0.43, 0, None)
    bow = 0.05
    angle = np.clip(flat / bow, 0, np.pi / 2)
    y = np.minimum(np.abs(t), 0.43) + bow * np.sin(angle)
    drop = bow * (1 - np.cos(angle)) + np.clip(flat - bow * np.pi / 2, 0, None)
    u, w = np.meshgrid(s, t, indexing="ij")
    hang = np.clip(drop / 0.2, 0, 1)[None]
    fold = 0.010 * waves(u, w, 0.38, 3) * (1 - 0.4 * hang)
    out = y[None] + hang * (0.016 * np.sin(u * 34 + 2 * np.sin(u * 9)) + 0.012)
    points = mid[:, None] + up[:, None] * (0.083 + lift + fold)[..., None]
    points = points + np.stack([0 * out, np.sign(t)[None] * out, 0 * out - drop[None]], -1)
    return sheet(points, 0.016)
