"""A person for drawn scenes: MakeHuman's CC0 body, shaped, posed and dressed, as plain meshes.

Metres, z up. Left and right are the person's own. The data are the folder `mpfb2` of MakeHuman's
CC0 assets; its path is an argument or the environment variable MPFB2_DATA.

Inside, a body stands in MakeHuman's own axes: x to the person's left, y up, z forward.
"""

from __future__ import annotations

import gzip
import itertools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

Vector = Sequence[float]
Colour = tuple[float, float, float]
Array = np.ndarray
SIDES = {"left": "L", "right": "R"}


@dataclass(frozen=True)
class Mesh:
    """A surface of one colour; `colours` and `normals` are for each vertex, where there are any."""

    name: str
    vertices: Array
    faces: list[tuple[int, ...]]
    material: str
    colour: Colour
    smooth: bool = True
    colours: Array | None = None
    normals: Array | None = None


@dataclass(frozen=True)
class Reach:
    """A place for a wrist (or an ankle), and the way in which the hand (or the foot) is held.

    elbow: the direction in which the elbow (knee) points; fingers: where the fingers (toes) point;
    palm: where the palm (sole) looks; curl: 0 a flat hand (on a table), 0.25 at ease, 1 a fist.
    """

    at: Vector
    elbow: Vector | None = None
    fingers: Vector | None = None
    palm: Vector | None = None
    curl: float = 0.2


@dataclass(frozen=True)
class Pose:
    """A posture. `pelvis` is the middle between the hip joints, 7 to 10 cm above a seat.

    forward: where the belly looks; up: from the pelvis to the head. spine: (bend forward, lean to
    the left, turn to the left) in degrees; neck: (nod, tilt to the left, turn to the left).
    A hand or foot that is not given hangs or rests; `floor` is the height on which feet stand.
    """

    pelvis: Vector = (0.0, 0.0, 0.95)
    forward: Vector = (1.0, 0.0, 0.0)
    up: Vector = (0.0, 0.0, 1.0)
    spine: Vector = (0.0, 0.0, 0.0)
    neck: Vector = (0.0, 0.0, 0.0)
    hands: Mapping[str, Reach] = field(default_factory=dict)
    feet: Mapping[str, Reach] = field(default_factory=dict)
    eyes: str = "open"
    mouth: str = "closed"
    floor: float = 0.0


# ---------------------------------------------------------------- the data


@dataclass(frozen=True)
class Base:
    """MakeHuman's base mesh and rig as read from the folder."""

    folder: Path
    vertices: Array
    groups: dict[str, list[tuple[int, ...]]]
    bones: dict[str, dict]
    order: tuple[str, ...]
    weights: Array


def unit(v: Vector) -> Array:
    """The vector at length 1."""
    a = np.asarray(v, float)
    return a / (np.linalg.norm(a) + 1e-12)


@lru_cache(maxsize=2)
def read_base(folder: str) -> Base:
    """Reads the mesh, the rig and its weights."""
    path = Path(folder)
    rows: list[list[float]] = []
    groups: dict[str, list[tuple[int, ...]]] = {}
    name = ""
    for line in (path / "3dobjs/base.obj").read_text().splitlines():
        if line.startswith("v "):
            rows.append([float(x) for x in line.split()[1:4]])
        elif line.startswith("g "):
            name = line.split()[1]
        elif line.startswith("f "):
            face = [int(p.split("/")[0]) - 1 for p in line.split()[1:]]
            groups.setdefault(name, []).append(tuple(dict.fromkeys(face)))
    bones = json.loads((path / "rigs/standard/rig.default.json").read_text())
    order: list[str] = []
    while len(order) < len(bones):
        order += [
            b
            for b in bones
            if b not in order and (not bones[b]["parent"] or bones[b]["parent"] in order)
        ]
    weights = np.zeros((len(rows), len(order)), np.float32)
    table = json.loads((path / "rigs/standard/weights.default.json").read_text())["weights"]
    for column, bone in enumerate(order):
        for vertex, share in table[bone]:
            weights[vertex, column] += share
    weights /= np.maximum(weights.sum(1, keepdims=True), 1e-6)
    return Base(path, np.array(rows), groups, bones, tuple(order), weights)


