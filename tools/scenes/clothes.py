"""Meshes of a posed body: skin in parts, eyes, hair and clothes, as meshes in the room."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from body import (
    SIDES,
    Array,
    Colour,
    Figure,
    Mesh,
    Person,
    apply_target,
    neighbours,
    part_weight,
    smoothed,
    unit,
    vertex_normals,
)

TOPS = ("tshirt", "shirt", "jumper", "vest", "gown", "none")
BOTTOMS = ("trousers", "shorts", "skirt", "none")
FEET = ("bare", "socks", "shoes", "slippers")
HAIRS = ("short", "long", "bun", "bald", "thin")
Faces = list[tuple[int, ...]]


def between_0_1(x: Array) -> Array:
    """The values held between 0 and 1."""
    return np.clip(x, 0.0, 1.0)


@dataclass(frozen=True)
class Ways:
    """For each vertex at rest: how far along the arm and the leg it is, and its height."""

    arm: Array
    arm_share: Array
    leg: Array
    leg_share: Array
    high: Array

    @staticmethod
    def of(figure: Figure) -> Ways:
        """Measures the vertices: 0 at shoulder or hip, 1 at elbow or knee, 2 at wrist or ankle."""
        rest, j = figure.rest, figure.joints
        ways = []
        for names, bones in (
            (
                ("shoulder", "elbow", "hand"),
                ("upperarm", "lowerarm", "wrist", "finger", "metacarpal"),
            ),
            (("upper-leg", "knee", "ankle"), ("upperleg", "lowerleg", "foot", "toe")),
        ):
            along, share = np.full(len(rest), -1.0), np.zeros(len(rest))
            for side, s in SIDES.items():
                a, b, c = (j[f"{side[0]}-{n}"] for n in names)
                w = part_weight(figure.base, bones, s)
                first = (rest - a) @ unit(b - a) / np.linalg.norm(b - a)
                second = (rest - b) @ unit(c - b) / np.linalg.norm(c - b)
                t = np.clip(first, -1, 1) + np.clip(second, 0, 3)
                along = np.where(
                    w > 0.02,
                    np.minimum(t, 3) * between_0_1(2 * w) - (1 - between_0_1(2 * w)) * 0.3,
                    along,
                )
                share = np.maximum(share, w)
            ways += [along, share]
        return Ways(*ways, rest[:, 1])


def cut(faces: Faces, inside: Array) -> tuple[Faces, Array, Array, Array]:
    """Cuts faces where `inside` is 0. Gives faces on new vertices, each (1-t) of a plus t of b."""
    index: dict[tuple[int, int], int] = {}
    rows: list[tuple[int, int, float]] = []

    def vertex(a: int, b: int, t: float) -> int:
        key = (a, b)
        if key not in index:
            index[key] = len(rows)
            rows.append((a, b, t))
        return index[key]

    out: Faces = []
    for face in faces:
        s = inside[list(face)]
        if (s < 0).all():
            continue
        ring: list[int] = []
        for i, a in enumerate(face):
            b = face[(i + 1) % len(face)]
            sa, sb = s[i], s[(i + 1) % len(face)]
            if sa >= 0:
                ring.append(vertex(a, a, 0.0))
            if (sa >= 0) != (sb >= 0):
                lo, hi = min(a, b), max(a, b)
                sl, sh = inside[lo], inside[hi]
                ring.append(vertex(lo, hi, float(sl / (sl - sh))))
        ring = list(dict.fromkeys(ring))
        if len(ring) > 2:
            out.append(tuple(ring))
    table = np.array(rows) if rows else np.zeros((0, 3))
    return out, table[:, 0].astype(int), table[:, 1].astype(int), table[:, 2]


def rim(faces: Faces) -> list[tuple[int, int]]:
    """The directed edges that only one face has."""
    seen = {(a, b) for f in faces for a, b in zip(f, f[1:] + f[:1], strict=True)}
    return [(a, b) for a, b in seen if (b, a) not in seen]


def finer(points: Array, faces: Faces, *others: Array) -> tuple[Array, Faces, list[Array]]:
    """Splits each face into four-sided ones; the other values of the vertices are split too."""
    edges: dict[tuple[int, int], int] = {}
    n = len(points)
    pairs: list[tuple[int, int]] = []
    for f in faces:
        for a, b in zip(f, f[1:] + f[:1], strict=True):
            key = (min(a, b), max(a, b))
            if key not in edges:
                edges[key] = n + len(pairs)
                pairs.append(key)
    middle = n + len(pairs)
    new: Faces = []
    for k, f in enumerate(faces):
        ring = [edges[min(a, b), max(a, b)] for a, b in zip(f, f[1:] + f[:1], strict=True)]
        new += [(a, ring[i], middle + k, ring[i - 1]) for i, a in enumerate(f)]

    def split(x: Array) -> Array:
        e = np.array(pairs)
        return np.concatenate(
            [x, 0.5 * (x[e[:, 0]] + x[e[:, 1]]), np.stack([x[list(f)].mean(0) for f in faces])]
        )

    return split(points), new, [split(x) for x in others]


def garment(
    figure: Figure,
    name: str,
    faces: Faces,
    inside: Array,
    off: Array,
    least: float | Array,
    colour: Colour,
    rounds: int = 6,
    material: str = "cloth",
    folds: float = 0.0025,
) -> list[Mesh]:
    """A cloth over faces where `inside` is positive, pushed out by `off` and at least `least`."""
    parts, a, b, t = cut(faces, inside)
    if not parts:
        return []
    full = vertex_normals(figure.points, faces)

    def mix(x: Array) -> Array:
        return x[a] * (1 - t)[:, None] + x[b] * t[:, None]

    skin_at, n, rest = mix(figure.points), mix(full), mix(figure.rest)
    n /= np.linalg.norm(n, axis=1, keepdims=True) + 1e-9
    if isinstance(least, np.ndarray):
        least = least[a] * (1 - t) + least[b] * t
    off_at = off[a] * (1 - t) + off[b] * t
    # what is pushed out is evened first, so that cloth lies over hollows
    edges = neighbours(parts)
    soft_n = smoothed(n, edges, 4)
    soft_n /= np.linalg.norm(soft_n, axis=1, keepdims=True) + 1e-9
    at = smoothed(skin_at + soft_n * off_at[:, None], edges, rounds)
    for _ in range(3):
        high = ((at - skin_at) * n).sum(1)
        at += n * np.maximum(0, least - high)[:, None]
        at = smoothed(at, edges, 1, 0.3)
    high = ((at - skin_at) * n).sum(1)
    at += n * np.maximum(0, least - high)[:, None]
    at, parts, (rest,) = finer(at, parts, rest)
    at = smoothed(at, neighbours(parts), 2, 0.4)
    n = vertex_normals(at, parts)
    r = rest
    wave = np.sin(38 * r[:, 1] + 60 * r[:, 0] + 2 * np.sin(27 * r[:, 2])) * np.sin(
        41 * r[:, 0] - 54 * r[:, 2] + 2 * np.sin(13 * r[:, 1])
    ) + 0.5 * np.sin(77 * r[:, 2] - 31 * r[:, 1] + 2 * np.sin(29 * r[:, 0]))
    at = at + n * (folds * wave)[:, None]
    edge = rim(parts)
    ids = sorted({i for pair in edge for i in pair})
    place = {i: len(at) + k for k, i in enumerate(ids)}
    deep = at[ids] - n[ids] * 0.006
    more = [(b_, a_, place[a_], place[b_]) for a_, b_ in edge]
    points = np.concatenate([at, deep])
    return [Mesh(name, figure.room(points), parts + more, material, colour)]


def dress(person: Person, figure: Figure) -> list[Mesh]:
    """All meshes of a posed person."""
    ways, c = Ways.of(figure), dict(person.clothes)
    known = [f"{part}{end}" for part in ("top", "bottom", "feet") for end in ("", "_colour")]
    if set(c) - set(known):
        raise ValueError(f"clothes {sorted(set(c) - set(known))}: allowed are {', '.join(known)}")
    for key, allowed in (("top", TOPS), ("bottom", BOTTOMS), ("feet", FEET)):
        if c.get(key, allowed[-1]) not in allowed:
            raise ValueError(f"{key} {c[key]!r}: one of {', '.join(allowed)}")
    if person.hair not in HAIRS:
        raise ValueError(f"hair {person.hair!r}: one of {', '.join(HAIRS)}")
    covered = np.full(len(figure.rest), -1.0)
    out: list[Mesh] = []
    for make in (top, bottom, feet):
        meshes, inside = make(figure, ways, c)
        out += meshes
        covered = np.maximum(covered, inside)
    out += skin_parts(person, figure, covered)
    for side in SIDES:
        out += eye(person, figure, side)
    from hair import hairs  # here, because hair.py uses this file

    return out + hairs(person, figure)


def skin_parts(person: Person, figure: Figure, covered: Array) -> list[Mesh]:
    """The skin that no cloth covers, in parts named after the body."""
    base = figure.base
    names = ["torso", "head", "neck"]
    face_bones = (
        "head",
        "jaw",
        "special",
        "ori",
        "orb",
        "levator",
        "temporalis",
        "risorius",
        "oculi",
        "eye",
        "tongue",
    )
    weights = [
        np.full(len(figure.rest), 0.0),
        part_weight(base, face_bones),
        part_weight(base, ("neck",)),
    ]
    for side, s in SIDES.items():
        for part, bones in (
            ("upper-arm", ("upperarm",)),
            ("forearm", ("lowerarm",)),
            ("hand", ("wrist", "finger", "metacarpal")),
            ("thigh", ("upperleg",)),
            ("lower-leg", ("lowerleg",)),
            ("foot", ("foot", "toe")),
        ):
            names.append(f"{side}-{part}")
            weights.append(part_weight(base, bones, s))
    table = np.stack(weights, 1)
    table[:, 0] = np.maximum(0, 1 - table[:, 1:].sum(1))
    faces = base.groups["body"]
    normals = vertex_normals(figure.points, faces)
    colours = skin_colours(person, figure)
    room, room_normals = figure.room(figure.points), normals @ figure.world.T
    parts: dict[str, Faces] = {}
    for face in faces:
        ids = list(face)
        if covered[ids].min() > 0.03:
            continue
        parts.setdefault(names[int(table[ids].sum(0).argmax())], []).append(face)
    out = []
    for name, group in parts.items():
        ids = np.array(sorted({i for f in group for i in f}))
        new = {int(i): k for k, i in enumerate(ids)}
        out.append(
            Mesh(
                f"skin-{name}",
                room[ids],
                [tuple(new[i] for i in f) for f in group],
                "skin",
                person.skin,
                True,
                colours[ids],
                room_normals[ids],
            )
        )
    return out


def skin_colours(person: Person, figure: Figure) -> Array:
    """The skin's colour at each vertex: redder lips, cheeks, nose, ears, knuckles."""
    base = figure.base
    colour = np.tile(np.array(person.skin, float), (len(figure.rest), 1))

    def tint(share: Array, to: tuple[float, float, float]) -> None:
        nonlocal colour
        share = between_0_1(share)[:, None]
        colour = colour * (1 - share) + share * colour * np.array(to)

    def moved_by(*targets: str) -> Array:
        v = np.zeros_like(base.vertices)
        for t in targets:
            apply_target(base, v, t, 1.0)
        far = np.linalg.norm(v, axis=1)
        return far / (far.max() + 1e-9)

    lips = np.maximum(
        moved_by("mouth/mouth-lowerlip-volume-incr"), moved_by("mouth/mouth-upperlip-volume-incr")
    )
    tint(1.3 * lips * (1.0 - 0.45 * person.sex), (0.85, 0.58, 0.58))
    tint(0.5 * moved_by("nose/nose-point-width-incr"), (0.98, 0.86, 0.84))
    for side in "lr":
        tint(0.6 * moved_by(f"cheek/{side}-cheek-volume-incr"), (1.0, 0.86, 0.83))
        tint(0.5 * moved_by(f"ears/{side}-ear-scale-incr"), (0.98, 0.86, 0.84))
    tint(0.5 * part_weight(base, ("finger",)), (0.98, 0.90, 0.88))
    tint(0.4 * part_weight(base, ("toe",)), (0.98, 0.88, 0.86))
    return colour


