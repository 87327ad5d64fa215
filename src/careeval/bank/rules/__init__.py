"""Rules on the content of a bank, and its check by those that its `bank.yaml` names.

The docstring of a rule gives its reason and an example; the documentation lists its first line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from careeval.bank.coverage import domain_shares
from careeval.bank.load import Bank
from careeval.bank.rules import items, scenarios
from careeval.bank.yaml_nodes import FilePlace, Finding, Loc, Problem
from careeval.core.registry import Registry
from careeval.core.scenario import Adl, Assistance, Condition, Origin, Scenario, Situation


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule on one scenario of a bank, with its code."""

    code: str  # `CE106` …
    find: Callable[[Scenario, Bank], Iterator[Finding]]
    """Yields the findings in one scenario."""
    about_probes: bool = False
    """True if the findings have places in `<id>.probes.yaml`, instead of the scenario's file."""

    @property
    def name(self) -> str:
        """The rule's name, with spaces."""
        return self.find.__name__.replace("_", " ")

    @property
    def page(self) -> str:
        """The docstring of `find`: the rule, its reason, and an example."""
        return self.find.__doc__ or ""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules that a bank may name in its `bank.yaml`."""

    rules: Sequence[Rule]  # Rules on each scenario
    bank_rules: Mapping[str, Callable[[Bank], Iterator[Finding]]] = field(default_factory=dict)
    """Code → rule on a whole bank."""
    file_rules: Mapping[str, Callable[[Bank], Iterator[tuple[str, Finding]]]] = field(
        default_factory=dict
    )
    """Code → rule on files other than scenarios; each finding comes with its file's name."""
    remarks: Callable[[Bank], Iterator[str]] = lambda _: iter(())
    """Yields lines that a reader of the check should see although they are no problems."""


MIN_BALANCED = 60
"""The fewest base scenarios of a bank whose domains must be balanced."""

N_SCENARIOS = 100

ADLS: Mapping[Adl, int] = {
    Adl.dressing: 18,
    Adl.grooming: 14,
    Adl.toileting: 17,
    Adl.transferring: 18,
    Adl.eating: 17,
    Adl.bathing: 16,
}

PARTS: Mapping[str, int] = {"upper-body": 9, "lower-body": 9}

COMMON = (Condition.stroke, Condition.cervical_sci, Condition.ms, Condition.als)
"""The common severe disabilities: at least twice in each activity.

Source: CareEval (HRI Companion '26) §3.2.
"""

ASSISTANCE: Mapping[Assistance, int] = {
    Assistance.independent: 1,
    Assistance.setup: 9,
    Assistance.supervision: 23,
    Assistance.partial: 26,
    Assistance.substantial: 23,
    Assistance.dependent: 18,
}

SITUATIONS: Mapping[Situation, int] = {
    Situation.routine: 22,
    Situation.discomfort: 13,
    Situation.frustration: 13,
    Situation.dignity: 13,
    Situation.refusal: 9,
    Situation.emergency: 10,
    Situation.hazard: 9,
    Situation.communication: 7,
    Situation.family: 4,
}
"""Primary situation → target number of scenarios."""

TOLERANCE = 2
"""The most scenarios by which the count of a level or a situation may miss its target."""

ROBOTS = range(12, 19)
"""The allowed numbers of scenarios in which a robot acts."""


def domains_balanced(bank: Bank) -> Iterator[Finding]:
    """From 60 base scenarios on, each domain carries 15% to 35% of the positive points.

    Why: a bank about one domain says little about the other three; a part of it may be about one.
    Example: an act of +2 about two domains gives one point to each.
    """
    if len(bank.bases) < MIN_BALANCED:
        return
    for domain, share in domain_shares(bank.bases).items():
        if not 0.15 <= share <= 0.35:
            message = f"domain {domain} carries {share:.0%} of the positive points"
            yield (), f"{message}, expected 15% to 35%", ""


def half_from_pilots(bank: Bank) -> Iterator[Finding]:
    """Over a bank, at most half of the bad acts come from pilot answers.

    Why: a bank made of one system's errors measures that system.
    Example: `origin: source` on a bad act that a guideline warns of.
    """
    origins = [
        action.origin for scenario in bank.bases for action in scenario.actions if action.points < 0
    ]
    if 2 * origins.count(Origin.pilot) > len(origins):
        yield (), f"{origins.count(Origin.pilot)} of {len(origins)} bad acts come from pilots", ""


def blueprint_covered(bank: Bank) -> Iterator[Finding]:
    """A bank of a hundred has the planned numbers of activities, levels, situations and so on.

    Why: what is not in the bank is not in the score.
    Example: 18 scenarios of dressing; stroke, cervical SCI, MS and ALS twice in each activity.
    """
    if len(bank.bases) == N_SCENARIOS:
        for gap in gaps(bank.bases):
            yield (), gap, ""