@lru_cache(maxsize=400)
def read_target(path: str) -> tuple[Array, Array]:
    """Reads one target: the vertices that it moves, and by how much."""
    text = gzip.decompress(Path(path).read_bytes()).decode()
    rows = [line.split() for line in text.splitlines() if line.strip() and line[0] != "#"]
    return (
        np.array([int(r[0]) for r in rows], int),
        np.array([[float(x) for x in r[1:4]] for r in rows], float).reshape(-1, 3),
    )


def apply_target(base: Base, vertices: Array, name: str, share: float) -> None:
    """Moves the vertices by a share of a target, if there is such a target."""
    path = base.folder / "targets" / f"{name}.target.gz"
    if share > 1e-4 and path.exists():
        index, move = read_target(str(path))
        np.add.at(vertices, index, share * move)


def thirds(value: float) -> dict[str, float]:
    """Splits 0..1 into the shares of least, middle and most."""
    low, high = max(0.0, 1 - 2 * value), max(0.0, 2 * value - 1)
    return {"min": low, "average": 1 - low - high, "max": high}


def neighbours(faces: Iterable[tuple[int, ...]]) -> Array:
    """The edges of faces, each in both directions."""
    pairs = {(a, b) for f in faces for a, b in zip(f, f[1:] + f[:1], strict=True)}
    edges = np.array(sorted(pairs | {(b, a) for a, b in pairs}), int)
    return edges.reshape(-1, 2)


def smoothed(
    points: Array, edges: Array, rounds: int, share: float = 0.5, fixed: Array | None = None
) -> Array:
    """The points, each moved towards the middle of its neighbours, so many times."""
    if not len(edges):
        return points.copy()
    count = np.bincount(edges[:, 0], minlength=len(points)).astype(float)
    move = (count > 0) * share
    if fixed is not None:
        move = move * ~fixed
    out = points.copy()
    for _ in range(rounds):
        mean = (
            np.stack(
                [np.bincount(edges[:, 0], out[edges[:, 1], k], len(points)) for k in range(3)], 1
            )
            / np.maximum(count, 1)[:, None]
        )
        out += move[:, None] * (mean - out)
    return out


def vertex_normals(points: Array, faces: Iterable[tuple[int, ...]]) -> Array:
    """The normal of the surface at each vertex."""
    tri = np.array([(f[0], f[i], f[i + 1]) for f in faces for i in range(1, len(f) - 1)], int)
    out = np.zeros_like(points)
    if len(tri):
        a, b, c = points[tri[:, 0]], points[tri[:, 1]], points[tri[:, 2]]
        n = np.cross(b - a, c - a)
        for k in range(3):
            np.add.at(out, tri[:, k], n)
    return out / (np.linalg.norm(out, axis=1, keepdims=True) + 1e-12)


# ---------------------------------------------------------------- turning


def turn(axis: Vector, degrees: float) -> Array:
    """The rotation about an axis."""
    x, y, z = unit(axis)
    a = np.radians(degrees)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(a) * k + (1 - np.cos(a)) * k @ k


def between(a: Vector, b: Vector) -> Array:
    """The shortest rotation from one direction to another."""
    a, b = unit(a), unit(b)
    axis = np.cross(a, b)
    if np.linalg.norm(axis) < 1e-6:
        if a @ b > 0:
            return np.eye(3)
        axis = np.cross(a, [1, 0, 0] if abs(a[0]) < 0.9 else [0, 1, 0])
    return turn(axis, np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)))


def frame(main: Vector, second: Vector) -> Array:
    """The axes given by a main direction and a second one made square to it."""
    u = unit(main)
    v = np.asarray(second, float) - u * (u @ np.asarray(second, float))
    if np.linalg.norm(v) < 1e-6:
        v = np.cross(u, [0.3, 0.5, 0.8])
    v = unit(v)
    return np.stack([u, v, np.cross(u, v)], 1)


def twist_part(rotation: Array, axis: Vector, share: float) -> Array:
    """The swing of a rotation, with a share of its twist about an axis (of the rest)."""
    axis = unit(axis)
    swing = between(axis, rotation @ axis)
    rest = swing.T @ rotation
    vector = np.array([rest[2, 1] - rest[1, 2], rest[0, 2] - rest[2, 0], rest[1, 0] - rest[0, 1]])
    angle = np.degrees(np.arctan2(vector @ axis, np.trace(rest) - 1))
    return swing @ turn(axis, share * angle)