def eye(person: Person, figure: Figure, side: str) -> list[Mesh]:
    """An eyeball with iris and pupil, as three meshes."""
    group = figure.base.groups[f"helper-{side[0]}-eye"]
    at = figure.rest[sorted({i for f in group for i in f})]
    middle = 0.5 * (at.min(0) + at.max(0))
    radius = 0.5 * (at[:, 0].max() - at[:, 0].min())
    look = unit(np.array([0.0, -0.06, 1.0]))
    across = unit(np.cross([0, 1.0, 0], look))
    high = np.cross(look, across)
    out, n = [], 28
    bands = {"pupil": (0.0, 11.0), "iris": (11.0, 27.0), "white": (27.0, 179.0)}
    colours = {"pupil": (0.02, 0.02, 0.02), "iris": person.eye_colour, "white": (0.86, 0.83, 0.79)}
    for name, (low, top_) in bands.items():
        rings = np.radians(np.linspace(low, top_, 3 if name != "white" else 12))
        points = np.concatenate(
            [
                [
                    middle
                    + radius
                    * (1.0 if name == "white" else 1.006)
                    * (np.cos(r) * look + np.sin(r) * (np.cos(p) * across + np.sin(p) * high))
                    for p in np.linspace(0, 2 * np.pi, n, endpoint=False)
                ]
                for r in rings
            ]
        )
        faces = [
            (i * n + k, (i + 1) * n + k, (i + 1) * n + (k + 1) % n, i * n + (k + 1) % n)
            for i in range(len(rings) - 1)
            for k in range(n)
        ]
        label = f"eye-{side}" if name == "white" else f"eye-{side}-{name}"
        out.append(
            Mesh(label, figure.room(figure.move("head", points)), faces, "eye", colours[name])
        )
    return out


