"""Hair, brows, beard and glasses of a posed person; made at rest and moved with the head."""

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
    part_weight,
    unit,
    vertex_normals,
)

Faces = list[tuple[int, ...]]


@dataclass(frozen=True)
class Head:
    """The head at rest: its surface, and measures that hair is laid out by."""

    points: Array
    normals: Array
    faces: Faces
    ids: Array
    middle: Array
    eye: Array
    crown: float
    ears: Array

    @staticmethod
    def of(figure: Figure) -> Head:
        """Measures the head."""
        base, j, rest = figure.base, figure.joints, figure.rest
        near = (
            part_weight(
                base,
                (
                    "neck03",
                    "head",
                    "jaw",
                    "special",
                    "ori",
                    "orb",
                    "levator",
                    "temporalis",
                    "risorius",
                    "oculi",
                ),
            )
            > 0.3
        )
        faces = [f for f in base.groups["body"] if near[list(f)].all()]
        normals = vertex_normals(rest, base.groups["body"])
        ids = np.array(sorted({i for f in faces for i in f}))
        eye = 0.5 * (j["l-eye"] + j["r-eye"])
        crown = float(rest[ids, 1].max())
        moved = np.zeros_like(base.vertices)
        for side in "lr":
            apply_target(base, moved, f"ears/{side}-ear-scale-incr", 1.0)
        far = np.linalg.norm(moved, axis=1)
        skull = rest[ids][rest[ids, 1] > eye[1] + 0.03]
        middle = np.array([0, eye[1] + 0.02, 0.5 * (skull[:, 2].min() + skull[:, 2].max())])
        return Head(rest, normals, faces, ids, middle, eye, crown, far > 0.4 * far.max())

    def fine(self) -> Head:
        """The skull alone, with each face split in sixteen, for a hairline that is not jagged."""
        from clothes import finer

        p, eye = self.points, self.eye
        faces = [
            f
            for f in self.faces
            if p[list(f), 1].min() > eye[1] - 0.10
            and (p[list(f), 2].max() < eye[2] - 0.012 or p[list(f), 1].min() > eye[1] + 0.028)
        ]
        ids = np.array(sorted({i for f in faces for i in f}))
        new = {int(i): k for k, i in enumerate(ids)}
        faces = [tuple(new[i] for i in f) for f in faces]
        at, normals, ears = p[ids], self.normals[ids], self.ears[ids].astype(float)[:, None]
        for _ in range(2):
            at, faces, (normals, ears) = finer(at, faces, normals, ears)
        normals /= np.linalg.norm(normals, axis=1, keepdims=True) + 1e-9
        return Head(
            at, normals, faces, np.arange(len(at)), self.middle, eye, self.crown, ears[:, 0] > 0.55
        )

    def scalp(self, style: str) -> Array:
        """How far inside the hairline each vertex is; negative outside."""
        d = self.points - self.middle
        angle = np.degrees(np.arctan2(np.abs(d[:, 0]), d[:, 2]))
        scale = (self.crown - self.eye[1]) / 0.125
        line = np.interp(
            angle,
            [0, 25, 42, 55, 64, 72, 92, 104, 116, 128, 180],
            [0.070, 0.070, 0.066, 0.046, 0.014, 0.000, 0.026, 0.010, -0.035, -0.055, -0.078],
        )
        inside = d[:, 1] + 0.02 - line * scale
        if style == "thin":
            inside = np.minimum(inside, self.crown - 0.045 - self.points[:, 1])
        inside = np.where(self.ears, -0.02, inside)
        outside = np.full(len(self.points), -1.0)
        outside[self.ids] = inside[self.ids]
        return outside


