"""Things that the scenes of transferring need beside the common ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import seats
from furniture import DARK, OAK, SIDES, STEEL, _castor, _one_of
from shapes import (
    Colour,
    Kit,
    Mesh,
    Solid,
    bent,
    box,
    disc,
    lathe,
    ring,
    rod,
    sheet,
    spline,
    turned,
    waves,
)
from shapes import tube as pipe

GREEN: Colour = (0.115, 0.28, 0.18)


def lift_armchair(height: str = "low", cover: Colour = GREEN, rise: float = 0.22) -> list[Mesh]:
    """Make a riser armchair on castors: its seat low on its base, or raised on scissor arms."""
    kit = Kit()
    lift = rise if _one_of("height", height, "low", "high") == "high" else 0.0
    for m in seats.armchair(cover, OAK, 0.40):
        if m.name.startswith("leg-"):
            continue
        if m.name.startswith("armrest-"):
            m = replace(
                m, colour=(cover[0] * 0.8, cover[1] * 0.8, cover[2] * 0.8), material="leather"
            )
        kit.meshes.append(replace(m, vertices=m.vertices * (1, 1.08, 1) + (0, 0, lift)))
    grey = (0.46, 0.47, 0.49)
    bars = [box((0.66, 0.055, 0.045), (0.0, s * 0.29, 0.118), 0.012) for _, s in SIDES]
    bars += [box((0.055, 0.60, 0.045), (x, 0, 0.118), 0.012) for x in (-0.29, 0.29)]
    kit.put("base", bars, grey, "metal")
    for i, (x, y) in enumerate(((0.29, 0.29), (0.29, -0.29), (-0.29, 0.29), (-0.29, -0.29))):
        _castor(kit, f"castor-{i}", x, y, 0.042, 0.10)
    if lift:
        top = 0.158 + lift
        plate = [box((0.56, 0.54, 0.02), (0, 0, top - 0.008), 0.008)]
        arms, pins = [], []
        for _, s in SIDES:
            for t, shift in ((-1, 0.0), (1, 0.028)):
                a = np.array([-t * 0.23, s * (0.24 - shift), 0.125])
                b = np.array([t * 0.23, s * (0.24 - shift), top - 0.02])
                arms.append(rod(a, b, 0.017))
            pins.append(
                rod((0, s * 0.19, (0.105 + top) / 2), (0, s * 0.27, (0.105 + top) / 2), 0.02)
            )
        for x in (-0.23, 0.23):
            pins.append(rod((x, -0.26, 0.13), (x, 0.26, 0.13), 0.011))
            pins.append(rod((x, -0.26, top - 0.02), (x, 0.26, top - 0.02), 0.011))
        kit.put("lift", [*arms, *pins], STEEL, "metal")
        kit.put("plate", plate, grey, "metal")
    return kit.meshes


def walking_frame(width: float = 0.60, height: float = 0.85) -> list[Mesh]:
    """Make a walking frame with four feet; one stands inside it and looks to +x."""
    kit = Kit()
    h = width / 2
    metal = []
    for _, s in SIDES:
        loop = [
            (-0.24, s * h, 0.02),
            (-0.17, s * (h - 0.04), height),
            (0.10, s * (h - 0.05), height),
            (0.22, s * (h - 0.01), 0.02),
        ]
        metal.append(pipe(bent(loop, 0.09, 10), 0.0125))
        metal.append(rod((-0.215, s * (h - 0.013), 0.32), (0.185, s * (h - 0.022), 0.32), 0.0105))
    front = [(0.125, -(h - 0.045), 0.74), (0.125, h - 0.045, 0.74)]
    metal.append(rod(*front, 0.0125))
    metal.append(rod((0.17, -(h - 0.025), 0.42), (0.17, h - 0.025, 0.42), 0.0105))
    kit.put("frame", metal, (0.66, 0.67, 0.69), "metal")
    grips = [
        rod((-0.13, s * (h - 0.044), height), (0.02, s * (h - 0.047), height), 0.018)
        for _, s in SIDES
    ]
    kit.put("grips", grips, (0.20, 0.21, 0.22), "rubber")
    feet = [
        lathe([(0, 0), (0.019, 0), (0.017, 0.045), (0, 0.045)], (x, s * y, 0), ease=0.004)
        for _, s in SIDES
        for x, y in ((-0.241, h), (0.221, h - 0.01))
    ]
    kit.put("feet", feet, DARK, "rubber")
    return kit.meshes


def jug(colour: Colour = (0.86, 0.68, 0.12), height: float = 0.23) -> list[Mesh]:
    """Make a jug with its spout at +x and its handle at -x."""
    kit = Kit()
    k = height
    v, f = lathe(
        [
            (0, 0),
            (0.055, 0),
            (0.068, k * 0.25),
            (0.066, k * 0.55),
            (0.048, k * 0.82),
            (0.056, k),
            (0.051, k),
            (0.043, k * 0.82),
            (0.060, k * 0.55),
            (0.058, k * 0.1),
            (0, 0.008),
        ],
        ease=0.012,
    )
    out = np.clip((v[:, 2] - k * 0.84) / (k * 0.16), 0, 1) * np.clip(v[:, 0] / 0.05, 0, 1) ** 3
    v[:, 0] += 0.024 * out
    grip = spline(
        [(-0.05, 0, k * 0.86), (-0.095, 0, k * 0.86), (-0.108, 0, k * 0.6), (-0.065, 0, k * 0.34)],
        8,
    )
    kit.put("", [(v, f), pipe(grip, 0.0085)], colour, "ceramic")
    return kit.meshes


def wardrobe(
    width: float = 0.95,
    depth: float = 0.55,
    height: float = 1.95,
    wood: Colour = (0.56, 0.40, 0.26),
) -> list[Mesh]:
    """Make a wardrobe with two doors that face +x, its middle over the origin."""
    kit = Kit()
    kit.put(
        "body",
        [
            box((depth - 0.03, width - 0.02, height - 0.08), (-0.015, 0, height / 2 + 0.02), 0.006),
            box((depth + 0.02, width + 0.02, 0.035), (0, 0, height - 0.018), 0.01, 1, 3),
            box((depth - 0.05, width - 0.04, 0.07), (-0.01, 0, 0.035), 0.005),
        ],
        wood,
        "wood",
    )
    x, w, h = depth / 2 - 0.02, width / 2 - 0.02, height - 0.14
    kit.put(
        "doors",
        [box((0.022, w, h), (x, s * (w / 2 + 0.004), h / 2 + 0.085), 0.006) for _, s in SIDES],
        (wood[0] * 1.1, wood[1] * 1.1, wood[2] * 1.1),
        "wood",
    )
    grips = [
        pipe(
            bent(
                [
                    (x, s * 0.05, 0.95),
                    (x + 0.04, s * 0.05, 0.95),
                    (x + 0.04, s * 0.05, 1.12),
                    (x, s * 0.05, 1.12),
                ],
                0.02,
            ),
            0.007,
        )
        for _, s in SIDES
    ]
    kit.put("handles", grips, STEEL, "metal")
    return kit.meshes


def phone(colour: Colour = (0.05, 0.05, 0.06)) -> list[Mesh]:
    """Make a phone that lies on z = 0, its long side along x."""
    kit = Kit()
    kit.put("case", [box((0.155, 0.076, 0.009), (0, 0, 0.0045), 0.004, 1, 3)], colour, "plastic")
    kit.put(
        "glass", [box((0.146, 0.068, 0.001), (0, 0, 0.0092), 0.0004)], (0.45, 0.60, 0.75), "screen"
    )
    return kit.meshes


def lidded_cup(
    colour: Colour = (0.50, 0.74, 0.88), height: float = 0.15, holder: bool = True
) -> list[Mesh]:
    """Make a travel cup with a lid, standing in a ring holder whose arm comes from -x."""
    kit = Kit()
    kit.put(
        "cup",
        [lathe([(0, 0), (0.030, 0), (0.040, height * 0.9), (0, height * 0.9)], ease=0.006)],
        colour,
        "plastic",
    )
    k = height * 0.9
    lid = lathe(
        [
            (0, k - 0.004),
            (0.043, k - 0.004),
            (0.043, k + 0.012),
            (0.036, k + 0.022),
            (0, k + 0.022),
        ],
        ease=0.004,
    )
    kit.put(
        "lid",
        [lid, box((0.016, 0.024, 0.008), (0.018, 0, k + 0.024), 0.003)],
        (0.90, 0.91, 0.91),
        "plastic",
    )
    if holder:
        parts = [ring(0.043, 0.005, (0, 0, z)) for z in (0.028, 0.065)]
        parts += [
            rod(
                (0.043 * np.cos(t), 0.043 * np.sin(t), -0.004),
                (0.043 * np.cos(t), 0.043 * np.sin(t), 0.065),
                0.004,
            )
            for t in np.radians((45, 135, 225, 315))
        ]
        parts += [
            disc(0.043, 0.006, (0, 0, -0.004)),
            box((0.05, 0.02, 0.018), (-0.062, 0, 0.03), 0.005),
        ]
        kit.put("holder", parts, DARK, "plastic")
    return kit.meshes


def robot_fingers(
    apart: float = 0.075, length: float = 0.14, colour: Colour = (0.045, 0.045, 0.05)
) -> list[Mesh]:
    """Make a robot's two fingers that point to +x from a palm; the tips are at the origin."""
    kit = Kit()
    fingers, joints = [], []
    for _, s in SIDES:
        y = s * apart / 2
        first = turned(
            box((length * 0.55, 0.024, 0.032), (-length * 0.26, y, 0), 0.008, 1, 3),
            "z",
            s * -4,
            (0, y, 0),
        )
        second = box((length * 0.6, 0.028, 0.036), (-length * 0.78, y * 1.25, 0), 0.009, 1, 3)
        fingers += [first, second]
        joints.append(disc(0.017, 0.044, (-length * 0.52, y * 1.14, 0), "z", 0.004))
    kit.put("fingers", fingers, colour, "rubber")
    kit.put("joints", joints, (0.30, 0.31, 0.33), "plastic")
    kit.put(
        "palm",
        [box((0.09, apart + 0.07, 0.065), (-length * 1.08 - 0.04, 0, 0), 0.02, 1, 3)],
        (0.12, 0.12, 0.13),
        "plastic",
    )
    return kit.meshes


