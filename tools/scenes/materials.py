"""Materials by name, as Blender's nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bpy

MATERIALS: Mapping[str, Mapping[str, float]] = {
    "skin": {"Roughness": 0.48, "Subsurface Weight": 0.18, "Specular IOR Level": 0.35},
    "cloth": {
        "Roughness": 0.92,
        "Sheen Weight": 0.25,
        "Sheen Roughness": 0.5,
        "Specular IOR Level": 0.15,
    },
    "towel": {"Roughness": 1.0, "Sheen Weight": 0.5, "Specular IOR Level": 0.05},
    "leather": {"Roughness": 0.5, "Specular IOR Level": 0.4},
    "metal": {"Roughness": 0.27, "Metallic": 0.85},
    "plastic": {"Roughness": 0.42, "Specular IOR Level": 0.4},
    "rubber": {"Roughness": 0.8, "Specular IOR Level": 0.2},
    "wood": {"Roughness": 0.5, "Specular IOR Level": 0.35},
    "ceramic": {"Roughness": 0.1, "Coat Weight": 0.4, "Coat Roughness": 0.05},
    "glass": {"Roughness": 0.02, "Transmission Weight": 1.0, "IOR": 1.3},
    "water": {"Roughness": 0.03, "Transmission Weight": 0.9, "IOR": 1.33},
    "mirror": {"Roughness": 0.03, "Metallic": 1.0},
    "hair": {"Roughness": 0.55, "Specular IOR Level": 0.4, "Anisotropic": 0.5},
    "eye": {"Roughness": 0.08, "Specular IOR Level": 0.5},
    "screen": {"Roughness": 0.15, "Emission Strength": 0.8},
    "light": {"Roughness": 0.6, "Emission Strength": 4.0},
    "sky": {"Roughness": 1.0, "Emission Strength": 2.4},
}
"""Each material's values of Blender's principled shader."""


CLEAR = ("glass", "water")
"""What is seen through: it hides nothing."""


def _linear(colour: Sequence[float]) -> tuple[float, float, float, float]:
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3])
    return (r, g, b, 1.0)


class Nodes:
    """A material's nodes, put together with few words."""

    def __init__(self, name: str) -> None:
        self.material = bpy.data.materials.new(name)
        self.material.use_nodes = True
        self.tree = self.material.node_tree
        self.shader = self.tree.nodes["Principled BSDF"]

    def add(self, kind: str, **values: Any) -> Any:
        """Add a node; values go to its settings, or to its inputs of that name."""
        node = self.tree.nodes.new("ShaderNode" + kind)
        for key, value in values.items():
            name = key.replace("_", " ").title() if key.islower() else key
            if hasattr(node, key):
                setattr(node, key, value)
            else:
                node.inputs[name].default_value = value
        return node

    def link(self, out: Any, into: Any) -> None:
        """Join an output to an input."""
        self.tree.links.new(out, into)

    def place(self, scale: Sequence[float]) -> Any:
        """Give the world's coordinates, scaled."""
        where = self.add("NewGeometry")
        mapping = self.add("Mapping")
        mapping.inputs["Scale"].default_value = scale
        self.link(where.outputs["Position"], mapping.inputs["Vector"])
        return mapping.outputs["Vector"]

    def noise(self, scale: Sequence[float], detail: float = 4.0, rough: float = 0.55) -> Any:
        """Give a noise of 0..1."""
        node = self.add("TexNoise", Scale=1.0, Detail=detail, Roughness=rough)
        self.link(self.place(scale), node.inputs["Vector"])
        return node.outputs["Fac"]

    def ramp(self, value: Any, low: Sequence[float], high: Sequence[float], at: float = 0.3) -> Any:
        """Give a colour between two for a value."""
        node = self.add("ValToRGB")
        node.color_ramp.elements[0].position, node.color_ramp.elements[1].position = at, 1 - at
        node.color_ramp.elements[0].color, node.color_ramp.elements[1].color = low, high
        self.link(value, node.inputs["Fac"])
        return node.outputs["Color"]

    def bump(self, value: Any, strength: float, distance: float) -> None:
        """Roughen the surface."""
        node = self.add("Bump", Strength=strength, Distance=distance)
        self.link(value, node.inputs["Height"])
        self.link(node.outputs["Normal"], self.shader.inputs["Normal"])

    def colour(self, out: Any) -> None:
        """Set the colour of the surface."""
        self.link(out, self.shader.inputs["Base Color"])


def _shade(colour: Sequence[float], by: float) -> tuple[float, float, float, float]:
    r, g, b, a = _linear(colour)
    return (r * by, g * by, b * by, a)


def _grain(n: Nodes, colour: Sequence[float], scale: Sequence[float]) -> None:
    """Draw the grain of wood along the direction with the smallest scale."""
    n.colour(n.ramp(n.noise(scale, 4, 0.6), _shade(colour, 0.62), _shade(colour, 1.18)))


