"""Blender's side of a drawing: materials, room, light, camera, and the passes."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy
import mathutils
import numpy as np
from materials import CLEAR, Nodes, floor_material, material, wall_material
from PIL import Image
from shapes import Array, Colour, Mesh, box

FLOORS = ("wood", "tiles", "lino")
LIGHTS = ("day", "dim", "against")
WALLS: Mapping[str, float] = {"back": -2.4, "front": 2.8, "left": 2.0, "right": -2.4}
HEIGHT = 2.5


@dataclass(frozen=True)
class Room:
    """The room: its walls, floor, window and light."""

    wall: Colour = (0.84, 0.83, 0.79)
    floor: str = "lino"
    window: str | bool = True
    light: str = "day"
    walls: Mapping[str, float] = field(default_factory=lambda: dict(WALLS))

    def __post_init__(self) -> None:
        if self.floor not in FLOORS:
            raise ValueError(f"floor: {self.floor!r} is not one of {', '.join(FLOORS)}")
        if self.light not in LIGHTS:
            raise ValueError(f"light: {self.light!r} is not one of {', '.join(LIGHTS)}")
        sides = ("left", "right", "back", "front")
        if not isinstance(self.window, bool) and self.window not in sides:
            raise ValueError(f"window: {self.window!r} is not true, false or {', '.join(sides)}")
        for side in self.walls:
            if side not in sides:
                raise ValueError(f"walls: {side!r} is not one of {', '.join(sides)}")
        object.__setattr__(self, "walls", {**WALLS, **self.walls})

    @property
    def window_wall(self) -> str:
        """The wall that the daylight comes from."""
        return self.window if isinstance(self.window, str) else "left"


@dataclass(frozen=True)
class Camera:
    """A camera: where it stands, where it looks, its vertical angle in degrees."""

    at: tuple[float, float, float]
    to: tuple[float, float, float]
    view: float = 45.0
    corner: str = "top-right"

    @property
    def distance(self) -> float:
        """Metres from the camera to where it looks."""
        return float(np.linalg.norm(np.subtract(self.at, self.to)))


def _object(
    name: str,
    vertices: Array,
    faces: Any,
    stuff: Any,
    smooth: bool = True,
    normals: Array | None = None,
    colours: Array | None = None,
) -> Any:
    """Put a mesh into the scene, with normals in which large faces count for more."""
    rows = faces.tolist() if isinstance(faces, np.ndarray) else faces
    f = [[i for i in row if i >= 0] for row in rows]
    f = [list(dict.fromkeys(row)) for row in f]
    f = [row for row in f if len(row) > 2]
    me = bpy.data.meshes.new(name)
    me.from_pydata(np.asarray(vertices, float).tolist(), [], f)
    me.update()
    me.materials.append(stuff)
    if smooth:
        me.polygons.foreach_set("use_smooth", [True] * len(me.polygons))
        count = np.array([len(r) for r in f])
        flat = np.concatenate([np.asarray(r) for r in f])
        area = np.empty(len(f))
        normal = np.empty(len(f) * 3)
        me.polygons.foreach_get("area", area)
        me.polygons.foreach_get("normal", normal)
        weight = np.repeat(normal.reshape(-1, 3) * area[:, None], count, 0)
        total = np.stack([np.bincount(flat, weight[:, i], len(vertices)) for i in range(3)], 1)
        total /= np.linalg.norm(total, axis=1, keepdims=True) + 1e-15
        if normals is not None:
            total = np.asarray(normals, float)
        me.normals_split_custom_set_from_vertices(total.tolist())
    if colours is not None:
        shades = np.ones((len(vertices), 4))
        c = np.clip(np.asarray(colours, float)[:, :3], 0, 1)
        shades[:, :3] = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        layer = me.color_attributes.new("colours", "FLOAT_COLOR", "POINT")
        layer.data.foreach_set("color", shades.ravel())
    o = bpy.data.objects.new(name, me)
    bpy.context.scene.collection.objects.link(o)
    return o


def put(mesh: Mesh) -> Any:
    """Put a part into the scene."""
    try:
        stuff = material(mesh.material, mesh.colour, mesh.colours is not None)
    except ValueError as problem:
        raise ValueError(f"{mesh.name}: {problem}") from None
    return _object(
        mesh.name, mesh.vertices, mesh.faces, stuff, mesh.smooth, mesh.normals, mesh.colours
    )


def _wall(side: str, at: float, walls: Mapping[str, float], hole: bool) -> list[Array]:
    """Give a wall's quads, inward facing, round a hole for a window if there is one."""
    ends = (
        (walls["right"], walls["left"])
        if side in ("back", "front")
        else (walls["back"], walls["front"])
    )
    a, b = ends
    spans = [(a, b, 0.0, HEIGHT)]
    if hole:
        c, d = window_span(walls, side)
        spans = [(a, c, 0, HEIGHT), (d, b, 0, HEIGHT), (c, d, 0, SILL), (c, d, LINTEL, HEIGHT)]
    quads = []
    for u0, u1, z0, z1 in spans:
        line = [(u0, z0), (u1, z0), (u1, z1), (u0, z1)]
        if side in ("back", "front"):
            q = np.array([(at, u, z) for u, z in line])
        else:
            q = np.array([(u, at, z) for u, z in line])
        quads.append(q)
    return quads