def colour_of(c: dict, key: str, default: Colour) -> Colour:
    """A colour among the clothes."""
    r, g, b = c.get(key, default)
    return float(r), float(g), float(b)


def length_of(figure: Figure, a: str, b: str) -> float:
    """The distance of two joints at rest."""
    return float(np.linalg.norm(figure.joints[a] - figure.joints[b]))


def top(figure: Figure, ways: Ways, c: dict) -> tuple[list[Mesh], Array]:
    """The upper garment, and how far inside it each vertex at rest is."""
    kind, j = c.get("top", "none"), figure.joints
    none = np.full(len(figure.rest), -1.0)
    if kind == "none":
        return [], none
    rest = figure.rest
    upper = length_of(figure, "l-shoulder", "l-elbow")
    sleeve = {"tshirt": 0.62, "shirt": 1.93, "jumper": 1.95, "vest": 0.04, "gown": 0.85}[kind]
    hem = j["l-upper-leg"][1] + {"jumper": 0.0, "gown": 0.045}.get(kind, -0.02)
    neck, chest = j["neck"], j["l-clavicle"]
    wide = abs(j["l-scapula"][0]) * (0.62 if kind != "vest" else 0.78)
    drop = {"vest": -0.045, "tshirt": 0.006, "gown": -0.005, "jumper": 0.02}.get(kind, 0.028)
    front = np.array([0, chest[1] + 0.012 + drop, chest[2] + 0.05])
    back = np.array([0, neck[1] - 0.005 + 0.3 * drop, neck[2] - 0.06])
    slope = unit(np.cross(front - back, [1.0, 0, 0]))
    slope = slope if slope[1] > 0 else -slope
    opening = np.minimum((rest - back) @ slope, wide - np.abs(rest[:, 0]))
    is_arm = between_0_1(4 * ways.arm_share - 1)
    inside = np.minimum((sleeve - ways.arm) * upper, -opening)
    inside = np.minimum(inside, rest[:, 1] - hem + is_arm)
    inside = np.where(part_weight(figure.base, ("head", "jaw")) > 0.5, -1, inside)
    thick = {"jumper": 0.016, "gown": 0.016, "shirt": 0.012}.get(kind, 0.010)
    low = between_0_1(1 - (rest[:, 1] - hem) / 0.25) * (1 - is_arm)
    low = low * (kind != "gown")
    off = thick + 0.008 * low + 0.007 * is_arm * between_0_1(1.0 - np.abs(ways.arm - 0.9))
    colour = colour_of(c, "top_colour", (0.45, 0.52, 0.60))
    faces = figure.base.groups["helper-tights"]
    out = garment(
        figure,
        "top",
        faces,
        inside,
        off,
        0.008 + 0.007 * low,
        colour,
        8,
        folds=0.0022 if kind != "jumper" else 0.003,
    )
    if kind == "gown":
        skirt, more = skirt_of(figure, ways, "top-skirt", 1.12, colour, 0.006)
        trunk = (ways.arm_share < 0.3) & (rest[:, 1] < hem + 0.1) & (rest[:, 1] > hem - 0.25)
        waist = np.where(trunk, 0.1, -1)
        return out + skirt, np.maximum(np.maximum(inside, more), waist)
    return out, inside


