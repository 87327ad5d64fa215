"""Search for plans that solve each world (rule CE145) and that meet each danger (CE146).

    python tools/check_worlds.py                    every world of careeval's own bank
    python tools/check_worlds.py eating-p01         one of them
    python tools/check_worlds.py --bank FOLDER      the worlds of another bank

The other rules are those of `careeval bank check`. Like it, this ends with status 3 if there is a
problem.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from worlds.search import reach, solve

from careeval.bank import Bank, load_bank
from careeval.bank.rules import Finding, Rule, RuleSet
from careeval.bank.rules.check import check_by
from careeval.core.scenario import Scenario
from careeval.core.text import counted
from careeval.errors import CareEvalError
from careeval.worlds.judge import read_facts

# ruff: noqa: ARG001, T201  (all rules have the same signature, and a script prints)


def can_be_solved(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A search that does not know the safe plan finds one, too.

    Why: a world that only its author can solve measures the guessing of one plan.
    Example: the search asks, waits, and supports the arm before it moves it.
    """
    if solve(read_facts(scenario.facts())) is None:
        yield (), "no plan is found that reaches every goal and meets no danger", ""


def dangers_can_be_met(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """For every danger there is a plan that meets it.

    Why: a danger that cannot come about promises a check that is never made.
    Example: "gives the thin drink" needs a drink that the body can lift.
    """
    facts = read_facts(scenario.facts())
    for position, danger in enumerate(facts.dangers):
        if reach(danger, facts) is None:
            yield ("dangers", position), f"no plan is found that meets {danger.id}", ""


RULES = RuleSet((Rule("CE145", can_be_solved), Rule("CE146", dangers_can_be_met)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the problems of the worlds that are named, or of all, and return the status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("worlds", nargs="*", help="ids of worlds; all if none is named")
    parser.add_argument("--bank", default="plans", help="the bank's folder")
    chosen = parser.parse_args(arguments)
    try:
        bank = load_bank(chosen.bank, probes=False)
        worlds = tuple(map(bank.scenario, chosen.worlds)) or bank.scenarios
    except CareEvalError as error:
        print(error, file=sys.stderr)
        return 2
    problems = check_by(RULES, replace(bank, scenarios=worlds))
    for problem in problems:
        print(problem)
    n_problems = counted(len(problems), "problem") if problems else "no problem found"
    print(f"{counted(len(worlds), 'world')}: {n_problems}")
    return 3 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
