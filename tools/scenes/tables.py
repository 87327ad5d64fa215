"""Tables, each at its own origin, forward +x."""

from __future__ import annotations

import numpy as np
from furniture import GREY, OAK, STEEL, _castor
from seats import _leg
from shapes import (
    Colour,
    Kit,
    Mesh,
    Solid,
    ball,
    bent,
    box,
    ellipse,
    loft,
    moved,
    rod,
    tube,
    turned,
)


def dressing_table(mirror: bool = True, width: float = 1.0, wood: Colour = OAK) -> list[Mesh]:
    """Make a dressing table with a mirror; one sits at its +x side."""
    kit = Kit()
    parts = [
        box((0.44, width, 0.026), (0, 0, 0.735), 0.008, 1, 3),
        box((0.38, width - 0.10, 0.10), (-0.01, 0, 0.672), 0.004),
    ]
    for x in (-0.18, 0.18):
        for s in (-1, 1):
            parts.append(
                _leg((x, s * (width / 2 - 0.055)), (x, s * (width / 2 - 0.065)), 0.722, 0.045)
            )
    kit.put("table", parts, wood, "wood")
    fronts = [
        box((0.012, width / 2 - 0.075, 0.08), (0.183, s * (width / 4 - 0.025), 0.672), 0.004)
        for s in (-1, 1)
    ]
    kit.put("drawers", fronts, tuple(1.06 * c for c in wood), "wood")
    knobs = [ball((0.012, 0.014, 0.014), (0.20, s * (width / 4 - 0.025), 0.672)) for s in (-1, 1)]
    kit.put("knobs", knobs, STEEL, "metal")
    if mirror:
        at = (-0.17, 0, 1.10)
        frame = [_oval(0.27, 0.33, 0.018, at)]
        frame += [rod((-0.18, s * 0.285, 0.745), (-0.18, s * 0.285, 1.12), 0.013) for s in (-1, 1)]
        kit.put("mirror-frame", frame, wood, "wood")
        glass = loft([ellipse(0.33, 0.27, (0, 0, h), 64) for h in (0, 0.006)])
        kit.put("mirror", [moved(turned(glass, "y", 90), at)], (0.92, 0.93, 0.93), "mirror")
    return kit.meshes


def _oval(ry: float, rz: float, thick: float, at: tuple[float, float, float]) -> Solid:
    """Make an upright oval frame that faces +x."""
    rings = []
    for t in np.linspace(0, 2 * np.pi, 64, endpoint=False):
        out = np.array([0, np.cos(t), np.sin(t)])
        centre = np.array([0, ry * np.cos(t), rz * np.sin(t)])
        a = np.linspace(0, 2 * np.pi, 12, endpoint=False)
        rings.append(
            np.asarray(at)
            + centre
            + thick * (np.cos(a)[:, None] * out + np.sin(a)[:, None] * [1, 0, 0])
        )
    return loft(rings, closed=True)


def bedside_table(wood: Colour = OAK, height: float = 0.62) -> list[Mesh]:
    """Make a bedside table with a drawer and an open shelf, its front at +x."""
    kit = Kit()
    parts = [
        box((0.42, 0.46, 0.024), (0, 0, height - 0.012), 0.008, 1, 3),
        box((0.38, 0.42, 0.018), (0, 0, 0.12), 0.004),
        box((0.018, 0.40, height - 0.14), (-0.185, 0, height / 2 + 0.05), 0.003),
        box((0.38, 0.42, 0.016), (0, 0, height - 0.20), 0.004),
    ]
    parts += [
        box((0.40, 0.018, height - 0.10), (0, s * 0.215, height / 2 + 0.04), 0.005) for s in (-1, 1)
    ]
    kit.put("body", parts, wood, "wood")
    kit.put(
        "drawer",
        [box((0.016, 0.405, 0.155), (0.196, 0, height - 0.108), 0.005)],
        tuple(1.06 * c for c in wood),
        "wood",
    )
    kit.put(
        "handle",
        [
            tube(
                bent(
                    [
                        (0.20, -0.06, height - 0.10),
                        (0.228, -0.06, height - 0.10),
                        (0.228, 0.06, height - 0.10),
                        (0.20, 0.06, height - 0.10),
                    ],
                    0.015,
                ),
                0.005,
            )
        ],
        STEEL,
        "metal",
    )
    for i, (x, y) in enumerate(((0.16, 0.19), (0.16, -0.19), (-0.16, 0.19), (-0.16, -0.19))):
        _castor(kit, f"castor-{i}", x, y, 0.028, 0.11)
    return kit.meshes


def over_bed_table(height: float = 0.80, wood: Colour = (0.72, 0.60, 0.45)) -> list[Mesh]:
    """Make an over-bed table: its top reaches over +x, its column stands at -x."""
    kit = Kit()
    kit.put("top", [box((0.78, 0.40, 0.022), (0.05, 0, height - 0.011), 0.01, 1, 3)], wood, "wood")
    lip = bent(
        [(-0.34, -0.2, 0), (0.44, -0.2, 0), (0.44, 0.2, 0), (-0.34, 0.2, 0), (-0.34, -0.2, 0)], 0.03
    )
    kit.put("edge", [tube(lip + np.array((0, 0, height - 0.008)), 0.009, 8)], GREY, "plastic")
    steel = [
        box((0.05, 0.08, height - 0.14), (-0.30, 0, height / 2 + 0.04), 0.012),
        box((0.40, 0.07, 0.03), (-0.12, 0, height - 0.04), 0.01),
        box((0.05, 0.38, 0.04), (-0.30, 0, 0.095), 0.012),
    ]
    steel += [box((0.68, 0.04, 0.035), (0.02, s * 0.19, 0.095), 0.012) for s in (-1, 1)]
    kit.put("frame", steel, (0.74, 0.75, 0.75), "metal")
    for i, (x, y) in enumerate(((-0.30, 0.19), (-0.30, -0.19), (0.34, 0.19), (0.34, -0.19))):
        _castor(kit, f"castor-{i}", x, y, 0.03, 0.08)
    return kit.meshes