# ---------------------------------------------------------------- the person


@dataclass(frozen=True)
class Posed:
    """A posed person: the meshes, and where the joints are."""

    meshes: list[Mesh]
    joints: dict[str, Array]

    def joint(self, name: str) -> tuple[float, float, float]:
        """Return the place of a joint or part of the body, such as left-wrist or mouth."""
        if name not in self.joints:
            raise KeyError(f"no joint {name!r}; there are: {', '.join(sorted(self.joints))}")
        x, y, z = self.joints[name]
        return float(x), float(y), float(z)


@dataclass(frozen=True)
class Person:
    """A person: build, skin, hair and clothes. sex: 0 a woman's body, 1 a man's."""

    sex: float = 0.5
    age: float = 0.8
    weight: float = 0.5
    muscle: float = 0.45
    height: float = 0.5
    origin: Mapping[str, float] = field(default_factory=lambda: {"caucasian": 1.0})
    skin: Colour = (0.80, 0.61, 0.50)
    hair: str = "short"
    hair_colour: Colour = (0.55, 0.53, 0.50)
    glasses: bool = False
    beard: bool = False
    eye_colour: Colour = (0.30, 0.22, 0.14)
    clothes: Mapping[str, object] = field(default_factory=dict)
    data: str = ""

    def base(self) -> Base:
        """The mesh and the rig that the person is made from."""
        folder = self.data or os.environ.get("MPFB2_DATA", "")
        if not folder:
            raise ValueError("give Person(data=...) or set MPFB2_DATA to the folder mpfb2")
        return read_base(folder)

    def shape(self, eyes: str = "open", mouth: str = "closed") -> Array:
        """The vertices at rest, in metres."""
        base = self.base()
        v = base.vertices.copy()
        old = min(1.0, max(0.0, 2 * self.age - 1))
        ages = {"young": 1 - old, "old": old}
        sexes = {"female": 1 - self.sex, "male": self.sex}
        total = sum(self.origin.values()) or 1.0
        for (sex, a), (age, b) in itertools.product(sexes.items(), ages.items()):
            for race, share in self.origin.items():
                apply_target(base, v, f"macrodetails/{race}-{sex}-{age}", a * b * share / total)
            for (muscle, c), (weight, d) in itertools.product(
                thirds(self.muscle).items(), thirds(self.weight).items()
            ):
                kind, share = f"{sex}-{age}-{muscle}muscle-{weight}weight", a * b * c * d
                apply_target(base, v, f"macrodetails/universal-{kind}", share)
                for end, e in (
                    ("min", max(0.0, 1 - 2 * self.height)),
                    ("max", max(0.0, 2 * self.height - 1)),
                ):
                    apply_target(base, v, f"macrodetails/height/{kind}-{end}height", share * e)
        belly = 0.9 * max(0.0, self.weight - 0.6)
        apply_target(base, v, "stomach/stomach-pregnant-incr", belly)
        units = "expression/units/caucasian"
        if eyes == "closed":
            for side in SIDES:
                apply_target(base, v, f"{units}/eye-{side}-closure", 1.0)
        if mouth == "open":
            apply_target(base, v, f"{units}/mouth-open", 0.45)
        return v * 0.1

    def posed(self, pose: Pose) -> Posed:
        """The person in a pose."""
        for what, value, allowed in (
            ("eyes", pose.eyes, ("open", "closed")),
            ("mouth", pose.mouth, ("open", "closed")),
        ):
            if value not in allowed:
                raise ValueError(f"{what} {value!r}: one of {', '.join(allowed)}")
        for what, given in (("hands", pose.hands), ("feet", pose.feet)):
            if set(given) - set(SIDES):
                raise ValueError(f"{what} {sorted(given)}: only left and right")
        from clothes import dress  # here, because clothes.py uses the Mesh of this file

        figure = Figure.make(self, pose)
        return Posed(dress(self, figure), figure.places())