def open_wheelchair(
    seat: Colour = (0.20, 0.20, 0.22),
    body: Colour = (0.46, 0.47, 0.49),
    pad: Colour = (0.16, 0.16, 0.17),
    arms: float = 0.825,
) -> list[Mesh]:
    """Make a powered wheelchair with push handles and armrests each on one post; no joystick."""
    kit = Kit()
    for m in seats.powered_wheelchair(seat=seat, body=body, headrest=False, joystick="left"):
        v = m.vertices.copy()
        if m.name.startswith("footplate"):
            v[:, 2] += 0.07
        if m.name.startswith("hanger"):
            v[:, 2] = 0.48 - (0.48 - v[:, 2]) * 0.30 / 0.37
        if not m.name.startswith(("joystick", "armrest")):
            kit.meshes.append(replace(m, vertices=v))
    for side, s in SIDES:
        y, z = s * 0.265, arms - 0.018
        kit.put(
            f"armrest-{side}-rear",
            [box((0.22, 0.06, 0.036), (-0.11, y, z), 0.015, 1, 3)],
            pad,
            "leather",
        )
        kit.put(
            f"armrest-{side}-front",
            [box((0.225, 0.06, 0.036), (0.1075, y, z), 0.015, 1, 3)],
            pad,
            "leather",
        )
        post = [
            rod((0.10, y, 0.47), (0.10, y, z - 0.014), 0.014),
            box((0.056, 0.03, 0.014), (0.10, y, z - 0.022), 0.005),
        ]
        post.append(rod((0.10, y, 0.475), (0.10, s * 0.20, 0.455), 0.013))
        kit.put(f"armrest-{side}-post", post, (0.22, 0.22, 0.23), "metal")
        bar = bent(
            [(-0.30, s * 0.20, 0.55), (-0.37, s * 0.22, 0.95), (-0.47, s * 0.22, 0.965)], 0.05
        )
        kit.put(f"handle-{side}-tube", [pipe(bar, 0.012)], (0.22, 0.22, 0.23), "metal")
        if side == "right":
            kit.put(
                "bag-bracket",
                [rod((0.20, -0.18, 0.455), (0.20, -0.36, 0.450), 0.008)],
                STEEL,
                "metal",
            )
        kit.put(
            f"handle-{side}",
            [rod((-0.39, s * 0.22, 0.952), (-0.50, s * 0.22, 0.968), 0.018)],
            DARK,
            "rubber",
        )
    return kit.meshes