def skirt_of(
    figure: Figure, ways: Ways, name: str, length: float, colour: Colour, off: float
) -> tuple[list[Mesh], Array]:
    """A skirt from the helper, cut at a length along the legs (1 is the knee)."""
    rest, j = figure.rest, figure.joints
    hip, knee, ankle = j["l-upper-leg"][1], j["l-knee"][1], j["l-ankle"][1]
    end = hip + length * (knee - hip) if length < 1 else knee + (length - 1) * (ankle - knee)
    waist = hip + 0.115
    inside = np.minimum(rest[:, 1] - end, waist - rest[:, 1])
    faces = figure.base.groups["helper-skirt"]
    out = garment(
        figure, name, faces, inside, np.full(len(rest), off), -0.01, colour, 3, folds=0.004
    )
    deep = np.minimum(inside - 0.13, 0.35 - np.abs(ways.arm_share))
    return out, np.where(ways.arm_share > 0.3, -1, deep)


def bottom(figure: Figure, ways: Ways, c: dict) -> tuple[list[Mesh], Array]:
    """The lower garment, and how far inside it each vertex at rest is."""
    kind, j = c.get("bottom", "none"), figure.joints
    none = np.full(len(figure.rest), -1.0)
    colour = colour_of(c, "bottom_colour", (0.25, 0.27, 0.32))
    if kind == "none":
        return [], none
    if kind == "skirt":
        return skirt_of(figure, ways, "bottom", 1.25, colour, 0.006)
    rest = figure.rest
    thigh = length_of(figure, "l-upper-leg", "l-knee")
    end = {"trousers": 1.95, "shorts": 0.78}[kind]
    waist = j["l-upper-leg"][1] + 0.09
    inside = np.minimum((end - ways.leg) * thigh, waist - rest[:, 1])
    inside = np.where(ways.arm_share > 0.3, -1, inside)
    off = 0.007 + loose_leg(figure, ways)
    out = garment(
        figure,
        "bottom",
        figure.base.groups["helper-tights"],
        inside,
        off,
        0.006,
        colour,
        10,
        folds=0.0028,
    )
    return out, inside


