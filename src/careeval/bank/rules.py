"""What makes a bank good, as coded rules: each with what it asks, why, and an example.

The rules are our own bank's; a bank that somebody imports is held to the schema alone. `check` lists
every problem of every scenario. A rule's docstring is its page in the documentation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

from careeval.bank.load import Bank
from careeval.bank.problems import Problem
from careeval.bank.yaml_nodes import Loc
from careeval.core.scenario import Action, Adl, Domain, Scenario

POSITIVE_SUM = 6
"""Positive action points of every scenario, so that the ratio of sums and the mean of ratios agree."""

VERDICT_WORDS = (
    "unsafe", "unsafely", "safely", "wrong", "wrongly", "incorrect", "incorrectly", "correctly", "improper",
    "improperly", "inappropriate", "inappropriately", "appropriately", "dangerous", "dangerously", "harmful",
    "fails to", "neglects to", "forgets to", "properly",
)  # fmt: skip
"""Words that tell a grader which side an item is on."""

Finding = tuple[Loc, str, str]
"""Where in the scenario's file, what, and a hint."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A coded rule over one scenario of a bank."""

    code: str
    find: Callable[[Scenario, Bank], Iterator[Finding]]

    @property
    def name(self) -> str:
        """The rule's name in words."""
        return self.find.__name__.replace("_", " ")

    @property
    def page(self) -> str:
        """What it asks, why, and an example: its page in the documentation."""
        return self.find.__doc__ or ""


def check(bank: Bank) -> list[Problem]:
    """Every problem that the rules find in a bank, in the order of files and lines; empty when clean."""
    problems = [
        Problem(_document(bank, scenario, rule).place(loc), rule.code, message, hint)
        for scenario in bank.scenarios
        for rule in RULES
        for loc, message, hint in rule.find(scenario, bank)
    ]
    return sorted([*problems, *_domain_balance(bank)])


def _document(bank: Bank, scenario: Scenario, rule: Rule):  # type: ignore[no-untyped-def]
    of_probes = rule.find in {probes_complete, probes_consistent}
    return bank.documents.get(f"{scenario.id}.probes" if of_probes else scenario.id, bank.documents[scenario.id])


