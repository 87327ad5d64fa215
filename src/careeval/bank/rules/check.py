"""Check of a bank by the rules that its `bank.yaml` names."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from careeval.bank.load import Bank
from careeval.bank.rules import Finding, Rule, RuleSet, items, scenarios, whole_bank
from careeval.bank.yaml_nodes import FilePlace, Loc, Problem
from careeval.core.registry import Registry
from careeval.core.scenario import Scenario

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
    "CE119": whole_bank.domains_balanced,
    "CE126": whole_bank.blueprint_covered,
    "CE138": whole_bank.half_from_pilots,
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
    return sorted(scenario_problems + bank_problems)


def _place(bank: Bank, scenario: Scenario, rule: Rule, loc: Loc) -> FilePlace:
    document = bank.documents[scenario.id]
    if rule.about_probes:
        document = bank.documents.get(f"{scenario.id}.probes", document)
    elif loc and loc[0] in ("status", "evidence") and bank.vetting(scenario):
        return bank.documents[f"{scenario.id}.evidence"].place((scenario.id, *loc))
    return document.place(loc)