SILL, LINTEL = 0.88, 2.12


def window_span(walls: Mapping[str, float], side: str) -> tuple[float, float]:
    """Give from where to where a wall's window goes."""
    a, b = (
        (walls["right"], walls["left"])
        if side in ("back", "front")
        else (walls["back"], walls["front"])
    )
    middle, half = (a + b) / 2, min(0.85, (b - a) / 2 - 0.3)
    return middle - half, middle + half


def _along(side: str, at: float, u: float, z: float, inward: float = 0.0) -> Array:
    """Give a point of a wall: u along it, z high, inward from it."""
    sign = {"back": 1, "front": -1, "left": -1, "right": 1}[side]
    if side in ("back", "front"):
        return np.array([at + sign * inward, u, z])
    return np.array([u, at + sign * inward, z])


def _inward(side: str) -> tuple[float, float, float]:
    x, y, z = _along(side, 0.0, 0.0, 0.0, 1.0).tolist()
    return x, y, z


def _wall_box(
    side: str,
    at: float,
    u: tuple[float, float],
    z: tuple[float, float],
    depth: tuple[float, float],
    edge: float,
) -> tuple[Array, Any]:
    low, high = _along(side, at, u[0], z[0], depth[0]), _along(side, at, u[1], z[1], depth[1])
    return box(np.abs(high - low), (low + high) / 2, edge)


def build_room(room: Room, mirror: bool) -> None:
    """Put the room into the scene: floor, walls, skirting boards, window, light."""
    walls = dict(room.walls)
    side_of = {"left": "right", "right": "left"} if mirror else {}
    if mirror:
        walls["left"], walls["right"] = -walls["right"], -walls["left"]
    windowed = side_of.get(room.window_wall, room.window_wall)
    x0, x1, y0, y1 = walls["back"], walls["front"], walls["right"], walls["left"]
    floor = np.array([(x0, y0, 0), (x1, y0, 0), (x1, y1, 0), (x0, y1, 0)])
    _object("room-floor", floor, [[0, 1, 2, 3]], floor_material(room.floor), False)
    plaster = wall_material(room.wall)
    inside = np.array([(x0 + x1) / 2, (y0 + y1) / 2, 1.2])
    white = material("plastic", (0.86, 0.86, 0.84))
    for side, at in walls.items():
        hole = side == windowed and room.window is not False
        for q in _wall(side, at, walls, hole):
            n = np.cross(q[1] - q[0], q[2] - q[1])
            q = q[::-1] if n @ (inside - q[0]) < 0 else q
            o = _object(f"room-wall-{side}", q, [[0, 1, 2, 3]], plaster, False)
            o["inward"], o["point"] = _inward(side), q[0].tolist()
        ends = (y0, y1) if side in ("back", "front") else (x0, x1)
        skirting = _wall_box(side, at, ends, (0, 0.10), (0.0005, 0.016), 0.006)
        o = _object(f"room-skirting-{side}", *skirting, white)
        o["inward"], o["point"] = _inward(side), _along(side, at, 0, 0).tolist()
        if hole:
            _window(side, at, window_span(walls, side), white)
    ceiling = np.array([(x0, y0, HEIGHT), (x0, y1, HEIGHT), (x1, y1, HEIGHT), (x1, y0, HEIGHT)])
    o = _object("room-ceiling", ceiling, [[0, 1, 2, 3]], wall_material((0.9, 0.9, 0.89)), False)
    o["inward"], o["point"] = (0.0, 0.0, -1.0), ceiling[0].tolist()
    _light(room, windowed, walls)