def bed_blanket(
    height: float = 0.55,
    start: float = -0.02,
    end: float = 0.98,
    hip: float = 0.235,
    colour: Colour = (0.88, 0.83, 0.70),
    turned_back: bool = True,
) -> list[Mesh]:
    """Make a blanket over two stretched legs on a bed: head end at -x, from `start` to `end`."""
    kit = Kit()

    def laid(x0: float, x1: float, lift: float) -> Solid:
        x = np.linspace(x0, x1, 100)
        w = np.linspace(-0.74, 0.74, 150)
        u, t = np.meshgrid(x, w, indexing="ij")
        bow, half = 0.05, 0.43
        flat = np.clip(np.abs(t) - half, 0, None)
        angle = np.clip(flat / bow, 0, np.pi / 2)
        y = np.sign(t) * (np.minimum(np.abs(t), half) + bow * np.sin(angle))
        drop = bow * (1 - np.cos(angle)) + np.clip(flat - bow * np.pi / 2, 0, None)
        knots = [-0.3, 0.0, 0.2, 0.38, 0.50, 0.60, 0.645, 0.70, 0.76, 0.90, 1.1]
        tall = np.interp(
            u, knots, [hip, hip, 0.215, 0.200, 0.175, 0.170, 0.230, 0.262, 0.235, 0.03, 0.0]
        )
        for _ in range(6):
            tall = (np.roll(tall, 1, 0) + 2 * tall + np.roll(tall, -1, 0)) / 4
        wide = np.interp(u, [-0.1, 0.3, 0.6, 0.85, 1.0], [0.125, 0.085, 0.075, 0.075, 0.065])
        off = np.interp(u, [-0.1, 0.3, 0.6, 0.85], [0.085, 0.105, 0.115, 0.125])
        a = np.exp(-(np.abs((y - off) / wide) ** 2.4))
        b = np.exp(-(np.abs((y + off) / wide) ** 2.4))
        skirt = np.clip(1 - (np.abs(y) - off) / 0.20, 0, 1) ** 2 * (np.abs(y) > off)
        between = (np.abs(y) <= off) * np.interp(
            u, [0.0, 0.20, 0.40, 0.7, 1.0], [1.0, 1.0, 0.75, 0.55, 0.5]
        )
        rise = tall * np.maximum(np.maximum(a, b), np.maximum(0.75 * skirt, between))
        low = np.clip(drop / 0.2, 0, 1)
        fold = 0.005 * waves(u, t, 0.30, 3) * (1 - 0.5 * low)
        y = y + np.sign(t) * low * (0.014 * np.sin(u * 34 + 2 * np.sin(u * 9)) + 0.010)
        z = height + 0.012 + lift + rise - drop + fold
        return sheet(np.stack([u, y, z], -1), 0.014)

    kit.put("", [laid(start, end, 0.0)], colour, "towel")
    if turned_back:
        pale = (0.90, 0.90, 0.88)
        kit.put("turned", [laid(start - 0.012, start + 0.13, 0.013)], pale, "cloth")
    return kit.meshes