@dataclass(frozen=True)
class Figure:
    """A body at rest and in its pose, not yet dressed; `world` turns inner axes to the room's."""

    base: Base
    rest: Array
    points: Array
    heads: dict[str, Array]
    moved: dict[str, tuple[Array, Array]]
    joints: dict[str, Array]
    world: Array
    origin: Array

    @staticmethod
    def make(person: Person, pose: Pose) -> Figure:
        """Shapes the body, places the bones and moves the skin."""
        base = person.base()
        rest = person.shape(pose.eyes, pose.mouth)
        joints = rest_joints(base, rest)
        heads = bone_heads(base, rest)
        forward, up = unit(pose.forward), unit(pose.up)
        forward = unit(forward - up * (forward @ up))
        world = np.stack([np.cross(up, forward), up, forward], 1)
        moved = Bones(base, heads, joints, pose, world).place()
        points = skin(base, rest, heads, moved)
        origin = np.asarray(pose.pelvis, float)
        return Figure(base, rest, points, heads, moved, joints, world, origin)

    def room(self, points: Array) -> Array:
        """Inner places as places in the room."""
        return points @ self.world.T + self.origin

    def move(self, bone: str, points: Array) -> Array:
        """Places at rest, moved with one bone."""
        rotation, at = self.moved[bone]
        return (points - self.heads[bone]) @ rotation.T + at

    def places(self) -> dict[str, Array]:
        """The joints and other places of the body, in the room."""
        j, out = self.joints, {}

        def put(name: str, bone: str, at: Array) -> None:
            out[name] = self.room(self.move(bone, at[None]))[0]

        for side, s in SIDES.items():
            k = side[0]
            put(f"{side}-shoulder", f"upperarm01.{s}", j[f"{k}-shoulder"])
            put(f"{side}-elbow", f"lowerarm01.{s}", j[f"{k}-elbow"])
            put(f"{side}-wrist", f"wrist.{s}", j[f"{k}-hand"])
            knuckle = j[f"{k}-finger-3-1"]
            put(f"{side}-palm", f"wrist.{s}", 0.45 * j[f"{k}-hand"] + 0.55 * knuckle)
            put(f"{side}-knuckles", f"wrist.{s}", knuckle)
            put(f"{side}-fingertips", f"finger3-3.{s}", j[f"{k}-finger-3-4"])
            put(f"{side}-hip", f"upperleg01.{s}", j[f"{k}-upper-leg"])
            put(f"{side}-knee", f"lowerleg01.{s}", j[f"{k}-knee"])
            put(f"{side}-ankle", f"foot.{s}", j[f"{k}-ankle"])
            toe = j[f"{k}-toe-2-1"]
            sole = np.array(
                [
                    0.6 * j[f"{k}-ankle"][0] + 0.4 * toe[0],
                    j["ground"][1],
                    0.6 * j[f"{k}-ankle"][2] + 0.4 * toe[2],
                ]
            )
            put(f"{side}-sole", f"foot.{s}", sole)
            put(f"{side}-toes", f"foot.{s}", j[f"{k}-toe-2-3"])
            put(f"{side}-eye", "head", j[f"{k}-eye"])
            out[f"{side}-thigh"] = 0.5 * (out[f"{side}-hip"] + out[f"{side}-knee"])
            out[f"{side}-forearm"] = 0.5 * (out[f"{side}-elbow"] + out[f"{side}-wrist"])
        body = self.rest[:13380]
        middle = body[np.abs(body[:, 0]) < 0.004]
        face = middle[(middle[:, 1] > j["neck"][1]) & (middle[:, 2] > j["mouth"][2])]
        lips = face[np.abs(face[:, 1] - (j["l-eye"][1] - 0.068)) < 0.008]
        mouth = lips[lips[:, 2].argmax()] if len(lips) else j["mouth"] + [0, -0.01, 0.08]
        put("mouth", "head", mouth)
        put("nose", "head", face[face[:, 2].argmax()])
        put("crown", "head", body[body[:, 1].argmax()])
        put("head", "head", 0.5 * (j["head"] + j["l-eye"] * [0, 1, 1]))
        put("neck", "neck01", j["neck"])
        put("chest", "spine01", j["spine-1"] + [0, -0.03, 0.10])
        put("back", "spine02", j["spine-2"] + [0, 0.03, -0.09])
        put("navel", "spine05", j["spine-4"] + [0, 0.02, 0.12])
        out["pelvis"] = self.origin.copy()
        out["lap"] = 0.5 * (out["left-thigh"] + out["right-thigh"])
        return out


