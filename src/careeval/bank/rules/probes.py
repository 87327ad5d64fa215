"""Rules on the probes of a scenario: labelled answers that graders are checked with.

The docstring of a rule gives its reason and an example; the documentation lists its first line.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from careeval.bank.load import Bank
from careeval.bank.rules.rule import Finding
from careeval.bank.skeleton import TO_WRITE
from careeval.core.scenario import Action, Scenario


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
