"""A blanket that lies over whatever is under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree
from shapes import Array, Mesh, sheet, waves

CLEARANCE = 0.02
NOT_UNDER = ("hair", "eye", "rail", "headboard", "footboard")


def _tree(under: Sequence[Mesh]) -> BVHTree:
    vertices: list[list[float]] = []
    faces: list[list[int]] = []
    for m in under:
        rows = m.faces.tolist() if isinstance(m.faces, np.ndarray) else m.faces
        start = len(vertices)
        for row in rows:
            face = list(dict.fromkeys(i + start for i in row if i >= 0))
            if len(face) > 2:
                faces.append(face)
        vertices += np.asarray(m.vertices, float).tolist()
    return BVHTree.FromPolygons(vertices, faces)


def _blurred(z: Array, rounds: int) -> Array:
    for _ in range(rounds):
        p = np.pad(z, 1, mode="edge")
        z = (4 * z + p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2]) / 8
    return z


def _by_length(y: Array, z: Array, step: float) -> tuple[Array, Array]:
    """Move a blanket's points inwards across it, so that what hangs down is not wider than it."""
    new_y, new_z = y.copy(), z.copy()
    middle = y.shape[1] // 2
    for i in range(len(y)):
        for side in (slice(middle, None), slice(middle, None, -1)):
            across, high = y[i, side], z[i, side]
            gone = np.r_[0, np.cumsum(np.hypot(np.diff(across), np.diff(high)))]
            wanted = np.arange(len(across)) * step
            new_y[i, side] = np.interp(wanted, gone, across)
            new_z[i, side] = np.interp(wanted, gone, high)
    return new_y, new_z


def draped(blanket: Sequence[Mesh], turn: Array, at: Array, under: Sequence[Mesh]) -> list[Mesh]:
    """Lay a blanket over the meshes that come before it in the drawing.

    `at` is the middle of the blanket, and its height the lowest that its edges hang to.
    """
    wanted = [m for m in under if not any(w in m.name for w in NOT_UNDER)]
    if not wanted:
        raise ValueError("blanket: nothing is under it: name it after what it lies over")
    tree = _tree(wanted)
    flat = blanket[0].vertices
    half = np.array([flat[:, 0].max(), flat[:, 1].max()])
    step = 0.014
    x, y = np.meshgrid(
        np.arange(-half[0], half[0] + step, step),
        np.arange(-half[1], half[1] + step, step),
        indexing="ij",
    )
    top = np.full(x.shape, float(at[2]))
    spots = np.stack([x, y, 0 * x], -1) @ turn.T + np.array((at[0], at[1], 0))
    for i, j in np.ndindex(*x.shape):
        hit = tree.ray_cast(Vector((*spots[i, j, :2], 2.2)), Vector((0, 0, -1)))[0]
        if hit is not None:
            top[i, j] = max(top[i, j], hit.z)
    lie = top + CLEARANCE
    z = lie.copy()
    for _ in range(26):
        z = np.maximum(_blurred(z, 3), lie)
    z = np.maximum(_blurred(z, 3), lie)
    z += 0.006 * (1 + waves(x, y, 0.3, 4)) * np.clip((z - at[2]) / 0.1, 0, 1)
    y, z = _by_length(y, z, step)
    spots = np.stack([x, y, 0 * x], -1) @ turn.T + np.array((at[0], at[1], 0))
    gy, gx = np.gradient(z, step, axis=1), np.gradient(z, step, axis=0)
    steep = np.clip(np.hypot(gx, gy) - 1.0, 0, 2) / 2
    wave = 0.016 * steep * np.sin(30 * (x + 0.3 * y) + 2 * np.sin(7 * x))
    length = np.hypot(gx, gy) + 1e-6
    spots[..., 2] = z
    spots += (np.stack([gx / length * wave, gy / length * wave, 0 * z], -1)) @ turn.T
    vertices, faces = sheet(spots, 0.013)
    return [replace(blanket[0], vertices=vertices, faces=faces)]