def scattered(
    points: Array, faces: Faces, inside: Array, count: int, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Random places on faces inside a region: three vertices and their shares."""
    tri = np.array([(f[0], f[i], f[i + 1]) for f in faces for i in range(1, len(f) - 1)], int)
    tri = tri[(inside[tri] > -0.004).all(1)]
    if not len(tri):
        return tri, np.zeros((0, 3)), np.zeros(0)
    a, b, c = points[tri[:, 0]], points[tri[:, 1]], points[tri[:, 2]]
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    pick = rng.choice(len(tri), count, p=area / area.sum())
    u, v = rng.random(count), rng.random(count)
    flip = u + v > 1
    u, v = np.where(flip, 1 - u, u), np.where(flip, 1 - v, v)
    shares = np.stack([1 - u - v, u, v], 1)
    keep = (inside[tri[pick]] * shares).sum(1) > 0
    return tri[pick][keep], shares[keep], pick[keep].astype(float)


def ribbons(paths: Array, outward: Array, wide: float) -> tuple[Array, Faces]:
    """Narrow bands along paths (strand, step, 3), tapering to their ends."""
    strands, steps = paths.shape[:2]
    along = np.gradient(paths, axis=1)
    across = np.cross(along, outward)
    across /= np.linalg.norm(across, axis=2, keepdims=True) + 1e-9
    taper = wide * np.interp(np.linspace(0, 1, steps), [0, 0.6, 1], [1.0, 0.9, 0.15])
    step = across * taper[None, :, None] * 0.5
    middle = paths + outward * wide * 0.22
    points = np.stack([paths - step, middle, paths + step], 2).reshape(-1, 3)
    faces: Faces = []
    for s in range(strands):
        for i in range(steps - 1):
            k = (s * steps + i) * 3
            faces += [(k, k + 1, k + 4, k + 3), (k + 1, k + 2, k + 5, k + 4)]
    return points, faces


def nearest(points: Array, cloud: Array) -> Array:
    """For each point the index of the nearest of a cloud."""
    out = np.zeros(len(points), int)
    for i in range(0, len(points), 2000):
        part = points[i : i + 2000]
        far = (part**2).sum(1)[:, None] - 2 * part @ cloud.T + (cloud**2).sum(1)[None]
        out[i : i + 2000] = far.argmin(1)
    return out


def grow(
    head: Head,
    figure: Figure,
    roots: Array,
    normals: Array,
    flow: Array,
    length: Array,
    steps: int,
    clear: tuple[float, float],
    fall: float,
    rng: np.random.Generator,
    curl: float = 0.15,
    aim: Array | None = None,
) -> tuple[Array, Array]:
    """Lets strands grow from their roots along a flow, held off the skin; gives paths, outward."""
    ids = np.flatnonzero(
        part_weight(
            figure.base,
            (
                "head",
                "neck",
                "spine",
                "clavicle",
                "shoulder",
                "jaw",
                "temporalis",
                "oculi",
                "special",
            ),
        )
        > 0.4
    )
    ids = ids[ids < 13380]
    ids = ids[figure.rest[ids, 1] > head.eye[1] - 0.42]
    cloud, cloud_n = figure.rest[ids], head.normals[ids]
    at, paths, out = roots.copy(), [], []
    direction = flow + 0.25 * normals
    level = rng.uniform(clear[0], clear[1], len(roots))
    noise = rng.normal(0, curl, (len(roots), 3))
    n, free = normals, np.zeros((len(roots), 1), bool)
    for i in range(steps):
        k = nearest(at, cloud)
        n = 0.5 * n + 0.5 * cloud_n[k]
        n /= np.linalg.norm(n, axis=1, keepdims=True) + 1e-9
        want = 0.002 + level * min(1.0, i / 1.6)
        high = ((at - cloud[k]) * cloud_n[k]).sum(1)
        at = at + cloud_n[k] * np.clip(want - high, -0.02 if aim is not None else 0, 0.02)[:, None]
        paths.append(at.copy())
        out.append(n.copy())
        down = fall
        if aim is not None:
            far = np.linalg.norm(aim - at, axis=1, keepdims=True)
            free = free | (far < 0.025) | (at[:, 1:2] < aim[:, 1:2] if fall else False)
            direction = np.where(free, direction, (aim - at) / (far + 1e-6))
            down = np.where(free, fall, 0.0)
        direction = direction + down * np.array([0, -1.0, 0]) + noise * (0.5 if i else 1)
        flat = direction - n * np.minimum((direction * n).sum(1), 0.9)[:, None]
        direction = flat / (np.linalg.norm(flat, axis=1, keepdims=True) + 1e-9)
        at = at + direction * (length / (steps - 1))[:, None]
        if aim is not None and fall:
            back = np.minimum(at[:, 2], head.middle[2] - 0.012)
            at[:, 2] = np.where(free[:, 0], back, at[:, 2])
    return np.stack(paths, 1), np.stack(out, 1)


def shaded(colour: Colour, strands: int, steps: int, rng: np.random.Generator) -> Array:
    """A colour for each vertex of ribbons, a little different from strand to strand."""
    tone = rng.normal(1.0, 0.13, strands).clip(0.65, 1.35)
    along = np.linspace(0.82, 1.1, steps)
    value = (tone[:, None] * along[None])[..., None, None] * np.array(colour)
    return np.repeat(value, 3, 2).reshape(-1, 3).clip(0, 1)


def strands_mesh(
    figure: Figure,
    name: str,
    paths: Array,
    out: Array,
    wide: float,
    colour: Colour,
    rng: np.random.Generator,
    bone: str = "head",
) -> Mesh:
    """Strands as a mesh in the room."""
    points, faces = ribbons(paths, out, wide)
    return Mesh(
        name,
        figure.room(figure.move(bone, points)),
        faces,
        "hair",
        colour,
        True,
        shaded(colour, paths.shape[0], paths.shape[1], rng),
    )


def hairs(person: Person, figure: Figure) -> list[Mesh]:
    """The hair on a head, brows, beard and glasses."""
    head, rng = Head.of(figure), np.random.default_rng(7)
    out = brows(person, figure, head, rng)
    if person.hair != "bald":
        out += scalp_hair(person, figure, head, rng)
    if person.beard:
        out += beard(person, figure, head, rng)
    if person.glasses:
        out += glasses(figure, head)
    return out


def cap(figure: Figure, head: Head, inside: Array, thick: float, colour: Colour) -> Mesh:
    """A thin layer over the scalp, so that no skin shines through the strands."""
    from clothes import cut

    faces, a, b, t = cut(head.faces, inside)
    off = thick * np.clip(inside / 0.03, 0.0, 1.0) + 0.0008
    moved = head.points + head.normals * off[:, None]
    points = moved[a] * (1 - t)[:, None] + moved[b] * t[:, None]
    return Mesh(
        "hair-cap",
        figure.room(figure.move("head", points)),
        faces,
        "hair",
        tuple(0.72 * x for x in colour),
    )  # type: ignore[arg-type]


def scalp_hair(person: Person, figure: Figure, head: Head, rng: np.random.Generator) -> list[Mesh]:
    """Hair in its style: a layer on the scalp and strands over it."""
    style, colour = person.hair, person.hair_colour
    skull = head.fine()
    inside = skull.scalp(style)
    count = {"short": 5200, "long": 4200, "bun": 3600, "thin": 1500}[style]
    tri, shares, _ = scattered(skull.points, skull.faces, inside, count, rng)
    roots = (skull.points[tri] * shares[..., None]).sum(1)
    normals = (skull.normals[tri] * shares[..., None]).sum(1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    whorl = np.array([0.012, head.crown, head.middle[2] - 0.03])
    d = roots - head.middle
    side = np.sign(d[:, 0] - 0.028 + 1e-6)
    if style == "bun":
        bun = np.array([0, head.middle[1] + 0.055, head.points[head.ids, 2].min() - 0.012])
        flow = bun - roots
        far = np.linalg.norm(flow, axis=1)
        flow = flow / far[:, None]
        paths, n = grow(
            head,
            figure,
            roots,
            normals,
            flow,
            np.minimum(1.1 * far, 0.2),
            9,
            (0.003, 0.008),
            0.0,
            rng,
            0.04,
            np.tile(bun, (len(roots), 1)),
        )
        out = [
            cap(figure, skull, inside, 0.004, colour),
            strands_mesh(figure, "hair", paths, n, 0.0042, colour, rng),
        ]
        return out + bun_of(figure, bun, colour, rng)
    flow = roots - whorl
    flow /= np.linalg.norm(flow, axis=1, keepdims=True) + 1e-9
    ahead = np.clip(d[:, 2] / 0.07, 0, 1)[:, None]
    if style in ("short", "thin"):
        part = np.stack([side * 0.9, 0 * side, -0.25 + 0 * side], 1)
        flow = flow * (1 - 0.7 * ahead) + 0.7 * ahead * part + np.array([0, -0.15, -0.05])
        top_ = np.clip((roots[:, 1] - head.eye[1] - 0.02) / 0.09, 0, 1)
        length = (0.022 + 0.03 * top_) * rng.uniform(0.7, 1.2, len(roots))
        length *= 1.0 if style == "short" else 0.6
        clear = (0.004, 0.014) if style == "short" else (0.001, 0.004)
        paths, n = grow(
            head,
            figure,
            roots,
            normals,
            flow,
            length,
            5,
            clear,
            0.05,
            rng,
            0.22 if style == "short" else 0.3,
        )
        if style == "short":
            high = 0.35 + 0.65 * top_
            paths = (
                roots[:, None]
                + (paths - roots[:, None]) * 1.0
                + n * (0.006 * high)[:, None, None] * np.linspace(0, 1, 5)[None, :, None]
            )
        out = [
            strands_mesh(
                figure, "hair", paths, n, 0.0042 if style == "short" else 0.0026, colour, rng
            )
        ]
        if style == "short":
            out.insert(0, cap(figure, skull, inside, 0.006, colour))
        else:
            out.insert(
                0,
                cap(
                    figure,
                    skull,
                    inside,
                    0.0015,
                    tuple(0.45 * a + 0.55 * b for a, b in zip(colour, person.skin, strict=True)),
                ),
            )
        return out
    # the hair goes behind the ears first, and hangs from there
    away = np.stack(
        [
            np.where(np.abs(d[:, 0]) > 0.02, np.sign(d[:, 0]), side)
            * rng.uniform(0.055, 0.088, len(roots)),
            head.eye[1] - 0.012 + rng.uniform(-0.02, 0.02, len(roots)),
            head.middle[2] - rng.uniform(0.012, 0.055, len(roots)),
        ],
        1,
    )
    behind = d[:, 2] < -0.045
    away[behind] = (roots + [0, -0.03, 0])[behind]
    length = np.linalg.norm(away - roots, axis=1) * 1.15 + rng.uniform(0.07, 0.11, len(roots))
    paths, n = grow(
        head, figure, roots, normals, flow, length, 14, (0.004, 0.014), 0.5, rng, 0.06, away
    )
    return [
        cap(figure, skull, inside, 0.007, colour),
        strands_mesh(figure, "hair", paths, n, 0.0055, colour, rng),
    ]


def bun_of(figure: Figure, at: Array, colour: Colour, rng: np.random.Generator) -> list[Mesh]:
    """A bun: wound strands around a ball."""
    strands, steps, size = 420, 9, np.array([0.034, 0.033, 0.026])
    axis = unit(np.array([0, 0.25, -1.0]))
    x = unit(np.cross([0, 1.0, 0], axis))
    y = np.cross(axis, x)
    start, tilt = rng.uniform(0, 2 * np.pi, strands), rng.uniform(-0.75, 1.45, strands)
    around = start[:, None] + np.linspace(0, 1.3, steps)[None]
    lat = tilt[:, None] + 0.25 * np.sin(around * 2 + start[:, None])
    ring = np.cos(around)[..., None] * x + np.sin(around)[..., None] * y
    n = np.cos(lat)[..., None] * ring + np.sin(lat)[..., None] * axis
    grooves = 1 + 0.05 * np.sin(3 * around + 5 * lat)
    paths = at + n * size * grooves[..., None]
    return [
        strands_mesh(figure, "hair-bun", paths, n, 0.007, colour, rng),
        ball(figure, "hair-bun-core", at, size * 0.95, tuple(0.7 * c for c in colour)),
    ]


def ball(figure: Figure, name: str, at: Array, size: Array, colour: Colour) -> Mesh:
    """A rounded body in the head's rest place."""
    lat, lon = np.linspace(0.02, np.pi - 0.02, 12), np.linspace(0, 2 * np.pi, 20, endpoint=False)
    points = np.array(
        [
            at + size * [np.sin(a) * np.cos(b), np.cos(a), np.sin(a) * np.sin(b)]
            for a in lat
            for b in lon
        ]
    )
    faces = [
        (i * 20 + k, i * 20 + (k + 1) % 20, (i + 1) * 20 + (k + 1) % 20, (i + 1) * 20 + k)
        for i in range(11)
        for k in range(20)
    ]
    return Mesh(name, figure.room(figure.move("head", points)), faces, "hair", colour)


def front(head: Head, x: Array, y: Array) -> tuple[Array, Array]:
    """The places of the face in front of (x, y), and the normals there."""
    tri = np.array(
        [
            (f[0], f[i], f[i + 1])
            for f in head.faces
            for i in range(1, len(f) - 1)
            if head.normals[list(f), 2].mean() > 0.05
        ],
        int,
    )
    a, b, c = (head.points[tri[:, k]] for k in range(3))
    places, normals = np.zeros((len(x), 3)), np.zeros((len(x), 3))
    det = (b[:, 1] - c[:, 1]) * (a[:, 0] - c[:, 0]) + (c[:, 0] - b[:, 0]) * (a[:, 1] - c[:, 1])
    det = np.where(np.abs(det) < 1e-12, 1e-12, det)
    for k, (px, py) in enumerate(zip(x, y, strict=True)):
        u = ((b[:, 1] - c[:, 1]) * (px - c[:, 0]) + (c[:, 0] - b[:, 0]) * (py - c[:, 1])) / det
        v = ((c[:, 1] - a[:, 1]) * (px - c[:, 0]) + (a[:, 0] - c[:, 0]) * (py - c[:, 1])) / det
        hit = (u > -1e-3) & (v > -1e-3) & (u + v < 1.001)
        z = np.where(hit, u * a[:, 2] + v * b[:, 2] + (1 - u - v) * c[:, 2], -9)
        i = int(z.argmax())
        places[k] = [px, py, z[i]]
        normals[k] = head.normals[tri[i]].mean(0)
    return places, normals / (np.linalg.norm(normals, axis=1, keepdims=True) + 1e-9)


def brows(person: Person, figure: Figure, head: Head, rng: np.random.Generator) -> list[Mesh]:
    """Two brows of short strands."""
    out = []
    colour = tuple(0.75 * c for c in person.hair_colour)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        eye = figure.joints[f"{side[0]}-eye"]
        t = rng.random(110)
        x = np.abs(eye[0]) - 0.019 + 0.043 * t
        arch = 0.0195 + 0.0055 * np.sin(np.pi * np.clip(t * 0.8, 0, 1)) - 0.004 * t
        y = eye[1] + arch + rng.uniform(-1, 1, 110) * 0.0032 * (1.05 - 0.75 * t)
        root, n = front(head, sign * x, y)
        lean = np.stack([sign * (0.5 + 0.5 * t), 0.55 - 0.75 * t, 0 * t], 1)
        lean -= n * (lean * n).sum(1)[:, None]
        steps = np.linspace(0, 1, 3)
        paths = (
            root[:, None]
            + lean[:, None] * (0.0085 * steps)[None, :, None]
            + n[:, None] * (0.0006 + 0.0012 * np.sin(np.pi * steps * 0.7))[None, :, None]
        )
        outward = np.repeat(n[:, None], 3, 1)
        out.append(strands_mesh(figure, f"hair-brow-{side}", paths, outward, 0.0010, colour, rng))
    return out


def beard(person: Person, figure: Figure, head: Head, rng: np.random.Generator) -> list[Mesh]:
    """A short full beard."""
    p, eye = head.points, head.eye
    low = eye[1] - 0.052 + 0.035 * np.clip((np.abs(p[:, 0]) - 0.03) / 0.035, 0, 1)
    inside = np.minimum(low - p[:, 1], p[:, 1] - (eye[1] - 0.135))
    inside = np.minimum(inside, p[:, 2] - head.middle[2] - 0.005)
    v = np.zeros_like(figure.base.vertices)
    for name in ("lower", "upper"):
        apply_target(figure.base, v, f"mouth/mouth-{name}lip-volume-incr", 1.0)
    far = np.linalg.norm(v, axis=1)
    inside = np.where(far > 0.12 * far.max(), -0.01, inside)
    outside = np.full(len(p), -1.0)
    outside[head.ids] = inside[head.ids]
    outside = np.where(head.ears, -1, outside)
    tri, shares, _ = scattered(p, head.faces, outside, 2600, rng)
    if not len(tri):
        return []
    roots = (p[tri] * shares[..., None]).sum(1)
    n = (head.normals[tri] * shares[..., None]).sum(1)
    keep = n[:, 2] > -0.75
    roots, n = roots[keep], n[keep]
    flow = np.tile([0.0, -1.0, 0.15], (len(roots), 1))
    paths, o = grow(
        head,
        figure,
        roots,
        n,
        flow,
        rng.uniform(0.008, 0.018, len(roots)),
        4,
        (0.001, 0.006),
        0.1,
        rng,
        0.25,
    )
    return [strands_mesh(figure, "hair-beard", paths, o, 0.0022, person.hair_colour, rng, "head")]


def tube(points: Array, radius: float) -> tuple[Array, Faces]:
    """A round wire along points."""
    along = np.gradient(points, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True) + 1e-9
    x = np.cross(along, [0.1, 0.9, 0.2])
    x /= np.linalg.norm(x, axis=1, keepdims=True) + 1e-9
    y, n = np.cross(along, x), 8
    ring = [
        points + radius * (np.cos(a) * x + np.sin(a) * y)
        for a in np.linspace(0, 2 * np.pi, n, endpoint=False)
    ]
    out = np.stack(ring, 1).reshape(-1, 3)
    return out, [
        (i * n + k, i * n + (k + 1) % n, (i + 1) * n + (k + 1) % n, (i + 1) * n + k)
        for i in range(len(points) - 1)
        for k in range(n)
    ]


def glasses(figure: Figure, head: Head) -> list[Mesh]:
    """Glasses of dark wire, without lenses."""
    out, j = [], figure.joints
    nose = front(head, np.array([0.0]), np.array([head.eye[1] - 0.004]))[0][0]
    z = nose[2] + 0.006
    lines = [
        np.array(
            [
                [x, head.eye[1] + 0.002 + 0.004 * np.cos(x * 150), z + 0.001]
                for x in np.linspace(-0.0095, 0.0095, 7)
            ]
        )
    ]
    for side in SIDES:
        e, sign = j[f"{side[0]}-eye"], 1.0 if side == "left" else -1.0
        a = np.linspace(0, 2 * np.pi, 33)
        wide = np.sign(np.cos(a)) * np.abs(np.cos(a)) ** 0.75 * 0.0235
        tall = np.sign(np.sin(a)) * np.abs(np.sin(a)) ** 0.75 * 0.0185
        mid = sign * 0.0330
        lines.append(
            np.stack(
                [mid + wide, e[1] - 0.004 + tall, z - 0.004 * np.abs((mid + wide) / 0.055) ** 2], 1
            )
        )
        ear = head.points[head.ears & (np.sign(head.points[:, 0]) == sign)]
        side_x = max(np.abs(ear[:, 0]).min() + 0.004, 0.066)
        s = np.linspace(0, 1, 9)
        lines.append(
            np.stack(
                [
                    sign * (0.0565 + (side_x - 0.0565) * np.minimum(1, 2.2 * s)),
                    e[1] + 0.004 + 0.0 * s - 0.018 * np.clip(s - 0.85, 0, 1) / 0.15,
                    z - 0.006 + (ear[:, 2].mean() - 0.004 - z) * s,
                ],
                1,
            )
        )
    for k, line in enumerate(lines):
        points, faces = tube(line, 0.0013)
        out.append(
            Mesh(
                f"glasses-{k}",
                figure.room(figure.move("head", points)),
                faces,
                "plastic",
                (0.12, 0.11, 0.11),
            )
        )
    return out
