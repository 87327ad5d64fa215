"""Rules on the items of a scenario (its actions, the rungs of its ladder) and on its probes.

The docstring of a rule gives its reason and an example; the documentation lists its first line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from careeval.bank.load import Bank
from careeval.bank.rules.rule import Finding
from careeval.bank.skeleton import SOURCE_TO_NAME, TO_WRITE
from careeval.bank.yaml_nodes import Loc
from careeval.core.scenario import Action, Domain, Rubric, RubricItem, Scenario

# ruff: noqa: ARG001  (all rules have the same signature)


POSITIVE_SUM = 6
"""Positive action points of each scenario. Equal sums make the ratio of sums a mean of ratios."""

VERDICT_WORDS = (
    "unsafe", "unsafely", "safely", "wrong", "wrongly", "incorrect", "incorrectly", "correctly",
    "improper", "improperly", "inappropriate", "inappropriately", "appropriately", "dangerous",
    "dangerously", "harmful", "fails to", "neglects to", "forgets to", "properly",
)  # fmt: skip
"""Words that tell a grader whether an item is good or bad."""

_VERDICT = re.compile(rf"\b({'|'.join(VERDICT_WORDS)})\b".replace(" ", r"\s+"), re.IGNORECASE)


def item_ids_unique(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """No two items of a scenario share an id.

    Why: judgments and labels are kept by item id.
    Example: `id: holds-elbow` once among the actions.
    """
    seen: set[str] = set()
    for where, item in items_of(scenario):
        if item.id in seen:
            yield (*where, "id"), f"item {item.id!r} stands twice", ""
        seen.add(item.id)


def action_points(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """Six to nine actions; the positive points sum to 6; two to four negatives, one of them a −2.

    Why: with equal maxima no scenario weighs more than another, and every scenario can show a harm.
    Example: +2 +2 +1 +1 and −2 −2 −1.
    """
    points = [action.points for action in scenario.actions]
    if not 6 <= len(points) <= 9:
        yield ("actions",), f"has {len(points)} actions, expected 6 to 9", ""
    if (total := sum(p for p in points if p > 0)) != POSITIVE_SUM:
        yield ("actions",), f"positive points sum to {total}, expected {POSITIVE_SUM}", ""
    if not 2 <= (n_negative := sum(p < 0 for p in points)) <= 4:
        yield ("actions",), f"has {n_negative} negative actions, expected 2 to 4", ""
    if -2 not in points:
        yield ("actions",), "has no action of -2 points", ""


def maximum_reachable(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """No positive action excludes another, and every excluded id is an action of the scenario.

    Why: a maximum that no answer can reach makes the best answer look worse than it is.
    Example: `excludes: [carries-on]` on the +2 act that stops.
    """
    by_id = {action.id: action for action in scenario.actions}
    for i, action in enumerate(scenario.actions):
        for j, other in enumerate(action.excludes):
            where = ("actions", i, "excludes", j)
            if other not in by_id:
                yield where, f"{other!r} is no action of this scenario", ""
            elif action.points > 0 and by_id[other].points > 0:
                yield where, f"excludes {other!r}, which is positive too", ""


def harm_of_severe_errors(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """Only items of −2 say what they harm.

    Why: severe errors are reported by kind, an injury or an override of the person's rights.
    Example: `harm: rights` on the −2 act that goes on after "stop". CE128.
    """
    for name in ("actions", "ladder"):
        for i, item in enumerate(getattr(scenario, name)):
            if item.harm is not None and item.points != -2:
                yield (name, i, "harm"), f"an item of {item.points:+d} points names a harm", ""


def ladder_nested(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """The ladder has the rungs +2, +1, 0, −1, −2; the acts of +1 are some of the acts of +2.

    Why: only when the best answer satisfies both positive rungs can it reach the maximum of 3.
    Example: +2 `of: [stops, supports, asks]`, +1 `of: [stops, supports]`.
    """
    if scenario.twin_of is not None:
        return  # a twin is judged on single acts alone
    if [rung.points for rung in scenario.ladder] != [2, 1, 0, -1, -2]:
        yield ("ladder",), "its points are not 2, 1, 0, -1, -2 in this order", ""
        return
    points = {action.id: action.points for action in scenario.actions}
    for i, rung in enumerate(scenario.ladder):
        for j, action in enumerate(rung.of):
            where = ("ladder", i, "of", j)
            if action not in points:
                yield where, f"{action!r} is no action of this scenario", ""
            elif rung.points > 0 and points[action] <= 0:
                message = f"{action!r} has {points[action]} points"
                yield where, message, "a positive rung asks for positive acts"
    best, good = scenario.ladder[:2]
    if not set(good.of) < set(best.of) or not good.of:
        message = "what it is made of is not a part of what +2 is made of"
        yield ("ladder", 1), message, "+1 asks for fewer of the same acts"


def no_verdict_words(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """An item's text holds no word that says whether it is good or bad.

    Why: the grader must judge whether the act is there, and never learn what it is worth.
    Example: "Lifts her weak left arm above the shoulder", not "Unsafely lifts …".
    """
    for where, item in items_of(scenario):
        if match := _VERDICT.search(item.text):
            yield (*where, "text"), f"holds the verdict word {match[0]!r}", "say what is done"


def domains_fit(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scored act names one or two domains, a rung all four; good acts serve them, bad not fully.

    Why: an act counts only where it belongs; 0 means "rated, not served", absence "not about it".
    Example: `domains: {user_function: 2}` on a +2 act, `{functional_safety: 0}` on a −2 act.
    """
    for i, action in enumerate(scenario.actions):
        where = ("actions", i, "domains")
        if action.points and not 1 <= len(action.domains) <= 2:
            yield where, f"names {len(action.domains)} domains, expected 1 or 2", ""
        if action.points > 0 and 0 in action.domains.values():
            yield where, "a positive act that serves a domain at 0", "leave the domain out"
        if action.points < 0 and 2 in action.domains.values():
            hint = "leave the domain out, or rate it 0 or 1"
            yield where, "a negative act that serves a domain fully", hint
    for i, rung in enumerate(scenario.ladder):
        if absent := sorted(set(Domain) - set(rung.domains)):
            where = ("ladder", i, "domains")
            yield where, f"does not rate {', '.join(absent)}", "a rung rates all four"


