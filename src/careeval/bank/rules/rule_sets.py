"""The set of rules `careeval`, and its rules on a whole bank.

A bank names its set of rules in `bank.yaml`. Banks of short scenarios with twins use `careeval-3`
(`short_scenarios`), which shares most of these rules. Rules on each scenario are in `scenarios`
and `items`. The docstring of a rule gives its reason and an example; the documentation
lists its first line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from careeval.bank.coverage import domain_shares
from careeval.bank.load import Bank
from careeval.bank.rules import items, scenarios
from careeval.bank.rules.rule import Finding, Rule
from careeval.bank.rules.scenarios import N_SCENARIOS, gaps

MIN_BANK = 10
"""The fewest scenarios of a bank whose domains must be balanced."""

RULES = (
    Rule("CE106", scenarios.filed_by_id),
    Rule("CE107", scenarios.text_is_a_question),
    Rule("CE108", scenarios.part_for_dressing),
    Rule("CE109", items.item_ids_unique),
    Rule("CE110", items.action_points),
    Rule("CE111", items.maximum_reachable),
    Rule("CE112", items.ladder_nested),
    Rule("CE113", items.no_verdict_words),
    Rule("CE114", items.domains_fit),
    Rule("CE115", items.sources_known),
    Rule("CE116", scenarios.canary_present),
    Rule("CE117", items.probes_complete, about_probes=True),
    Rule("CE118", items.probes_consistent, about_probes=True),
    Rule("CE120", scenarios.situation_described),
    Rule("CE121", scenarios.held_out_sealed),
    Rule("CE122", scenarios.nothing_left_to_write),
    Rule("CE123", items.probes_written, about_probes=True),
    Rule("CE124", scenarios.unlike_the_published),
    Rule("CE125", scenarios.unlike_the_others),
    Rule("CE127", scenarios.validated_by_raters),
    Rule("CE128", items.harm_of_severe_errors),
)
"""Rules on each scenario. The loader checks CE101 YAML, CE102 schema, CE103 unique ids, CE104
probes and CE105 labels."""


def domains_balanced(bank: Bank) -> Iterator[Finding]:
    """Over a bank of ten scenarios or more, each domain carries 15% to 35% of the positive points.

    Why: a bank about one domain says little about the other three. CE119.
    Example: an act of +2 about two domains gives one point to each.
    """
    if len(bank.bases) < MIN_BANK:
        return
    for domain, share in domain_shares(bank.bases).items():
        if not 0.15 <= share <= 0.35:
            message = f"domain {domain} carries {share:.0%} of the positive points"
            yield (), f"{message}, expected 15% to 35%", ""


def blueprint_covered(bank: Bank) -> Iterator[Finding]:
    """A bank of a hundred has the planned numbers of activities, levels, situations and so on.

    Why: what is not in the bank is not in the score. CE126.
    Example: 18 scenarios of dressing; stroke, cervical SCI, MS and ALS twice in each activity.
    """
    if len(bank.bases) == N_SCENARIOS:
        for gap in gaps(bank.bases):
            yield (), gap, ""


BANK_RULES: dict[str, Callable[[Bank], Iterator[Finding]]] = {
    "CE119": domains_balanced,
    "CE126": blueprint_covered,
}
"""Code → rule on a whole bank."""