def rest_joints(base: Base, rest: Array) -> dict[str, Array]:
    """The middles of the joint cubes, by name without `joint-`."""
    return {
        name[6:]: rest[sorted({i for f in faces for i in f})].mean(0)
        for name, faces in base.groups.items()
        if name.startswith("joint-")
    }


def bone_heads(base: Base, rest: Array) -> dict[str, Array]:
    """Return the place at which each bone begins at rest."""
    joints, out = rest_joints(base, rest), {}
    for name, bone in base.bones.items():
        head = bone["head"]
        if head["strategy"] == "CUBE":
            out[name] = joints[head["cube_name"][6:]]
        elif head["strategy"] == "VERTEX":
            out[name] = rest[head["vertex_index"]]
        else:
            out[name] = rest[head["vertex_indices"]].mean(0)
    return out


def skin(
    base: Base, rest: Array, heads: Mapping[str, Array], moved: Mapping[str, tuple[Array, Array]]
) -> Array:
    """Moves the vertices with the bones; then smooths the bends and puts the detail back."""
    table = np.zeros((len(base.order), 12))
    for row, bone in enumerate(base.order):
        rotation, at = moved[bone]
        table[row, :9] = rotation.ravel()
        table[row, 9:] = at - rotation @ heads[bone]
    mixed = base.weights @ table
    matrix = mixed[:, :9].reshape(-1, 3, 3)
    points = np.einsum("nij,nj->ni", matrix, rest) + mixed[:, 9:]
    edges = mush_edges(base)
    left, _, right = np.linalg.svd(matrix)
    rotation = left @ right
    detail = rest - smoothed(rest, edges, 14)
    soft = smoothed(points, edges, 14) + np.einsum("nij,nj->ni", rotation, detail)
    stiff = (
        "wrist",
        "metacarpal",
        "finger",
        "toe",
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
    share = 1 - np.clip(2 * part_weight(base, stiff), 0, 1)
    return points + share[:, None] * (soft - points)


@lru_cache(maxsize=2)
def _edges_of(folder: str) -> Array:
    base = read_base(folder)
    return neighbours(
        f for name, faces in base.groups.items() if not name.startswith("joint-") for f in faces
    )


def mush_edges(base: Base) -> Array:
    """The edges of the body and of its helpers."""
    return _edges_of(str(base.folder))


def part_weight(base: Base, starts: tuple[str, ...], side: str = "") -> Array:
    """How far each vertex belongs to bones whose names begin so (and end with .L or .R)."""
    columns = [i for i, b in enumerate(base.order) if b.startswith(starts) and b.endswith(side)]
    return base.weights[:, columns].sum(1)


# ---------------------------------------------------------------- the bones


@dataclass(frozen=True)
class Bones:
    """Places the bones of a body for a pose; all inside in the body's own axes."""

    base: Base
    heads: dict[str, Array]
    joints: dict[str, Array]
    pose: Pose
    world: Array

    def inner(self, place: Vector) -> Array:
        """A place in the room as an inner place."""
        return (np.asarray(place, float) - np.asarray(self.pose.pelvis, float)) @ self.world

    def place(self) -> dict[str, tuple[Array, Array]]:
        """For each bone its rotation from rest, and where it begins."""
        turns: dict[str, Array] = {}
        bend, side, twist = self.pose.spine
        for i in range(1, 6):
            turns[f"spine0{i}"] = (
                turn((0, 1, 0), twist / 5) @ turn((0, 0, 1), -side / 5) @ turn((1, 0, 0), bend / 5)
            )
        nod, tilt, look = self.pose.neck
        for bone in ("neck01", "neck02", "neck03", "head"):
            turns[bone] = (
                turn((0, 1, 0), look / 4) @ turn((0, 0, 1), -tilt / 4) @ turn((1, 0, 0), nod / 4)
            )
        absolute: dict[str, Array] = {}
        legs = {side: self.leg(side, absolute) for side in SIDES}
        moved = self.chain(turns, absolute)
        for side in SIDES:
            self.arm(side, moved, turns, absolute, legs)
        return self.chain(turns, absolute)

    def chain(
        self, turns: Mapping[str, Array], absolute: Mapping[str, Array]
    ) -> dict[str, tuple[Array, Array]]:
        """Goes down the bones: turns are from the parent, absolute rotations are from rest."""
        hips = 0.5 * (self.joints["l-upper-leg"] + self.joints["r-upper-leg"])
        out: dict[str, tuple[Array, Array]] = {}
        for bone in self.base.order:
            parent = self.base.bones[bone]["parent"]
            if not parent:
                out[bone] = (np.eye(3), self.heads[bone] - hips)
                continue
            rotation, at = out[parent]
            begin = at + rotation @ (self.heads[bone] - self.heads[parent])
            out[bone] = (absolute.get(bone, rotation @ turns.get(bone, np.eye(3))), begin)
        return out

    def two_bones(
        self, start: Array, end: Array, lengths: tuple[float, float], hint: Array
    ) -> tuple[Array, Array, Array]:
        """The directions of two bones that reach from start to end, and their plane's normal."""
        a, b = lengths
        way = end - start
        far = min(max(np.linalg.norm(way), abs(a - b) + 1e-3), 0.9995 * (a + b))
        u = unit(way)
        out = hint - u * (hint @ u)
        if np.linalg.norm(out) < 1e-4:
            out = np.cross(u, [1.0, 0.2, 0.1])
        out = unit(out)
        c = (a * a + far * far - b * b) / (2 * a * far)
        middle = a * (c * u + np.sqrt(max(0.0, 1 - c * c)) * out)
        return unit(middle), unit(far * u - middle), np.cross(out, u)

    def gravity(self) -> tuple[Array, Array, str]:
        """Down in inner axes, level forward in inner axes, and how the person is held."""
        down = np.array([0, 0, -1.0]) @ self.world
        level = np.array([0, 0, 1.0]) - down * down[2]
        leg = np.linalg.norm(self.joints["l-upper-leg"] - self.joints["l-ankle"])
        if -down[1] > 0.45:
            high = self.pose.pelvis[2] - self.pose.floor > 0.86 * (leg + 0.08)
            return down, unit(level), "stands" if high else "sits"
        return down, unit(level), "back" if -down[2] > 0.5 else "side"

    def leg(self, side: str, absolute: dict[str, Array]) -> tuple[Array, Array]:
        """Places one leg; gives the hip and the knee."""
        k, s = side[0], SIDES[side]
        out = np.array([1.0 if side == "left" else -1.0, 0, 0])
        hip, knee, ankle = (self.joints[f"{k}-{n}"] for n in ("upper-leg", "knee", "ankle"))
        middle = 0.5 * (self.joints["l-upper-leg"] + self.joints["r-upper-leg"])
        start = hip - middle
        u0, l0 = unit(knee - hip), unit(ankle - knee)
        a, b = np.linalg.norm(knee - hip), np.linalg.norm(ankle - knee)
        down, level, how = self.gravity()
        forward, high = np.array([0, 0, 1.0]), ankle[1] - self.joints["ground"][1]
        reach = self.pose.feet.get(side)
        hint = forward + 0.12 * out
        toes, sole = None, None
        if reach:
            end = self.inner(reach.at)
            hint = np.asarray(reach.elbow, float) @ self.world if reach.elbow is not None else hint
            toes = None if reach.fingers is None else np.asarray(reach.fingers, float) @ self.world
            sole = None if reach.palm is None else np.asarray(reach.palm, float) @ self.world
        elif how == "stands":
            drop = self.pose.pelvis[2] - self.pose.floor - high
            end = start + down * min(drop, 0.996 * (a + b)) + 0.02 * out + 0.01 * level
            toes, sole = level + 0.12 * out, down
        elif how == "sits":
            way = unit(level + 0.10 * out)
            drop = max(0.1, self.pose.pelvis[2] - self.pose.floor - high + float(start @ -down))
            fall = min(max(0.0, drop - 0.99 * b), 0.9 * a)
            end = start + way * np.sqrt(a * a - fall * fall) + down * min(drop, 0.99 * b + fall)
            hint, toes, sole = -down + 0.6 * way, level + 0.15 * out, down
        elif how == "back":
            end = start + np.array([0, -1.0, 0]) * 0.992 * (a + b) + 0.05 * out
            end = end + down * 0.045
            toes, sole = np.array([0, -0.45, 1.0]) + 0.35 * out, np.array([0, -1.0, -0.4])
        else:
            lower = out @ down > 0
            bend = 40 if lower else 55
            thigh = turn((1, 0, 0), -bend) @ np.array([0, -1.0, 0])
            shank = turn((1, 0, 0), 40 if lower else 35) @ np.array([0, -1.0, 0])
            end = start + a * thigh + b * shank - out * (0.0 if lower else 0.06)
        u1, l1, normal = self.two_bones(start, end, (a, b), hint)
        n0 = np.cross(forward, unit(ankle - hip))
        thigh = frame(u1, normal) @ frame(u0, n0).T
        shank = frame(l1, normal) @ frame(l0, n0).T
        if toes is None and sole is None:
            foot = shank @ turn((1, 0, 0), 12)
        else:
            toes = toes if toes is not None else shank @ forward
            sole = sole if sole is not None else l1
            foot = frame(toes, sole) @ frame(forward, (0, -1.0, 0)).T
        absolute[f"upperleg01.{s}"] = twist_part(thigh, u0, 0.35)
        absolute[f"upperleg02.{s}"] = thigh
        absolute[f"lowerleg01.{s}"] = shank
        absolute[f"lowerleg02.{s}"] = shank @ twist_part(shank.T @ foot, l0, 0.5).dot(
            twist_part(shank.T @ foot, l0, 0.0).T
        )
        absolute[f"foot.{s}"] = foot
        return start, start + a * u1

    def hand_axes(self, k: str) -> tuple[Array, Array]:
        """Where the fingers point and the palm looks at rest."""
        j = self.joints
        fingers = unit(j[f"{k}-finger-3-1"] - j[f"{k}-hand"])
        across = j[f"{k}-finger-2-1"] - j[f"{k}-finger-5-1"]
        palm = unit(np.cross(across, fingers))
        arch = j[f"{k}-finger-3-2"] - 0.5 * (j[f"{k}-finger-3-1"] + j[f"{k}-finger-3-4"])
        return fingers, -palm if palm @ arch > 0 else palm

    def arm(
        self,
        side: str,
        moved: Mapping[str, tuple[Array, Array]],
        turns: dict[str, Array],
        absolute: dict[str, Array],
        legs: Mapping[str, tuple[Array, Array]],
    ) -> None:
        """Places one arm and hand, with the shoulder blade."""
        k, s = side[0], SIDES[side]
        out = np.array([1.0 if side == "left" else -1.0, 0, 0])
        trunk = moved["spine01"][0]
        shoulder, elbow, wrist = (self.joints[f"{k}-{n}"] for n in ("shoulder", "elbow", "hand"))
        u0, l0 = unit(elbow - shoulder), unit(wrist - elbow)
        a, b = np.linalg.norm(elbow - shoulder), np.linalg.norm(wrist - elbow)
        _, start = moved[f"upperarm01.{s}"]
        reach = self.pose.hands.get(side) or self.resting(side, start, trunk, legs, a + b)
        end = self.inner(reach.at)
        lift = float(unit(end - start) @ (trunk @ np.array([0, 1.0, 0])))
        ahead = float(unit(end - start) @ (trunk @ np.array([0, 0, 1.0])))
        raise_ = 22 * max(0.0, lift + 0.25) - 7 * max(0.0, -lift - 0.3)
        girdle = turn((0, 0, 1), raise_ * out[0]) @ turn((0, 1, 0), -12 * max(0.0, ahead) * out[0])
        turns[f"clavicle.{s}"] = girdle
        begin = moved[f"clavicle.{s}"][1]
        start = begin + trunk @ girdle @ (shoulder - self.heads[f"clavicle.{s}"])
        hint = trunk @ (0.45 * out + np.array([0, -0.8, -0.6]))
        if reach.elbow is not None:
            hint = np.asarray(reach.elbow, float) @ self.world
        u1, l1, normal = self.two_bones(start, end, (a, b), hint)
        n0 = np.cross(elbow - 0.5 * (shoulder + wrist), unit(wrist - shoulder))
        upper = frame(u1, normal) @ frame(u0, n0).T
        lower = frame(l1, normal) @ frame(l0, n0).T
        fingers0, palm0 = self.hand_axes(k)
        fingers = l1 if reach.fingers is None else np.asarray(reach.fingers, float) @ self.world
        palm = lower @ palm0 if reach.palm is None else np.asarray(reach.palm, float) @ self.world
        hand = frame(fingers, palm) @ frame(fingers0, palm0).T
        relative = lower.T @ hand
        swing = twist_part(relative, l0, 0.0)
        parent = trunk @ girdle
        absolute[f"shoulder01.{s}"] = parent
        absolute[f"upperarm01.{s}"] = parent @ twist_part(parent.T @ upper, u0, 0.45)
        absolute[f"upperarm02.{s}"] = upper
        absolute[f"lowerarm01.{s}"] = lower @ swing.T @ twist_part(relative, l0, 0.3)
        absolute[f"lowerarm02.{s}"] = lower @ swing.T @ twist_part(relative, l0, 0.8)
        absolute[f"wrist.{s}"] = hand
        axis = np.cross(fingers0, palm0)
        for finger, part in itertools.product(range(2, 6), (1, 2, 3)):
            angle = reach.curl * (70, 95, 55)[part - 1] - (8, 6, 3)[part - 1] * (1 - reach.curl)
            turns[f"finger{finger}-{part}.{s}"] = turn(axis, angle)
        thumb = unit(self.joints[f"{k}-finger-1-4"] - self.joints[f"{k}-finger-1-2"])
        inward = unit(
            palm0 * 0.6 + (self.joints[f"{k}-finger-4-1"] - self.joints[f"{k}-finger-1-2"]) * 8
        )
        for part, most in ((1, 12), (2, 30), (3, 45)):
            turns[f"finger1-{part}.{s}"] = turn(np.cross(thumb, inward), reach.curl * most)

    def resting(
        self,
        side: str,
        start: Array,
        trunk: Array,
        legs: Mapping[str, tuple[Array, Array]],
        length: float,
    ) -> Reach:
        """Return the resting place of a hand: at the side, on the thigh, or on the bed."""
        out = np.array([1.0 if side == "left" else -1.0, 0, 0])
        down, level, how = self.gravity()
        elbow = 0.6 * out - level * 0.8 + 0.2 * down
        if how == "stands":
            at = start + length * unit(down + 0.16 * out + 0.10 * level) * 0.97
            fingers, palm, curl = down + 0.1 * level, -out, 0.25
        elif how == "sits":
            hip, knee = legs[side]
            thigh = unit(knee - hip)
            over = unit(-down + thigh * (down @ thigh))
            at = hip + 0.58 * (knee - hip) + 0.105 * over + 0.01 * out
            far = np.linalg.norm(at - start)
            if far > 0.97 * length:
                at = start + (at - start) * 0.97 * length / far
            fingers, palm, curl = thigh - 0.18 * out - 0.12 * over, -over, 0.15
        elif how == "back":
            at = start + trunk @ np.array([0, -0.93, 0]) * length + 0.10 * out
            at = at + down * 0.06
            fingers, palm, curl = np.array([0, -1.0, 0]), down - 0.5 * out, 0.25
            elbow = out + 0.3 * down
        else:
            lower = out @ down > 0
            at = start + np.array([0, -0.15 if lower else -0.55, 0.62]) * length
            at = at + down * (0.02 if lower else 0.26)
            fingers, palm, curl = np.array([0, 0.3 if lower else -0.3, 1.0]), down, 0.3
            elbow = np.array([0, -1.0, -0.3]) if lower else np.array([0, -0.5, 0.2]) + out
        room = self.world.T
        return Reach(
            at=tuple(at @ room + np.asarray(self.pose.pelvis, float)),
            elbow=tuple(elbow @ room),
            fingers=tuple(fingers @ room),
            palm=tuple(palm @ room),
            curl=curl,
        )
