"""Check of a bank by the rules that its `bank.yaml` names."""

from __future__ import annotations

from careeval.bank.load import Bank
from careeval.bank.problems import FilePlace, Problem
from careeval.bank.rules import rule_sets, short_scenarios
from careeval.bank.rules.rule import Rule, RuleSet
from careeval.bank.yaml_nodes import Loc
from careeval.core.registry import Registry
from careeval.core.scenario import Scenario

RULE_SETS: Registry[RuleSet] = Registry(
    {
        "careeval": (rule_sets.RULES, rule_sets.BANK_RULES),
        "careeval-3": (short_scenarios.RULES, short_scenarios.BANK_RULES),
        "careeval-plans": "careeval.worlds.bank_rules:RULE_SET",
    }
)
"""Every set of rules by its name in `bank.yaml`."""


def check(bank: Bank) -> list[Problem]:
    """Return all problems that the rules find in a bank, in the order of files and lines.

    A bank that names no rules has no problems.
    """
    if bank.about.rules is None:
        return []
    rules, bank_rules = RULE_SETS[bank.about.rules]
    scenario_problems = [
        Problem(_place(bank, scenario, rule, loc), rule.code, message, hint)
        for scenario in bank.scenarios
        for rule in rules
        for loc, message, hint in rule.find(scenario, bank)
    ]
    bank_problems = [
        Problem(bank.documents["bank"].place(loc), code, message, hint)
        for code, find in bank_rules.items()
        for loc, message, hint in find(bank)
    ]
    return sorted(scenario_problems + bank_problems)


def _place(bank: Bank, scenario: Scenario, rule: Rule, loc: Loc) -> FilePlace:
    """Return the place of a finding in the file of the scenario, its probes or its evidence."""
    document = bank.documents[scenario.id]
    if rule.about_probes:
        document = bank.documents.get(f"{scenario.id}.probes", document)
    elif loc and loc[0] in ("status", "evidence") and bank.vetting(scenario):
        return bank.documents[f"{scenario.id}.evidence"].place((scenario.id, *loc))
    return document.place(loc)
