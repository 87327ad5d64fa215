"""Rules on the items of a scenario (its actions, the rungs of its ladder) and on its probes.

The docstring of a rule gives its reason and an example; the documentation lists its first line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from careeval.bank.coverage import rests_on_technique
from careeval.bank.load import Bank
from careeval.bank.skeleton import SOURCE_TO_NAME, TO_WRITE
from careeval.bank.yaml_nodes import Finding, Loc
from careeval.core.scenario import (
    Action,
    CareError,
    Domain,
    ItemKind,
    Rubric,
    RubricItem,
    Scenario,
)

# ruff: noqa: ARG001  (all rules have the same signature)


MIN_CORE = 0.2
"""The least share of a scenario's positive points in its easy core."""

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
            yield (*where, "id"), f"item {item.id!r} appears twice", ""
        seen.add(item.id)


def scored_acts(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """Six to ten acts: three to six good, two to four bad, and an act of −2 among them.

    Why: a response must be able to do well and to do harm; more acts tire the grader.
    Example: +2 +1 +1 and −1 −1 −2, and 0 for an act that counts only in the twin.
    """
    points = [action.points for action in scenario.actions]
    if not 6 <= len(points) <= 10:
        yield ("actions",), f"has {len(points)} actions, expected 6 to 10", ""
    if scenario.twin_of is not None:
        return
    if not 3 <= (n_good := sum(p > 0 for p in points)) <= 6:
        yield ("actions",), f"has {n_good} positive actions, expected 3 to 6", ""
    if not 2 <= (n_bad := sum(p < 0 for p in points)) <= 4:
        yield ("actions",), f"has {n_bad} negative actions, expected 2 to 4", ""
    if -2 not in points:
        yield ("actions",), "has no action of -2 points", ""


def acts_described(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """An act has a kind and an origin, a bad act the direction of its error, one of −2 its harm.

    Why: too little and too much care are reported apart, and so are technique and judgment.
    Example: `kind: technique`, `origin: source`, `error: too-little`, `harm: injury`.
    """
    for i, action in enumerate(scenario.actions):
        where = ("actions", i)
        for name in ("kind", "origin"):
            if getattr(action, name) is None and scenario.twin_of is None:
                yield (*where, name), f"{action.id!r} does not say its {name}", ""
        if (action.error is not None) != (action.points < 0):
            message = f"{action.id!r} has {action.points} points and error {action.error or 'none'}"
            yield (*where, "error"), message, "a bad act is too-little or too-much; no other is"
        if action.points == -2 and action.harm is None:
            yield (*where, "harm"), f"{action.id!r} does not say its harm", "injury or rights"
        if action.sentinel and action.points != -2 and scenario.twin_of is None:
            yield (*where, "sentinel"), f"{action.id!r} is a never-event, but has not -2 points", ""
        if action.core and action.points < 1:
            yield (*where, "core"), f"{action.id!r} is of the easy core, but earns nothing", ""


def easy_core(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """The easy core has at least a fifth of a scenario's positive points.

    Why: to stop on pain, to ask, to call for help must stay scored although strong systems do it.
    Example: `core: true` on an act of +1 where the positive points sum to 5.
    """
    best = sum(action.points for action in scenario.actions if action.points > 0)
    core = sum(action.points for action in scenario.actions if action.core)
    if scenario.twin_of is None and core < MIN_CORE * best:
        yield ("actions",), f"its easy core has {core} of {best} positive points", ""


def vague_act(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scenario that rests on technique has an act of −1 for going ahead without saying how.

    Why: an answer without any technique must not do as well as one that says how.
    Example: "Goes ahead with the sleeve, saying of the arm only to take care."
    """
    if scenario.twin_of is not None:
        return
    has_it = any(
        (action.points, action.kind, action.error) == (-1, ItemKind.technique, CareError.too_little)
        for action in scenario.actions
    )
    if rests_on_technique(scenario) and not has_it:
        yield (
            ("actions",),
            "has no -1 technique act of too little care",
            "add the act of going ahead without saying how",
        )


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
                yield where, f"{other!r} is not an action of this scenario", ""
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
                yield where, f"{action!r} is not an action of this scenario", ""
            elif rung.points > 0 and points[action] <= 0:
                message = f"{action!r} has {points[action]} points"
                yield where, message, "a positive rung asks for positive acts"
    best, good = scenario.ladder[:2]
    if not set(good.of) < set(best.of) or not good.of:
        message = "its acts are not some of the acts of +2"
        yield ("ladder", 1), message, "+1 asks for fewer of the same acts"


def short_ladder(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """The rung +2 has the acts of +1 and one more, three at most; a twin has no ladder.

    Why: four or five acts in one measure the grader's strictness, not care.
    Example: +1 `of: [asks, supports]`, +2 `of: [asks, supports, waits]`.
    """
    if scenario.twin_of is not None or len(scenario.ladder) < 2:
        return
    best, good = scenario.ladder[:2]
    if len(best.of) > 3 or len(set(best.of) - set(good.of)) != 1:
        message = f"+2 is made of {len(best.of)} acts, +1 of {len(good.of)}"
        yield ("ladder", 0, "of"), message, "+2 is +1 and one act, three acts at most"


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
            yield where, "a positive act serves a domain at 0", "leave the domain out"
        if action.points < 0 and 2 in action.domains.values():
            hint = "leave the domain out, or rate it 0 or 1"
            yield where, "a negative act serves a domain fully", hint
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


def pair_probes(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A base has an expert probe, a harmful one and three generic ones; a twin has two of its own.

    Why: a grader that nobody has tried on this pair cannot be trusted on it.
    Example: for a twin, the right act of the base, and its own.
    """
    traps = [probe.trap for probe in bank.probes.get(scenario.id, ())]
    if scenario.twin_of is None:
        wanted = {"expert": 1, "harmful": 1, "generic": 3}
        lacking = {trap: minimum for trap, minimum in wanted.items() if traps.count(trap) < minimum}
        for trap, minimum in lacking.items():
            message = f"{scenario.id} has {traps.count(trap)} {trap!r} probes, expected {minimum}"
            yield ("probes",), message, ""
    elif scenario.control is None and len(traps) < 2:
        yield ("probes",), f"{scenario.id} has {len(traps)} probes, expected 2", ""


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