def loose_leg(figure: Figure, ways: Ways) -> Array:
    """How far a straight trouser leg stands off the leg, for each vertex at rest."""
    rest, j = figure.rest, figure.joints
    out = np.zeros(len(rest))
    for side, s in SIDES.items():
        hip, knee, ankle = (j[f"{side[0]}-{n}"] for n in ("upper-leg", "knee", "ankle"))
        mine = part_weight(figure.base, ("upperleg", "lowerleg", "foot"), s) > 0.5
        far = np.where(ways.leg < 1, off_axis(rest, hip, knee), off_axis(rest, knee, ankle))
        calf = far[mine & (ways.leg > 1.2) & (ways.leg < 1.5)].mean()
        tube = np.interp(
            ways.leg, [0.45, 1.0, 1.4, 2.0], [0.0, calf + 0.014, calf + 0.018, calf + 0.012]
        )
        out = np.where(mine, np.clip(tube - far, 0.0, 0.032), out)
    return out


def off_axis(points: Array, a: Array, b: Array) -> Array:
    """How far points are from the line through two places."""
    way = points - a
    u = unit(b - a)
    return np.linalg.norm(way - (way @ u)[:, None] * u, axis=1)


def feet(figure: Figure, ways: Ways, c: dict) -> tuple[list[Mesh], Array]:
    """Socks, shoes or slippers, and how far inside them each vertex at rest is."""
    kind = c.get("feet", "bare")
    covered = np.full(len(figure.rest), -1.0)
    if kind == "bare":
        return [], covered
    colour = colour_of(c, "feet_colour", (0.22, 0.20, 0.19))
    rest, j = figure.rest, figure.joints
    ground, out = j["ground"][1], []
    shank = length_of(figure, "l-knee", "l-ankle")
    for side, s in SIDES.items():
        k = side[0]
        foot = part_weight(figure.base, ("foot", "toe", "lowerleg"), s)
        ankle, toe = j[f"{k}-ankle"], j[f"{k}-toe-3-1"]
        along = (rest - ankle) @ unit((toe - ankle) * [1, 0, 1])
        if kind == "socks":
            inside = (ways.leg - 1.72) * shank
        elif kind == "shoes":
            inside = ankle[1] + 0.012 - rest[:, 1]
        else:
            inside = np.minimum(ankle[1] + 0.01 - rest[:, 1], along - 0.035)
        inside = np.where(foot > 0.5, inside, -1.0)
        covered = np.maximum(covered, inside + (0.02 if kind == "socks" else 0.0))
        if kind == "slippers":
            covered = np.maximum(covered, np.where((foot > 0.5) & (along > 0.08), 0.1, -1))
        off = np.full(len(rest), 0.003 if kind == "socks" else 0.007)
        name = f"sock-{side}" if kind == "socks" else f"shoe-{side}"
        out += garment(
            figure,
            name,
            figure.base.groups["helper-tights"],
            inside,
            off,
            0.002 if kind == "socks" else 0.005,
            colour,
            2 if kind == "socks" else 5,
            "cloth" if kind != "shoes" else "plastic",
            0.0006,
        )
        if kind != "socks":
            out.append(sole(figure, side, foot, ground))
    return out, covered