def material(kind: str, colour: Sequence[float], painted: bool = False) -> Any:
    """Make a material of a kind and colour, or give the one made before."""
    if kind not in MATERIALS:
        raise ValueError(f"material: {kind!r} is not one of {', '.join(sorted(MATERIALS))}")
    key = f"{kind}-" + "-".join(f"{c:.3f}" for c in colour[:3])
    key += "-painted" if painted else ""
    if key in bpy.data.materials:
        return bpy.data.materials[key]
    n = Nodes(key)
    for name, value in MATERIALS[kind].items():
        n.shader.inputs[name].default_value = value
    n.shader.inputs["Base Color"].default_value = _linear(colour)
    if kind in ("screen", "light", "sky"):
        n.material.cycles.emission_sampling = "NONE"
        n.shader.inputs["Emission Color"].default_value = _linear(colour)
    if kind == "skin":
        n.shader.inputs["Subsurface Radius"].default_value = (0.012, 0.005, 0.003)
        n.shader.inputs["Subsurface Scale"].default_value = 1.0
        n.colour(n.ramp(n.noise((26, 26, 26), 2), _shade(colour, 0.90), _shade(colour, 1.06)))
        n.bump(n.noise((420, 420, 420), 0), 0.12, 0.001)
    if kind == "cloth":
        n.bump(n.noise((500, 500, 500), 0), 0.22, 0.0015)
    if kind == "towel":
        n.bump(n.noise((260, 260, 260), 1), 0.6, 0.005)
    if kind == "leather":
        n.bump(n.noise((240, 240, 240), 0), 0.15, 0.001)
    if kind == "hair":
        n.colour(n.ramp(n.noise((220, 220, 26), 1), _shade(colour, 0.55), _shade(colour, 1.25)))
        n.bump(n.noise((260, 260, 30), 1), 0.5, 0.004)
    if kind == "wood":
        _grain(n, colour, (22, 22, 2.2))
    if kind == "sky":
        height = n.add("SeparateXYZ")
        n.link(n.place((1, 1, 1)), height.inputs[0])
        fac = n.add("MapRange")
        for i, value in ((1, 0.9), (2, 2.0)):
            fac.inputs[i].default_value = value
        n.link(height.outputs[2], fac.inputs[0])
        mix = n.ramp(fac.outputs[0], _linear((0.62, 0.70, 0.60)), _linear((0.86, 0.92, 0.98)), 0.2)
        n.link(mix, n.shader.inputs["Emission Color"])
        n.shader.inputs["Base Color"].default_value = (0, 0, 0, 1)
    if painted:
        paint = n.add("VertexColor", layer_name="colours")
        n.colour(paint.outputs["Color"])
    return n.material


def floor_material(kind: str) -> Any:
    """Make a floor of wood, tiles or lino."""
    n = Nodes("floor")
    n.shader.inputs["Specular IOR Level"].default_value = 0.35
    if kind == "lino":
        base = (0.62, 0.60, 0.55)
        n.shader.inputs["Roughness"].default_value = 0.42
        n.colour(n.ramp(n.noise((60, 60, 60), 4, 0.75), _shade(base, 0.80), _shade(base, 1.12)))
        return n.material
    brick = n.add("TexBrick", Scale=1.0)
    mapping = n.place((1, 1, 1))
    n.link(mapping, brick.inputs["Vector"])
    wood = kind == "wood"
    size = (1.25, 0.14, 0.0016) if wood else (0.30, 0.30, 0.003)
    brick.inputs["Brick Width"].default_value = size[0]
    brick.inputs["Row Height"].default_value = size[1]
    brick.inputs["Mortar Size"].default_value = size[2]
    brick.inputs["Mortar Smooth"].default_value = 0.2
    brick.offset = 0.37 if wood else 0.0
    a, b = ((0.62, 0.47, 0.33), (0.52, 0.38, 0.26)) if wood else ((0.72, 0.74, 0.73),) * 2
    brick.inputs["Color1"].default_value = _linear(a)
    brick.inputs["Color2"].default_value = _linear(b)
    brick.inputs["Mortar"].default_value = _linear((0.24, 0.17, 0.11) if wood else (0.5, 0.5, 0.49))
    n.shader.inputs["Roughness"].default_value = 0.42 if wood else 0.28
    mix = n.add("MixRGB", blend_type="MULTIPLY")
    mix.inputs["Fac"].default_value = 1.0
    grain = n.noise((3, 45, 45) if wood else (7, 7, 7), 3, 0.6)
    n.link(brick.outputs["Color"], mix.inputs["Color1"])
    low, high = (
        ((0.72, 0.70, 0.68, 1), (1.1, 1.1, 1.1, 1))
        if wood
        else ((0.93,) * 3 + (1,), (1.03,) * 3 + (1,))
    )
    n.link(n.ramp(grain, low, high), mix.inputs["Color2"])
    n.colour(mix.outputs["Color"])
    n.bump(brick.outputs["Fac"], -0.25, 0.002)
    return n.material


def wall_material(colour: Sequence[float]) -> Any:
    """Make plaster."""
    n = Nodes("wall")
    n.shader.inputs["Roughness"].default_value = 0.9
    n.shader.inputs["Specular IOR Level"].default_value = 0.1
    n.shader.inputs["Base Color"].default_value = _linear(colour)
    return n.material
