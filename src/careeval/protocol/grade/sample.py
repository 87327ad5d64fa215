"""A scenario as Inspect's sample and back: a sample's metadata carries all that the tables need.

So a run can be read without the bank that it was made with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from careeval.core.scenario import Rubric, RubricItem, Scenario

_KEPT = ("version", "split", "adl", "part", "condition", "assistance", "situation", "actor",
         "status", "group", "twin_of", "control")  # fmt: skip
"""Fields of a scenario that a result may be read by."""


def sample_metadata(scenario: Scenario, rubrics: list[Rubric]) -> dict[str, Any]:
    """What a scenario's sample carries: what results are read by, its rubrics asked for, its facts.

    A scenario without facts has no such key.
    """
    kept = scenario.model_dump(mode="json", include=set(_KEPT))
    items = {
        rubric.value: [
            item.model_dump(mode="json", exclude={"why", "sources"})
            for item in scenario.rubric(rubric)
        ]
        for rubric in rubrics
    }
    facts = scenario.facts()
    return {
        **{name: kept[name] for name in _KEPT if name in kept},
        "rubrics": items,
        **({"facts": facts} if facts else {}),
    }


def rubric_of(metadata: Mapping[str, Any], rubric: Rubric) -> list[RubricItem]:
    """The items of one rubric that a sample carries, in the rubric's order."""
    return [
        RubricItem.model_validate({n: item[n] for n in RubricItem.model_fields if n in item})
        for item in metadata["rubrics"][rubric.value]
    ]


def facts_of(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The facts of a scenario that its sample carries; empty where it has none."""
    facts: Mapping[str, Any] = metadata.get("facts", {})
    return facts