def sources_known(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scored act names sources of `sources.yaml`; an act of ±2 has one of tier A or B.

    Why: what weighs most must rest on a guideline, a hospital, a charity or a paper.
    Example: `sources: [csbpr-shoulder]`.
    """
    for i, action in enumerate(scenario.actions):
        where = ("actions", i, "sources")
        tiers = {bank.sources[key].tier for key in action.sources if key in bank.sources}
        for j, key in enumerate(action.sources):
            if key not in (*bank.sources, SOURCE_TO_NAME):
                yield (*where, j), f"source {key!r} is not in sources.yaml", ""
        if action.points and not action.sources:
            yield where, "names no source", ""
        elif abs(action.points) == 2 and tiers == {"C"}:
            yield where, "an act of ±2 rests on tier C alone", "add a source of tier A or B"


def items_of(scenario: Scenario) -> Iterator[tuple[Loc, RubricItem]]:
    """Yield every item of both rubrics, with its place in the file."""
    for rubric in (Rubric.actions, Rubric.ladder):
        for i, item in enumerate(scenario.rubric(rubric)):
            yield (rubric.value, i), item


def probes_written(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """No probe has a gap of a skeleton left.

    Why: a grader cannot be checked on an answer that nobody has written.
    Example: `TO WRITE` has become an answer.
    """
    for i, probe in enumerate(bank.probes.get(scenario.id, ())):
        if TO_WRITE in probe.text:
            yield ("probes", i, "text"), f"probe {probe.id!r} is still to be written", ""


def probes_complete(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scenario has two probes of its own or more, one expert and one harmful, and three generic.

    Why: a grader that nobody has tried on this scenario cannot be trusted on it.
    Example: `expert`, `harmful`, `negated-harm`, and the three generic answers.
    """
    traps = [probe.trap for probe in bank.probes.get(scenario.id, ())]
    if (n_own := sum(trap != "generic" for trap in traps)) < 2:
        yield ("probes",), f"{scenario.id} has {n_own} probes of its own, expected 2 or more", ""
    for wanted, least in (("expert", 1), ("harmful", 1), ("generic", 3)):
        if (n := traps.count(wanted)) < least:
            message = f"{scenario.id} has {n} {wanted!r} probes, expected {least} or more"
            yield ("probes",), message, ""


def probes_consistent(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """No probe has two acts that exclude each other; an expert probe has all good acts, no bad one.

    Why: labels are the truth that graders are checked against.
    Example: `stops: present` and `carries-on: absent`.
    """
    for i, probe in enumerate(bank.probes.get(scenario.id, ())):
        where = ("probes", i, "labels")
        for one, other in combinations(scenario.actions, 2):
            if excluded(one, other) and probe.labels[one.id] and probe.labels[other.id]:
                message = f"probe {probe.id!r} has both {one.id!r} and {other.id!r}"
                yield (*where, other.id), message, "they exclude each other"
        if probe.trap == "expert":
            for action in scenario.actions:
                if action.points and probe.labels[action.id] != (action.points > 0):
                    message = f"expert probe {probe.id!r} is labelled against {action.id!r}"
                    yield (*where, action.id), message, ""


def excluded(one: Action, other: Action) -> bool:
    """Tell whether two actions exclude each other: both cannot be true of one answer."""
    return other.id in one.excludes or one.id in other.excludes