def _window(side: str, at: float, span: tuple[float, float], white: Any) -> None:
    """Put a window into its hole: reveal, frame, sill, bright outside."""
    u0, u1 = span
    parts = []
    for u in (u0, u1, (u0 + u1) / 2):
        parts.append(
            _wall_box(side, at, (u - 0.028, u + 0.028), (SILL, LINTEL), (-0.09, -0.03), 0.008)
        )
    for z in (SILL, LINTEL):
        parts.append(_wall_box(side, at, (u0, u1), (z - 0.028, z + 0.028), (-0.09, -0.03), 0.008))
    parts.append(
        _wall_box(side, at, (u0 - 0.06, u1 + 0.06), (SILL - 0.03, SILL), (-0.1, 0.10), 0.01)
    )
    for u in (u0, u1):
        parts.append(
            _wall_box(side, at, (u - 0.012, u + 0.012), (SILL, LINTEL), (-0.14, 0.001), 0.004)
        )
    parts.append(
        _wall_box(side, at, (u0, u1), (LINTEL - 0.01, LINTEL + 0.012), (-0.14, 0.001), 0.004)
    )
    for v, f in parts:
        o = _object(f"room-window-{side}", v, f, white)
        o["inward"], o["point"] = _inward(side), _along(side, at, 0, 0).tolist()
    pane = np.array(
        [
            _along(side, at, u, z, -0.16)
            for u, z in (
                (u0 - 0.3, SILL - 0.3),
                (u1 + 0.3, SILL - 0.3),
                (u1 + 0.3, LINTEL + 0.3),
                (u0 - 0.3, LINTEL + 0.3),
            )
        ]
    )
    o = _object("room-sky", pane, [[0, 1, 2, 3]], material("sky", (0.9, 0.95, 1.0)), False)
    o["inward"], o["point"] = _inward(side), _along(side, at, 0, 0).tolist()


def _area(
    at: Array,
    to: Array,
    size: tuple[float, float],
    watts: float,
    colour: tuple[float, float, float],
) -> None:
    lamp = bpy.data.lights.new("light", "AREA")
    lamp.shape = "RECTANGLE"
    lamp.size, lamp.size_y = size
    lamp.energy = watts
    lamp.color = colour
    o = bpy.data.objects.new("light", lamp)
    bpy.context.scene.collection.objects.link(o)
    o.location = at.tolist()
    aim = mathutils.Vector((to - at).tolist())
    o.rotation_euler = aim.to_track_quat("-Z", "Y").to_euler()
    o.visible_camera = False


def _light(room: Room, side: str, walls: Mapping[str, float]) -> None:
    """Light the room: daylight from the window's side, a soft fill from above."""
    day, fill = {"day": (100, 42), "dim": (8, 9), "against": (150, 9)}[room.light]
    span = window_span(walls, side)
    middle = (span[0] + span[1]) / 2
    centre = np.array(
        [(walls["back"] + walls["front"]) / 2, (walls["left"] + walls["right"]) / 2, 0.5]
    )
    cold, warm = (0.93, 0.97, 1.0), (1.0, 0.93, 0.84)
    at = _along(side, walls[side], middle, 1.55, 0.03)
    _area(at, _along(side, walls[side], middle, 0.9, 2.5), (1.6, 1.2), day, cold)
    _area(np.array([centre[0], centre[1], HEIGHT - 0.05]), centre, (2.6, 2.2), fill, warm)
    world = bpy.data.worlds.new("world")
    bpy.context.scene.world = world
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs[1].default_value = 0.0


