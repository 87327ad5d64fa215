"""Plain solids with rounded edges, from which things are put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Vec: TypeAlias = Sequence[float] | Array
Points: TypeAlias = Sequence[Vec] | Array
Colour: TypeAlias = tuple[float, float, float]
Solid: TypeAlias = tuple[Array, npt.NDArray[np.int64]]
"""Vertices (n, 3) and faces (m, 4)."""


@dataclass(frozen=True)
class Mesh:
    """A part of a thing: one colour, one material. Faces may be a list of tuples."""

    name: str
    vertices: Array
    faces: npt.NDArray[np.int64]
    colour: Colour
    material: str
    smooth: bool = True
    colours: Array | None = None
    """A colour for each vertex, in place of the one colour."""
    normals: Array | None = None
    """A normal for each vertex; without them, large faces count for more."""


class Kit:
    """Collects the parts of a thing."""

    def __init__(self) -> None:
        self.meshes: list[Mesh] = []

    def put(self, name: str, solids: Iterable[Solid], colour: Vec, material: str) -> None:
        """Add one part made of solids."""
        vertices, faces = joined(solids)
        shade = (float(colour[0]), float(colour[1]), float(colour[2]))
        self.meshes.append(Mesh(name, vertices, faces, shade, material))


def joined(solids: Iterable[Solid]) -> Solid:
    """Make one solid of many."""
    vertices, faces, start = [], [], 0
    for v, f in solids:
        vertices.append(v)
        faces.append(f + start)
        start += len(v)
    return np.concatenate(vertices), np.concatenate(faces)


def turning(axis: str | Vec, degrees: float) -> Array:
    """Give the matrix that turns about an axis, `x`, `y`, `z` or a direction."""
    named = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    a = np.asarray(named[axis] if isinstance(axis, str) else axis, float)
    a = a / np.linalg.norm(a)
    k = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    t = np.radians(degrees)
    return np.eye(3) + np.sin(t) * k + (1 - np.cos(t)) * k @ k


def turned(solid: Solid, axis: str | Vec, degrees: float, about: Vec = (0, 0, 0)) -> Solid:
    """Turn a solid about an axis through a point."""
    centre = np.asarray(about, float)
    return (solid[0] - centre) @ turning(axis, degrees).T + centre, solid[1]


def moved(solid: Solid, by: Vec) -> Solid:
    """Move a solid."""
    return solid[0] + np.asarray(by, float), solid[1]


def changed(solid: Solid, change: Callable[[Array], Array]) -> Solid:
    """Bend a solid: every vertex is given a new place."""
    return change(solid[0].copy()), solid[1]


def turned_meshes(
    meshes: Iterable[Mesh], axis: str, degrees: float, about: Vec = (0, 0, 0)
) -> list[Mesh]:
    """Turn finished parts about an axis through a point."""
    done = []
    for mesh in meshes:
        done.append(
            replace(mesh, vertices=turned((mesh.vertices, mesh.faces), axis, degrees, about)[0])
        )
    return done


def _steps(half: float, edge: float, cells: int, bevel: int) -> Array:
    corner = edge * np.tan(np.linspace(0, np.pi / 4, bevel + 1))
    inner = half - edge
    middle = np.linspace(-inner, inner, cells + 1)
    return np.unique(np.round(np.r_[-inner - corner, middle, inner + corner], 7))


def box(
    size: Vec,
    at: Vec = (0, 0, 0),
    edge: float = 0.008,
    cells: int = 1,
    bevel: int = 2,
) -> Solid:
    """Make a box with rounded edges; `size` is whole lengths, `at` its middle."""
    half = np.asarray(size, float) / 2
    edge = float(min(edge, half.min() * 0.999))
    axes = [_steps(h, edge, cells, bevel) for h in half]
    vertices, faces, start = [], [], 0
    for axis in range(3):
        a, b = [i for i in range(3) if i != axis]
        u, v = np.meshgrid(axes[a], axes[b], indexing="ij")
        grid = np.arange(u.size).reshape(u.shape)
        quads = np.stack([grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]], -1)
        for side in (-1, 1):
            p = np.empty((u.size, 3))
            p[:, a], p[:, b], p[:, axis] = u.ravel(), v.ravel(), side * half[axis]
            vertices.append(p)
            flip = (side > 0) == (axis == 1)
            f = quads.reshape(-1, 4) + start
            faces.append(f[:, ::-1] if flip else f)
            start += u.size
    p = np.concatenate(vertices)
    inner = np.clip(p, -(half - edge), half - edge)
    out = p - inner
    p = inner + edge * out / np.linalg.norm(out, axis=1, keepdims=True)
    _, first, same = np.unique(np.round(p, 6), axis=0, return_index=True, return_inverse=True)
    f = np.asarray(same).reshape(-1)[np.concatenate(faces)]
    return p[first] + np.asarray(at, float), f


def pad(size: Vec, at: Vec = (0, 0, 0), edge: float = 0.03, puff: float = 0.02) -> Solid:
    """Make a cushion: a soft box, thicker in the middle of its z side."""
    v, f = box(size, (0, 0, 0), edge, 10, 3)
    half = np.asarray(size, float) / 2
    u = np.clip(np.abs(v / half), 0, 1)
    swell = (1 - u[:, 0] ** 2.5) * (1 - u[:, 1] ** 2.5)
    v[:, 2] += np.sign(v[:, 2]) * puff * swell * u[:, 2]
    v[:, 1] *= 1 - 0.05 * (1 - u[:, 0]) * u[:, 1]
    v[:, 0] *= 1 - 0.05 * (1 - u[:, 1]) * u[:, 0]
    return v + np.asarray(at, float), f


def loft(rings: Sequence[Array], ends: bool = True, closed: bool = False) -> Solid:
    """Make a skin over rings of equally many points; `closed` joins the last to the first."""
    n, k = len(rings[0]), len(rings)
    grid = np.arange(n * k).reshape(k, n)
    low = grid if closed else grid[:-1]
    high = np.roll(grid, -1, 0) if closed else grid[1:]
    faces = [np.stack([low, np.roll(low, -1, 1), np.roll(high, -1, 1), high], -1).reshape(-1, 4)]
    vertices = [np.concatenate(rings)]
    if ends and not closed:
        for ring, flip in ((0, True), (k - 1, False)):
            middle = n * k + len(vertices) - 1
            vertices.append(rings[ring].mean(0)[None])
            edge = grid[ring]
            fan = np.stack([np.full(n, middle), edge, np.roll(edge, -1), np.roll(edge, -1)], -1)
            faces.append(fan[:, [0, 2, 1, 1]] if flip else fan)
    return np.concatenate(vertices), np.concatenate(faces)


def spline(points: Points, steps: int = 8) -> Array:
    """Make a smooth curve through points."""
    p = np.asarray(points, float)
    if len(p) < 3:
        return p
    p = np.concatenate([[2 * p[0] - p[1]], p, [2 * p[-1] - p[-2]]])
    out = []
    for a, b, c, d in zip(p, p[1:], p[2:], p[3:], strict=False):
        for t in np.linspace(0, 1, steps, endpoint=False):
            out.append(
                0.5
                * (
                    2 * b
                    + (c - a) * t
                    + (2 * a - 5 * b + 4 * c - d) * t**2
                    + (3 * b - a - 3 * c + d) * t**3
                )
            )
    return np.array([*out, p[-2]])


def bent(points: Points, radius: float = 0.05, steps: int = 6) -> Array:
    """Round off the corners of a path, as a tube bender does."""
    p = np.asarray(points, float)
    out = [p[0]]
    for a, b, c in zip(p, p[1:], p[2:], strict=False):
        la, lc = np.linalg.norm(a - b), np.linalg.norm(c - b)
        cut = min(radius, la / 2, lc / 2)
        start, end = b + (a - b) / la * cut, b + (c - b) / lc * cut
        for t in np.linspace(0, 1, steps):
            out.append((1 - t) ** 2 * start + 2 * t * (1 - t) * b + t**2 * end)
    return np.array([*out, p[-1]])


def _frames(path: Array) -> tuple[Array, Array]:
    along = np.gradient(path, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True) + 1e-12
    first = np.eye(3)[int(np.argmin(np.abs(along[0])))]
    side = [np.cross(along[0], first)]
    for t in along[1:]:
        s = side[-1] - (side[-1] @ t) * t
        side.append(s)
    sides = np.array(side)
    sides /= np.linalg.norm(sides, axis=1, keepdims=True) + 1e-12
    return sides, np.cross(along, sides)


def tube(path: Points, radius: float | Vec, sides: int = 12) -> Solid:
    """Make a tube along a path, with round ends."""
    p = np.asarray(path, float)
    keep = np.r_[True, np.linalg.norm(np.diff(p, axis=0), axis=1) > 1e-6]
    p = p[keep]
    r = np.broadcast_to(np.asarray(radius, float), len(keep))[keep].copy()
    start, end = p[0] - p[1], p[-1] - p[-2]
    start, end = start / np.linalg.norm(start), end / np.linalg.norm(end)
    bow = np.radians([88, 60, 30])
    head = [p[0] + start * r[0] * np.sin(t) for t in bow]
    tail = [p[-1] + end * r[-1] * np.sin(t) for t in bow[::-1]]
    side, up = _frames(p)
    side = np.concatenate([[side[0]] * 3, side, [side[-1]] * 3])
    up = np.concatenate([[up[0]] * 3, up, [up[-1]] * 3])
    r = np.r_[r[0] * np.cos(bow), r, r[-1] * np.cos(bow[::-1])]
    p = np.concatenate([head, p, tail])
    turn = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    rings = [
        c + q * (np.cos(turn)[:, None] * s + np.sin(turn)[:, None] * u)
        for c, q, s, u in zip(p, r, side, up, strict=True)
    ]
    return loft(rings)


def rod(a: Vec, b: Vec, radius: float, sides: int = 12) -> Solid:
    """Make a straight tube from a to b."""
    return tube([a, b], radius, sides)


def band(path: Points, width: Points | Vec, thick: float = 0.004) -> Solid:
    """Make a flat strap along a path; `width` is a vector a point, or one for all."""
    p = np.asarray(path, float)
    w = np.broadcast_to(np.asarray(width, float), p.shape)
    along = np.gradient(p, axis=0)
    n = np.cross(along, w)
    n = n / (np.linalg.norm(n, axis=1, keepdims=True) + 1e-12) * thick / 2
    turn = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    c = np.sign(np.cos(turn)) * np.abs(np.cos(turn)) ** 0.4
    s = np.sign(np.sin(turn)) * np.abs(np.sin(turn)) ** 0.6
    return loft([q + c[:, None] * a / 2 + s[:, None] * b for q, a, b in zip(p, w, n, strict=True)])


def lathe(
    profile: Points,
    at: Vec = (0, 0, 0),
    axis: str = "z",
    sides: int = 40,
    ease: float = 0.0,
    ends: bool = True,
) -> Solid:
    """Turn a profile of (radius, height) about an axis; `ease` rounds its corners."""
    p = np.asarray(profile, float)
    p = bent(p, ease, 5) if ease else p
    turn = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn), np.zeros(sides)], 1)
    solid = loft([ring * max(r, 1e-5) + np.array((0, 0, z)) for r, z in p], ends)
    if axis == "x":
        solid = turned(solid, "y", 90)
    if axis == "y":
        solid = turned(solid, "x", -90)
    return moved(solid, at)


def disc(radius: float, thick: float, at: Vec, axis: str = "z", edge: float = 0.004) -> Solid:
    """Make a round plate or a short cylinder with rounded edges."""
    h = thick / 2
    return lathe([(0, -h), (radius, -h), (radius, h), (0, h)], at, axis, 40, min(edge, h * 0.9))


def ring(
    radius: float, thick: float, at: Vec = (0, 0, 0), axis: str = "z", steps: int = 64
) -> Solid:
    """Make a hoop."""
    turn = np.linspace(0, 2 * np.pi, 10, endpoint=False)
    rings = []
    for t in np.linspace(0, 2 * np.pi, steps, endpoint=False):
        out = np.array([np.cos(t), np.sin(t), 0])
        rings.append(
            out * radius + thick * (np.cos(turn)[:, None] * out + np.sin(turn)[:, None] * [0, 0, 1])
        )
    solid = loft(rings, closed=True)
    if axis == "x":
        solid = turned(solid, "y", 90)
    if axis == "y":
        solid = turned(solid, "x", -90)
    return moved(solid, at)


def ellipse(rx: float, ry: float, at: Vec, points: int = 40, square: float = 2.0) -> Array:
    """Give a ring of points; `square` above 2 makes it a rounded rectangle."""
    t = np.linspace(0, 2 * np.pi, points, endpoint=False)
    c, s = np.cos(t), np.sin(t)
    x = np.sign(c) * np.abs(c) ** (2 / square) * rx
    y = np.sign(s) * np.abs(s) ** (2 / square) * ry
    return np.stack([x, y, np.zeros(points)], 1) + np.asarray(at, float)


def ball(radii: Vec, at: Vec = (0, 0, 0)) -> Solid:
    """Make an ellipsoid."""
    t = np.linspace(-np.pi / 2, np.pi / 2, 16)
    v, f = lathe(np.stack([np.cos(t), np.sin(t)], 1), sides=28)
    return v * np.asarray(radii, float) + np.asarray(at, float), f


def sheet(points: Array, thick: float = 0.004) -> Solid:
    """Give thickness to a grid of points (k, n, 3), as a cloth has."""
    du, dv = np.gradient(points, axis=0), np.gradient(points, axis=1)
    n = np.cross(du, dv)
    n /= np.linalg.norm(n, axis=2, keepdims=True) + 1e-12
    top, low = points + n * thick / 2, points - n * thick / 2
    rings = [np.concatenate([a, b[::-1]]) for a, b in zip(top, low, strict=True)]
    return _closed_strip(rings)


def _closed_strip(rings: list[Array]) -> Solid:
    v, f = loft(rings, ends=False)
    n = len(rings[0])
    half = n // 2
    ends = []
    for base in (0, n * (len(rings) - 1)):
        for i in range(half - 1):
            quad = [base + i, base + i + 1, base + n - 2 - i, base + n - 1 - i]
            ends.append(quad if base else quad[::-1])
    return v, np.concatenate([f, np.array(ends, np.int64)])


def waves(x: Array, y: Array, size: float, seed: int = 0, octaves: int = 4) -> Array:
    """Give soft unevenness, about -1..1, that repeats each time: cloth is never flat."""
    draw = np.random.default_rng(seed)
    total = np.zeros_like(x)
    for i in range(octaves * 3):
        angle, phase = draw.uniform(0, 2 * np.pi, 2)
        f = 2 * np.pi / size * 1.6 ** (i % octaves)
        total += np.sin(f * (x * np.cos(angle) + y * np.sin(angle)) + phase) / 1.6 ** (i % octaves)
    return total / 4
