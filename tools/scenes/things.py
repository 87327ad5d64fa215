"""The things that a drawing may name, and their making."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import bathroom
import extra_bathing
import extra_dressing
import extra_eating
import extra_grooming
import extra_toileting
import extra_transferring
import fittings
import furniture
import seats
import small
import soft
import tables
from shapes import Mesh

THINGS: dict[str, Callable[..., list[Mesh]]] = {
    "armchair": seats.armchair,
    "bath-lift": bathroom.bath_lift,
    "bed": furniture.bed,
    "bedside-table": tables.bedside_table,
    "blanket": soft.blanket,
    "bowl": small.bowl,
    "call-switch": small.call_switch,
    "chair": seats.chair,
    "cloth": soft.cloth,
    "cup": small.cup,
    "curtain": soft.curtain,
    "cushion": soft.cushion,
    "door": fittings.door,
    "dressing-table": tables.dressing_table,
    "glasses": small.glasses,
    "hair-straightener": small.hair_straightener,
    "hoist-rail": fittings.hoist_rail,
    "lamp": fittings.lamp,
    "over-bed-table": tables.over_bed_table,
    "pillow": soft.pillow,
    "powered-wheelchair": seats.powered_wheelchair,
    "radio": fittings.radio,
    "riser-armchair": seats.riser_armchair,
    "robot-arm": fittings.robot_arm,
    "rug": soft.rug,
    "shower-chair": bathroom.shower_chair,
    "slippers": small.slippers,
    "stool": seats.stool,
    "tablet": small.tablet,
    "toilet": bathroom.toilet,
    "towel": soft.towel,
    "tube": small.tube,
    "urine-bag": small.urine_bag,
    "wash-basin": bathroom.wash_basin,
    "wedge": soft.wedge,
    "wheelchair": furniture.wheelchair,
    "window": fittings.window,
    **extra_bathing.BATHING,
    **extra_dressing.DRESSING,
    **extra_eating.EATING,
    **extra_grooming.GROOMING,
    **extra_toileting.TOILETING,
    **extra_transferring.TRANSFERRING,
}


def make(thing: str, given: Mapping[str, Any]) -> list[Mesh]:
    """Make a thing with its arguments, refusing what there is not."""
    if thing not in THINGS:
        raise ValueError(f"thing: {thing!r} is not one of {', '.join(sorted(THINGS))}")
    allowed = list(inspect.signature(THINGS[thing]).parameters)
    values = {k.replace("-", "_"): v for k, v in given.items()}
    for name in values:
        if name not in allowed:
            shared = ["at", "turn", "tip", "lean", "size", "name"]
            raise ValueError(f"{thing}: {name!r} is not one of {', '.join(shared + allowed)}")
    try:
        return THINGS[thing](**values)
    except ValueError as problem:
        raise ValueError(f"{thing}: {problem}") from None
