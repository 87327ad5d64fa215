"""Things of cloth and foam, each at its own origin, forward +x."""

from __future__ import annotations

import itertools

import numpy as np
from furniture import STEEL, _one_of
from shapes import (
    Array,
    Colour,
    Kit,
    Mesh,
    band,
    bent,
    box,
    changed,
    moved,
    pad,
    ring,
    rod,
    sheet,
    waves,
)


def curtain(
    drawn: bool = True,
    width: float = 1.8,
    height: float = 2.05,
    colour: Colour = (0.55, 0.60, 0.57),
    rail: bool = True,
) -> list[Mesh]:
    """Make a curtain on a rail along y, its foot at z = 0.12; open is pushed to the left end."""
    kit = Kit()
    span = width if drawn else 0.24 * width
    u, z = np.meshgrid(np.linspace(0, 1, 260), np.linspace(0.12, height, 24), indexing="ij")
    folds = round(width * (7 if drawn else 6))
    deep = (0.030 if drawn else 0.075) * (1.0 - 0.25 * (z / height))
    phase = 2 * np.pi * folds * (u + 0.012 * np.sin(9 * u))
    x = deep * np.sin(phase) + 0.01 * waves(u * width, z, 0.8, 2)
    y = width / 2 - span * u + 0.3 * deep * np.sin(2 * phase)
    kit.put("cloth", [sheet(np.stack([x, y, z], -1), 0.003)], colour, "cloth")
    if rail:
        kit.put(
            "rail",
            [
                rod(
                    (0, width / 2 + 0.08, height + 0.035),
                    (0, -width / 2 - 0.08, height + 0.035),
                    0.013,
                )
            ],
            STEEL,
            "metal",
        )
        hooks = [
            ring(0.02, 0.0022, (0, width / 2 - span * (i + 0.5) / folds, height + 0.022), "y", 24)
            for i in range(folds)
        ]
        kit.put("hooks", hooks, STEEL, "metal")
    return kit.meshes


def rug(
    state: str = "flat",
    length: float = 1.2,
    width: float = 0.7,
    colour: Colour = (0.52, 0.28, 0.25),
    border: Colour = (0.72, 0.64, 0.52),
) -> list[Mesh]:
    """Make a rug: flat, with a turned-up corner (curled), or rolled up."""
    kit = Kit()
    form = _one_of("state", state, "flat", "curled", "rolled")
    if form == "rolled":
        t = np.linspace(0, 2 * np.pi * 4.5, 260)
        r = 0.022 + 0.0125 * t / (2 * np.pi)
        path = np.stack([r * np.cos(t), 0 * t, r * np.sin(t) + r.max()], 1)
        kit.put("roll", [band(path, (0, width, 0), 0.0095)], colour, "towel")
        ends = [
            band(path + np.array((0, s * (width / 2 - 0.035), 0)), (0, 0.072, 0), 0.0102)
            for s in (-1, 1)
        ]
        kit.put("roll-border", ends, border, "towel")
        return kit.meshes

    def shaped(v: Array) -> Array:
        v[:, 2] += 0.0015 * waves(v[:, 0], v[:, 1], 0.5, 5)
        if form == "curled":
            far = np.clip((v[:, 0] / length + v[:, 1] / width) - 0.62, 0, None)
            v[:, 2] += 0.55 * far**1.5
            v[:, 0] -= 0.25 * far
            v[:, 1] -= 0.20 * far
        return v

    flat = box((length, width, 0.011), (0, 0, 0.0075), 0.005, 40)
    kit.put("field", [changed(flat, shaped)], border, "towel")
    inner = box((length - 0.16, width - 0.16, 0.010), (0, 0, 0.0095), 0.004, 40)
    kit.put("middle", [changed(inner, shaped)], colour, "towel")
    tufts = []
    for x in (-length / 2, length / 2):
        for y in np.linspace(-width / 2 + 0.01, width / 2 - 0.01, 46):
            end = np.sign(x) * 0.035
            tufts.append(
                rod((x, y, 0.006), (x + end, y + 0.003 * np.sin(90 * y), 0.004), 0.0024, 5)
            )
    kit.put("fringe", [changed(t, shaped) for t in tufts], (0.80, 0.75, 0.66), "towel")
    return kit.meshes


def _laid(length: float, width: float, thick: float, seed: int, uneven: float = 0.006) -> Array:
    x, y = np.meshgrid(
        np.linspace(-length / 2, length / 2, 60),
        np.linspace(-width / 2, width / 2, 50),
        indexing="ij",
    )
    z = thick / 2 + uneven * (1 + waves(x, y, 0.22, seed)) / 2
    return np.stack(
        [x + uneven * waves(y, x, 0.3, seed + 1), y + uneven * waves(x, y, 0.3, seed + 2), z], -1
    )


def cloth(
    state: str = "flat",
    length: float = 0.30,
    width: float = 0.28,
    colour: Colour = (0.62, 0.74, 0.80),
) -> list[Mesh]:
    """Make a wash cloth: flat, folded, or in a crumpled heap."""
    kit = Kit()
    form = _one_of("state", state, "flat", "folded", "heap")
    if form == "flat":
        kit.put("", [sheet(_laid(length, width, 0.004, 1), 0.004)], colour, "towel")
    if form == "folded":
        kit.put(
            "",
            [
                pad((length / 2, width / 2, 0.012), (0, 0, 0.007 + 0.012 * i), 0.006, 0.002)
                for i in range(2)
            ],
            colour,
            "towel",
        )
    if form == "heap":
        p = _laid(length, width, 0.004, 4, 0.004)
        r = np.hypot(p[..., 0], p[..., 1]) / (length / 2)
        p[..., 2] += np.clip(1 - r, 0, 1) * 0.06 * (1 + 0.9 * waves(p[..., 0], p[..., 1], 0.13, 8))
        p[..., :2] *= 0.62
        p[..., 2] = np.clip(p[..., 2], 0.003, None)
        kit.put("", [sheet(p, 0.005)], colour, "towel")
    return kit.meshes