def cable_round(
    turns: float = 2.5,
    radius: float = 0.022,
    pitch: float = 0.012,
    hang: float = 0.20,
    colour: Colour = (0.92, 0.92, 0.90),
) -> list[Mesh]:
    """Make a charging cable wound round a bar along x at the origin; its plug hangs down at -y."""
    kit = Kit()
    t = np.linspace(0, 2 * np.pi * turns, round(40 * turns))
    coil = np.stack([-pitch * t / (2 * np.pi), radius * np.sin(t), radius * np.cos(t)], 1)
    # the last turn is left at -y, where the cable falls straight
    start = -pitch * t[-1] / (2 * np.pi)
    fall = [(start - 0.004, -radius - 0.003, -0.01 - hang * k) for k in (0.1, 0.3, 0.6, 0.9)]
    quarter = np.linspace(0, np.pi / 2, 10)[1:]
    over = np.stack(
        [
            np.full(9, start),
            -radius * np.sin(quarter),
            radius * np.cos(t[-1]) * np.cos(quarter),
        ],
        1,
    )
    kit.put("", [pipe(np.concatenate([coil, over, np.array(fall)]), 0.0028, 10)], colour, "plastic")
    x, y, z = fall[-1]
    plug = [
        box((0.014, 0.009, 0.032), (x, y, z - 0.016), 0.003),
        box((0.009, 0.004, 0.010), (x, y, z - 0.036), 0.001),
    ]
    kit.put("plug", plug, colour, "plastic")
    return kit.meshes


TRANSFERRING: dict[str, Callable[..., list[Mesh]]] = {
    "bed-blanket": bed_blanket,
    "cable-round": cable_round,
    "jug": jug,
    "lidded-cup": lidded_cup,
    "lift-armchair": lift_armchair,
    "open-wheelchair": open_wheelchair,
    "phone": phone,
    "robot-fingers": robot_fingers,
    "walking-frame": walking_frame,
    "wardrobe": wardrobe,
}
