"""Converting a scenario to the metadata of Inspect's sample, and back.

The metadata hold all that the tables need, so that a run can be read without its bank.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from careeval.core.scenario import Rubric, RubricItem, Scenario

_KEPT = ("version", "split", "adl", "part", "condition", "assistance", "situation", "actor",
         "status", "group", "twin_of", "control")  # fmt: skip
"""Fields of a scenario by which results may be grouped or selected."""


def sample_metadata(scenario: Scenario, rubrics: list[Rubric]) -> dict[str, Any]:
    """Return the metadata of a scenario's sample: the kept fields, the rubrics, the facts.

    A scenario without facts has no key `facts`.
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
    """Return the items of one rubric from a sample's metadata, in the rubric's order."""
    return [
        RubricItem.model_validate({n: item[n] for n in RubricItem.model_fields if n in item})
        for item in metadata["rubrics"][rubric.value]
    ]


def facts_of(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the facts of a scenario from its sample's metadata; empty if it has none."""
    facts: Mapping[str, Any] = metadata.get("facts", {})
    return facts