def towel(
    state: str = "folded",
    length: float = 0.9,
    width: float = 0.5,
    colour: Colour = (0.80, 0.77, 0.70),
) -> list[Mesh]:
    """Make a towel: folded, flat, rolled, or hung over a bar along y at z = 0."""
    kit = Kit()
    form = _one_of("state", state, "folded", "flat", "rolled", "hung")
    if form == "folded":
        kit.put(
            "",
            [
                pad((0.30, 0.24, 0.018), (0, 0.002 * i, 0.011 + 0.0185 * i), 0.009, 0.003)
                for i in range(4)
            ],
            colour,
            "towel",
        )
    if form == "flat":
        kit.put("", [sheet(_laid(length, width, 0.006, 1), 0.006)], colour, "towel")
    if form == "rolled":
        t = np.linspace(0, 2 * np.pi * 5, 220)
        r = 0.008 + 0.0105 * t / (2 * np.pi)
        path = np.stack([r * np.cos(t), 0 * t, r * np.sin(t) + r.max()], 1)
        kit.put("", [band(path, (0, width * 0.6, 0), 0.009)], colour, "towel")
    if form == "hung":
        w = width * 0.8
        path = bent(
            [
                (0.022, 0, -length / 2),
                (0.022, 0, 0.0),
                (0.0, 0, 0.022),
                (-0.022, 0, 0.0),
                (-0.022, 0, -length / 2.4),
            ],
            0.03,
            8,
        )
        s = np.concatenate([np.linspace(a, b, 20)[:-1] for a, b in itertools.pairwise(path)])
        y = np.linspace(-w / 2, w / 2, 60)
        grid = s[:, None] + np.stack([0 * y, y, 0 * y], 1)[None]
        low = np.clip(-grid[..., 2] / length, 0, 1)
        grid[..., 0] += np.sign(grid[..., 0]) * low * 0.03 * (1 + np.sin(grid[..., 1] * 42))
        kit.put("", [sheet(grid, 0.006)], colour, "towel")
    return kit.meshes


def cushion(
    colour: Colour = (0.62, 0.50, 0.36),
    length: float = 0.42,
    width: float = 0.42,
    thick: float = 0.11,
) -> list[Mesh]:
    """Make a cushion that lies on z = 0."""
    kit = Kit()
    kit.put(
        "",
        [pad((length, width, thick * 0.6), (0, 0, thick / 2), thick * 0.29, thick * 0.2)],
        colour,
        "cloth",
    )
    return kit.meshes


def pillow(
    colour: Colour = (0.88, 0.88, 0.86),
    length: float = 0.42,
    width: float = 0.64,
    thick: float = 0.14,
) -> list[Mesh]:
    """Make a pillow that lies on z = 0."""
    kit = Kit()

    def creased(v: Array) -> Array:
        v[:, 2] += 0.006 * waves(v[:, 0], v[:, 1], 0.3, 6) * (v[:, 2] > 0)
        v[:, 2] -= 0.018 * np.exp(-((v[:, 0] / 0.12) ** 2 + (v[:, 1] / 0.16) ** 2))
        return v

    soft = changed(
        pad((length, width, thick * 0.55), (0, 0, 0), thick * 0.27, thick * 0.27), creased
    )
    kit.put("", [moved(soft, (0, 0, thick / 2))], colour, "cloth")
    return kit.meshes


def wedge(
    length: float = 0.60,
    width: float = 0.50,
    high: float = 0.24,
    colour: Colour = (0.33, 0.42, 0.52),
) -> list[Mesh]:
    """Make a foam wedge, high at -x and thin at +x."""
    kit = Kit()

    def sloped(v: Array) -> Array:
        share = np.clip(0.5 - v[:, 0] / length, 0, 1)
        v[:, 2] *= 0.10 + 0.90 * share
        return v

    kit.put(
        "",
        [changed(box((length, width, high), (0, 0, high / 2), 0.018, 8, 3), sloped)],
        colour,
        "leather",
    )
    return kit.meshes


def blanket(
    state: str = "folded",
    length: float = 1.4,
    width: float = 1.2,
    colour: Colour = (0.44, 0.52, 0.46),
) -> list[Mesh]:
    """Make a blanket: folded, lying flat, or over whatever is under it (`over`)."""
    kit = Kit()
    form = _one_of("state", state, "folded", "flat", "over")
    if form == "folded":
        kit.put(
            "",
            [
                pad((0.36, 0.46 - 0.006 * i, 0.03), (0.003 * i, 0, 0.018 + 0.029 * i), 0.014, 0.005)
                for i in range(4)
            ],
            colour,
            "towel",
        )
    else:
        x, y = np.meshgrid(
            np.linspace(-length / 2, length / 2, 110),
            np.linspace(-width / 2, width / 2, 100),
            indexing="ij",
        )
        z = 0.012 + 0.005 * (1 + waves(x, y, 0.4, 1))
        kit.put("", [sheet(np.stack([x, y, z], -1), 0.012)], colour, "towel")
    return kit.meshes