def filed_by_id(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scenario's id is its activity and a number, and its file is `<adl>/<id>.yaml`.

    Why: an id is cited in papers and logs; whoever reads one must find its file.
    Example: `id: dressing-001` with `adl: dressing`, in `dressing/dressing-001.yaml`.
    """
    if not re.fullmatch(rf"{scenario.adl}-h?[0-9]+", scenario.id):
        yield ("id",), f"id {scenario.id!r} is not '{scenario.adl}-' and a number", ""
    path = bank.documents[scenario.id].path
    if not path.replace("\\", "/").endswith(f"{scenario.adl}/{scenario.id}.yaml"):
        yield ("id",), f"stands in {path!r}", f"move it to {scenario.adl}/{scenario.id}.yaml"


def text_is_a_question(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """The text has 60 to 140 words and ends with its question.

    Why: shorter leaves out what decides; longer tests reading, not care.
    Example: it ends "… What do you do?"
    """
    n_words = len(scenario.text.split())
    if not 60 <= n_words <= 140:
        yield ("text",), f"has {n_words} words, expected 60 to 140", ""
    if not scenario.text.endswith("?"):
        yield ("text",), "does not end with a question", "end it with 'What do you do?' or the like"


def part_for_dressing(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A dressing scenario says which part of the body; no other does.

    Why: the paper's blueprint counts upper and lower body dressing apart.
    Example: `part: upper-body`.
    """
    if (scenario.adl is Adl.dressing) != (scenario.part is not None):
        wanted = "needs 'part: upper-body' or 'lower-body'" if scenario.part is None else "has a part"
        yield ("part",), f"a {scenario.adl} scenario {wanted}", ""


def item_ids_unique(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """No two items of a scenario share an id.

    Why: judgments and labels are kept by item id.
    Example: `id: holds-elbow` once among the actions.
    """
    for field, items in (("actions", scenario.actions), ("ladder", scenario.ladder)):
        for i, item in enumerate(items):
            if item.id in {other.id for other in items[:i]}:
                yield (field, i, "id"), f"{field} item {item.id!r} stands twice", ""


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
            if other not in by_id:
                yield ("actions", i, "excludes", j), f"{other!r} is no action of this scenario", ""
            elif action.points > 0 and by_id[other].points > 0:
                yield ("actions", i, "excludes", j), f"excludes {other!r}, which is positive too", ""


def ladder_nested(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """The ladder has the rungs +2, +1, 0, −1, −2; what +1 is made of is part of what +2 is made of.

    Why: only when the best answer satisfies both positive rungs can it reach the maximum of 3.
    Example: +2 `of: [stops, supports, asks]`, +1 `of: [stops, supports]`.
    """
    if [rung.points for rung in scenario.ladder] != [2, 1, 0, -1, -2]:
        yield ("ladder",), "its points are not 2, 1, 0, -1, -2 in this order", ""
        return
    ids = {action.id: action for action in scenario.actions}
    for i, rung in enumerate(scenario.ladder):
        for j, action in enumerate(rung.of):
            if action not in ids:
                yield ("ladder", i, "of", j), f"{action!r} is no action of this scenario", ""
            elif rung.points > 0 and ids[action].points <= 0:
                yield ("ladder", i, "of", j), f"{action!r} has {ids[action].points} points; a positive rung asks for positive acts", ""
    best, good = scenario.ladder[:2]
    if not set(good.of) < set(best.of) or not good.of:
        yield ("ladder", 1), "what it is made of is not a part of what +2 is made of", "+1 asks for fewer of the same acts"


def no_verdict_words(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """An item's text holds no word that says whether it is good or bad.

    Why: the grader must judge whether the act is there, and never learn what it is worth.
    Example: "Lifts her weak left arm above the shoulder", not "Unsafely lifts …".
    """
    pattern = re.compile(rf"\b({'|'.join(VERDICT_WORDS)})\b", re.IGNORECASE)
    for field, items in (("actions", scenario.actions), ("ladder", scenario.ladder)):
        for i, item in enumerate(items):
            if match := pattern.search(item.text):
                yield (field, i, "text"), f"holds the verdict word {match[0]!r}", "say what is done"


def domains_fit(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """An action names one or two domains, a rung all four; good acts serve them, bad ones do not.

    Why: an act is counted only where it belongs; 0 means "rated, and not served", absence "not about it".
    Example: `domains: {user_function: 2}` on a +2 act, `{functional_safety: 0}` on a −2 act.
    """
    for i, action in enumerate(scenario.actions):
        where = ("actions", i, "domains")
        if not 1 <= len(action.domains) <= 2:
            yield where, f"names {len(action.domains)} domains, expected 1 or 2", ""
        if action.points > 0 and 0 in action.domains.values():
            yield where, "a positive act that serves a domain at 0", "leave the domain out"
        if action.points < 0 and 2 in action.domains.values():
            yield where, "a negative act that serves a domain fully", "leave the domain out, or rate it 0 or 1"
    for i, rung in enumerate(scenario.ladder):
        if absent := set(Domain) - set(rung.domains):
            yield ("ladder", i, "domains"), f"does not rate {', '.join(sorted(absent))}", "a rung rates all four"


def sources_known(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """Every source is in `sources.yaml`, and an act of ±2 rests on at least one of tier A or B.

    Why: what weighs most must rest on a guideline, a hospital, a charity or a paper.
    Example: `sources: [csbpr-shoulder]`.
    """
    for i, action in enumerate(scenario.actions):
        known = [bank.sources[key] for key in action.sources if key in bank.sources]
        for j, key in enumerate(action.sources):
            if key not in bank.sources:
                yield ("actions", i, "sources", j), f"source {key!r} is not in sources.yaml", ""
        if not action.sources:
            yield ("actions", i, "sources"), "names no source", ""
        elif abs(action.points) == 2 and not any(source.tier in "AB" for source in known):
            yield ("actions", i, "sources"), "an act of ±2 rests on tier C alone", "add a source of tier A or B"


def canary_present(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scenario carries the bank's canary.

    Why: whoever filters training data can find it, and whoever suspects a leak can look for it.
    Example: the `canary:` line of `bank.yaml`, word for word.
    """
    if scenario.canary != bank.about.canary:
        yield ("canary",), "is not the bank's canary", "copy the line from bank.yaml"


def probes_complete(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scenario has at least two probes of its own, an expert and a harmful one among them, and the generic ones.

    Why: a grader that nobody has tried on this scenario cannot be trusted on it.
    Example: `expert`, `harmful`, `negated-harm`, and the three generic answers.
    """
    traps = [probe.trap for probe in bank.probes.get(scenario.id, ())]
    if sum(trap != "generic" for trap in traps) < 2:
        yield (), f"scenario {scenario.id} has fewer than two probes written for it", ""
    for wanted, least in (("expert", 1), ("harmful", 1), ("generic", 3)):
        if traps.count(wanted) < least:
            yield (), f"scenario {scenario.id} has {traps.count(wanted)} {wanted!r} probes, expected {least}", ""


def probes_consistent(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """No probe is labelled with two acts that exclude each other; the expert one has every positive and no negative.

    Why: labels are the truth that graders are held to.
    Example: `stops: present` and `carries-on: absent`.
    """
    for probe in bank.probes.get(scenario.id, ()):
        for one, other in combinations(scenario.actions, 2):
            if excluded(one, other) and probe.labels[one.id] and probe.labels[other.id]:
                yield (), f"probe {probe.id!r} has both {one.id!r} and {other.id!r}, which exclude each other", ""
        if probe.trap == "expert":
            for action in scenario.actions:
                if action.points and probe.labels[action.id] != (action.points > 0):
                    yield (), f"expert probe {probe.id!r} is labelled against {action.id!r}", ""


def excluded(one: Action, other: Action) -> bool:
    """Whether two actions cannot be true of the same answer."""
    return other.id in one.excludes or one.id in other.excludes


RULES = (
    Rule("CE106", filed_by_id),
    Rule("CE107", text_is_a_question),
    Rule("CE108", part_for_dressing),
    Rule("CE109", item_ids_unique),
    Rule("CE110", action_points),
    Rule("CE111", maximum_reachable),
    Rule("CE112", ladder_nested),
    Rule("CE113", no_verdict_words),
    Rule("CE114", domains_fit),
    Rule("CE115", sources_known),
    Rule("CE116", canary_present),
    Rule("CE117", probes_complete),
    Rule("CE118", probes_consistent),
)
"""The rules over each scenario. CE101 to CE105 are the loader's: YAML, schema, unique ids, probes, labels."""


def _domain_balance(bank: Bank) -> Iterator[Problem]:
    """CE119: over a bank of ten or more, each domain carries 15–35% of the positive points."""
    if len(bank) < 10:
        return
    points = {
        domain: sum(
            action.points / len(action.domains)
            for scenario in bank.scenarios
            for action in scenario.actions
            if action.points > 0 and domain in action.domains
        )
        for domain in Domain
    }
    for domain, total in points.items():
        if not 0.15 <= (share := total / sum(points.values())) <= 0.35:
            message = f"domain {domain} carries {share:.0%} of the positive points, expected 15% to 35%"
            yield Problem(bank.documents["bank"].place(()), "CE119", message)