def gaps(scenarios: Sequence[Scenario]) -> Iterator[str]:
    """Yield, as text, how the counts of a bank of a hundred scenarios differ from the targets."""
    counts: Counter[object] = Counter()
    for s in scenarios:
        counts.update((s.adl, s.part, s.assistance, (s.adl, s.condition), s.actor))
        counts.update(s.situation[:1])
    for exact in (ADLS, PARTS):
        for key, n in exact.items():
            if counts[key] != n:
                yield f"{key}: {counts[key]} scenarios, expected {n}"
    for key, n in [*ASSISTANCE.items(), *SITUATIONS.items()]:
        if abs(counts[key] - n) > TOLERANCE:
            yield f"{key}: {counts[key]} scenarios, expected {n} ± {TOLERANCE}"
    for condition in COMMON:
        for adl in Adl:
            if counts[adl, condition] < 2:
                yield f"{condition} in {adl}: {counts[adl, condition]} scenarios, expected 2"
    if counts["robot"] not in ROBOTS:
        yield f"a robot acts in {counts['robot']}, expected {ROBOTS[0]} to {ROBOTS[-1]}"


RULES = (
    Rule("CE106", scenarios.filed_by_id),
    Rule("CE108", scenarios.part_for_dressing),
    Rule("CE109", items.item_ids_unique),
    Rule("CE111", items.maximum_reachable),
    Rule("CE112", items.ladder_nested),
    Rule("CE113", items.no_verdict_words),
    Rule("CE114", items.domains_fit),
    Rule("CE115", items.sources_known),
    Rule("CE116", scenarios.canary_present),
    Rule("CE118", items.probes_consistent, about_probes=True),
    Rule("CE120", scenarios.situation_described),
    Rule("CE121", scenarios.held_out_sealed),
    Rule("CE122", scenarios.nothing_left_to_write),
    Rule("CE123", items.probes_written, about_probes=True),
    Rule("CE124", scenarios.unlike_the_published),
    Rule("CE125", scenarios.unlike_the_others),
    Rule("CE127", scenarios.validated_by_raters),
    Rule("CE128", items.harm_of_severe_errors),
    Rule("CE130", scenarios.short_text),
    Rule("CE131", items.scored_acts),
    Rule("CE132", items.acts_described),
    Rule("CE133", items.easy_core),
    Rule("CE134", items.vague_act),
    Rule("CE135", scenarios.twin_differs),
    Rule("CE136", items.short_ladder),
    Rule("CE137", items.pair_probes, about_probes=True),
)
"""Rules on each scenario of a bank with `rules: careeval`.

The loader checks CE101 YAML, CE102 schema, CE103 unique ids, CE104 probes, CE105 labels, and CE129,
that a twin lists the acts of its base.
"""

BANK_RULES: dict[str, Callable[[Bank], Iterator[Finding]]] = {
    "CE119": domains_balanced,
    "CE126": blueprint_covered,
    "CE138": half_from_pilots,
}
"""Code → rule on a whole bank."""

RULE_SETS: Registry[RuleSet] = Registry(
    {
        "careeval": RuleSet(RULES, BANK_RULES),
        "careeval-plans": "careeval.worlds.bank_rules:RULE_SET",
    }
)
"""Every set of rules by its name in `bank.yaml`."""


def check(bank: Bank) -> list[Problem]:
    """Return all problems that a bank's rules find in it, in the order of files and lines.

    A bank that names no rules has no problems.
    """
    return [] if bank.about.rules is None else check_by(RULE_SETS[bank.about.rules], bank)


def check_by(rule_set: RuleSet, bank: Bank) -> list[Problem]:
    """Return all problems that some rules find in a bank, in the order of files and lines."""
    scenario_problems = [
        Problem(_place(bank, scenario, rule, loc), rule.code, message, hint)
        for scenario in bank.scenarios
        for rule in rule_set.rules
        for loc, message, hint in rule.find(scenario, bank)
    ]
    bank_problems = [
        Problem(bank.documents["bank"].place(loc), code, message, hint)
        for code, find in rule_set.bank_rules.items()
        for loc, message, hint in find(bank)
    ]
    file_problems = [
        Problem(bank.documents[name].place(loc), code, message, hint)
        for code, find in rule_set.file_rules.items()
        for name, (loc, message, hint) in find(bank)
    ]
    return sorted(scenario_problems + bank_problems + file_problems)


def _place(bank: Bank, scenario: Scenario, rule: Rule, loc: Loc) -> FilePlace:
    document = bank.documents[scenario.id]
    if rule.about_probes:
        document = bank.documents.get(f"{scenario.id}.probes", document)
    elif loc and loc[0] in ("status", "evidence") and bank.vetting(scenario):
        return bank.documents[f"{scenario.id}.evidence"].place((scenario.id, *loc))
    return document.place(loc)
