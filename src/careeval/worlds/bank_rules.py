"""Rules of a bank of worlds, `rules: careeval-plans`: each is right by construction.

The docstring of a rule gives its reason and an example; the documentation lists its first line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from careeval.bank.load import Bank
from careeval.bank.rules import scenarios
from careeval.bank.rules.rule import Finding, Rule, RuleSet
from careeval.bank.yaml_nodes import Loc
from careeval.core.scenario import Scenario
from careeval.worlds.judge import Facts, read_facts, verdicts
from careeval.worlds.plan_json import PlanError, plan_of
from careeval.worlds.world import Check, World

# ruff: noqa: ARG001  (all rules have the same signature)


MIN_SAFE = 3
"""The fewest safe plans by which the judge is tested, beside the world's own."""


def filed_by_world(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A world's file is named by its id: activity, a p and a number.

    Why: an id is cited in papers and logs; its readers must find its file.
    Example: `id: eating-p01`, in `eating/eating-p01.yaml`.
    """
    path = bank.documents[scenario.id].path.replace("\\", "/")
    if not path.endswith(f"{scenario.adl}/{scenario.id}.yaml"):
        yield ("id",), f"stands in {path!r}", f"move it to {scenario.adl}/{scenario.id}.yaml"
    if not scenario.id.startswith(f"{scenario.adl}-p"):
        yield ("id",), f"id {scenario.id!r} is not '{scenario.adl}-p' and a number", ""


def checks_complete(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """Goals and dangers have ids of their own, a condition, sources, and a harm where severe.

    Why: what weighs most rests on a source, and the report says which kind of harm was done.
    Example: `points: -2`, `harm: injury`, `sources: [hse-scalding]`.
    """
    assert isinstance(scenario, World)
    for loc, check in _checks(scenario):
        if not (check.when or check.end):
            yield loc, f"{check.id} has no condition", "give it 'when' or 'end'"
        if abs(check.points) == 2 and not check.sources and check.id not in scenario.shared:
            yield (*loc, "sources"), f"{check.id} has ±2 points and names no source", ""
        for key in check.sources:
            if key not in bank.sources:
                yield (*loc, "sources"), f"source {key!r} is not in sources.yaml", ""
        if check.points == -2 and not getattr(check, "harm", None):
            yield loc, f"{check.id} has no harm", "write 'harm: injury' or 'harm: rights'"
    ids = Counter(check.id for _, check in _checks(scenario))
    for name in (name for name, n in ids.items() if n > 1):
        yield (), f"{name!r} is the id of {ids[name]} goals and dangers", ""


def safe_plan_is_safe(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """The world's safe plan reaches every goal and meets no danger, under all four answers.

    Why: it shows that a world asks for nothing that cannot be had together.
    Example: it asks, waits, and leaves the person where she was when she says stop.
    """
    assert isinstance(scenario, World)
    for item, is_danger, present, reason in _judged(scenario.safe_plan, _facts(scenario)):
        if is_danger and present:
            yield ("safe_plan",), f"meets the danger {item}: {reason}", ""
        elif not is_danger and not present:
            yield ("safe_plan",), f"misses the goal {item}: {reason}", ""


def plans_fare_as_meant(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """Other safe plans meet no danger; a harmful plan meets one, or misses a goal.

    Why: the judge is tested by plans whose authors had not seen it.
    Example: `eating-p01.plans.yaml` has three safe plans, and harmful ones of each kind.
    """
    assert isinstance(scenario, World)
    facts, plans = _facts(scenario), scenario.test_plans
    if plans is None or len(plans.safe) < MIN_SAFE:
        n_safe = len(plans.safe) if plans else 0
        yield (), f"has {n_safe} other safe plans, expected {MIN_SAFE} in {scenario.id}.plans", ""
    if plans is None:
        return
    for number, plan in enumerate(plans.safe, 1):
        for item, is_danger, present, reason in _judged(plan, facts):
            if is_danger and present:
                yield (), f"safe plan {number} meets the danger {item}: {reason}", ""
    for number, harmful in enumerate(plans.harmful, 1):
        judged = _judged(harmful.plan, facts)
        is_noticed = any(is_danger == present for _, is_danger, present, _ in judged)
        which = f"harmful plan {number} ({harmful.kind})"
        if not is_noticed and harmful.not_noticed is None:
            yield (), f"{which} meets no danger and misses no goal: {harmful.why}", ""
        if is_noticed and harmful.not_noticed is not None:
            yield (), f"{which} is noticed", "take out its 'not_noticed'"


def _checks(world: World) -> Iterator[tuple[Loc, Check]]:
    for name, checks in (("goals", world.goals), ("dangers", world.dangers)):
        for position, check in enumerate(checks):
            yield (name, position), check


def _facts(scenario: Scenario) -> Facts:
    return read_facts(scenario.facts())


def _judged(plan: object, facts: Facts) -> Iterator[tuple[str, bool, bool, str]]:
    """Yield for every item of a plan: id, whether it is a danger, whether present, the reason."""
    dangers = {danger.id for danger in facts.dangers}
    try:
        results = verdicts(plan_of(plan), facts)
    except PlanError as error:
        yield "malformed", True, True, str(error)
        return
    for item, verdict in results.items():
        yield item, item.partition("@")[0] in dangers, verdict.present, verdict.reason


RULES = (
    Rule("CE142", filed_by_world),
    Rule("CE116", scenarios.canary_present),
    Rule("CE143", checks_complete),
    Rule("CE144", safe_plan_is_safe),
    Rule("CE147", plans_fare_as_meant),
)
"""Rules on each world. The loader checks CE140 bodies and CE141 shared dangers."""

RULE_SET = RuleSet(
    RULES,
    elsewhere="CE145 (can be solved) and CE146 (dangers can be met) are searched for in a checkout"
    " of careeval: python tools/check_worlds.py",
)
"""The set `careeval-plans`."""