def start(size: tuple[int, int], samples: int, exposure: float) -> None:
    """Empty the scene and set the renderer."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    s = bpy.context.scene
    s.render.engine = "CYCLES"
    s.cycles.device = "CPU"
    s.cycles.samples = samples
    s.cycles.use_adaptive_sampling = True
    s.cycles.adaptive_threshold = 0.1
    s.cycles.adaptive_min_samples = 8
    s.cycles.use_light_tree = False
    s.cycles.debug_bvh_type = "STATIC_BVH"
    s.cycles.use_denoising = True
    s.cycles.denoiser = "OPENIMAGEDENOISE"
    s.cycles.denoising_prefilter = "FAST"
    s.cycles.max_bounces = 4
    s.cycles.diffuse_bounces = 2
    s.cycles.light_sampling_threshold = 0.03
    s.cycles.glossy_bounces = 2
    s.cycles.transmission_bounces = 4
    s.cycles.transparent_max_bounces = 6
    s.cycles.caustics_reflective = s.cycles.caustics_refractive = False
    s.cycles.sample_clamp_indirect = 6.0
    s.render.threads_mode = "FIXED"
    s.render.threads = 2
    s.render.use_persistent_data = True
    s.render.resolution_x, s.render.resolution_y = size
    s.view_settings.view_transform = "AgX"
    s.view_settings.look = "AgX - Medium High Contrast"
    s.view_settings.exposure = exposure
    s.render.image_settings.file_format = "PNG"


def aim(camera: Camera) -> None:
    """Set the camera of the scene."""
    s = bpy.context.scene
    data = bpy.data.cameras.new("camera")
    o = bpy.data.objects.new("camera", data)
    s.collection.objects.link(o)
    o.location = camera.at
    direction = mathutils.Vector(np.subtract(camera.to, camera.at).tolist())
    o.rotation_euler = direction.to_track_quat("-Z", "Y").to_euler()
    data.sensor_fit = "VERTICAL"
    data.angle = np.radians(camera.view)
    data.clip_start = 0.02
    s.camera = o
    for wall in s.objects:
        if wall.name.startswith("room-") and wall.get("inward"):
            behind = np.dot(wall["inward"], np.subtract(camera.at, wall["point"])) < 0.02
            wall.visible_camera = not behind


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Keep what Blender says about its progress from the standard output."""
    sys.stdout.flush()
    kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)


def shot(size: tuple[int, int], scratch: Path) -> Image.Image:
    """Render what the camera sees."""
    s = bpy.context.scene
    s.render.resolution_x, s.render.resolution_y = size
    s.render.filepath = str(scratch)
    with _silence():
        bpy.ops.render.render(write_still=True)
    with Image.open(scratch) as picture:
        return picture.convert("RGB").copy()


def count_pass(objects: Sequence[Any]) -> None:
    """Turn the scene into flat colours: object i has the colour of the number i + 1."""
    s = bpy.context.scene
    s.cycles.samples = 1
    s.cycles.use_denoising = False
    s.cycles.use_adaptive_sampling = False
    s.cycles.pixel_filter_type = "BOX"
    s.cycles.filter_width = 0.01
    s.view_settings.view_transform = "Raw"
    s.view_settings.look = "None"
    s.view_settings.exposure = 0.0
    s.render.dither_intensity = 0.0
    s.render.use_persistent_data = False
    for o in s.objects:
        if o.type == "LIGHT" or o.name.startswith("room-"):
            o.hide_render = True
    for i, o in enumerate(objects):
        n = Nodes(f"count-{i}")
        glow = n.add("Emission")
        value = i + 1
        glow.inputs["Color"].default_value = (value % 256 / 255, value // 256 / 255, 0, 1)
        n.link(glow.outputs[0], n.tree.nodes["Material Output"].inputs["Surface"])
        kind = o.data.materials[0].name.split("-")[0] if o.data.materials else ""
        o.hide_render = kind in CLEAR
        o.data.materials.clear()
        o.data.materials.append(n.material)


def numbers(picture: Image.Image) -> Any:
    """Read the numbers of a count pass."""
    p = np.asarray(picture).astype(int)
    return p[..., 0] + 256 * p[..., 1]
