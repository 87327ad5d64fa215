"""The shipped pictures are at their levels, as a program measured them when it drew them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from careeval.bank.load import load_bank
from careeval.core.picture import MAX_BYTES, picture_bytes
from careeval.worlds.scene import Level
from careeval.worlds.world import World

ROOT = Path(__file__).parents[2]
MEASURED = json.loads((ROOT / "tools/scenes/pictures.json").read_text(encoding="utf-8"))
DRAWINGS = ROOT / "tools/scenes/drawings"

LEAST: dict[Level, tuple[float, float]] = {
    "clear": (0.025, 0.75),
    "robot": (0.01, 0.5),
    "hard": (0.004, 0.5),
}
"""Level → least share of the picture that the deciding part takes, least share of it unhidden."""

FAR_M = 2.5
"""The distance from which a picture is hard, if it is not dim or against the light."""

WORLDS = [
    each
    for each in load_bank("plans", probes=False).scenarios
    if isinstance(each, World) and each.scene is not None
]


def test_each_picture_is_measured_and_drawn_from_a_file() -> None:
    """Measurements, pictures and drawings are of the same worlds."""
    assert {each.id for each in WORLDS} == {*MEASURED}
    assert {each.family for each in WORLDS} == {path.stem for path in DRAWINGS.glob("*.yaml")}


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.id)
def test_a_picture_is_at_its_level(world: World) -> None:
    """The deciding part is as large and as little hidden as the level says."""
    assert world.scene is not None
    measured = MEASURED[world.id]
    assert measured["bytes"] == len(picture_bytes(world.scene.picture)) <= MAX_BYTES
    share, unhidden = LEAST[world.scene.level]
    assert measured["deciding_share"] >= share
    assert measured["deciding_unhidden"] >= unhidden
    drawing = (DRAWINGS / f"{world.family}.yaml").read_text(encoding="utf-8")
    if world.scene.level == "hard":
        is_lit_badly = "light: dim" in drawing or "light: against" in drawing
        assert is_lit_badly or measured["distance"] >= FAR_M