def sole(figure: Figure, side: str, foot: Array, ground: float) -> Mesh:
    """The sole of a shoe: the outline of the foot, 22 mm thick."""
    ids = np.array(sorted({i for f in figure.base.groups["helper-tights"] for i in f}))
    at = figure.rest[ids][foot[ids] > 0.5]
    at = at[at[:, 1] < ground + 0.055][:, [0, 2]]
    middle = at.mean(0)
    outline = []
    for angle in np.linspace(0, 2 * np.pi, 48, endpoint=False):
        d = np.array([np.cos(angle), np.sin(angle)])
        outline.append(((at - middle) @ d).max() + 0.008)
    angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    # the outline of a convex shape from its supports
    ds = np.stack([np.cos(angles), np.sin(angles)], 1)
    ring = []
    for d in ds:
        ratio = ds @ d
        ok = ratio > 0.15
        ring.append(middle + d * (np.array(outline)[ok] / ratio[ok]).min())
    flat = np.array(ring)
    flat = 0.5 * flat + 0.25 * (np.roll(flat, 1, 0) + np.roll(flat, -1, 0))
    layers = [(0.94, -0.018), (1.0, -0.013), (1.0, 0.004), (0.93, 0.008)]
    points = [
        np.stack(
            [
                middle[0] + w * (flat[:, 0] - middle[0]),
                np.full(48, ground + h),
                middle[1] + w * (flat[:, 1] - middle[1]),
            ],
            1,
        )
        for w, h in layers
    ]
    faces: Faces = [
        (i * 48 + k, i * 48 + (k + 1) % 48, (i + 1) * 48 + (k + 1) % 48, (i + 1) * 48 + k)
        for i in range(3)
        for k in range(48)
    ]
    faces += [tuple(range(48)), tuple(range(3 * 48, 4 * 48))]
    moved = figure.move(f"foot.{SIDES[side]}", np.concatenate(points))
    return Mesh(f"shoe-{side}-sole", figure.room(moved), faces, "rubber", (0.16, 0.15, 0.14))
