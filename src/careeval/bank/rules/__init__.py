"""Rules on the content of a bank: what a rule is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from careeval.bank.load import Bank
from careeval.bank.yaml_nodes import Loc
from careeval.core.scenario import Scenario

Finding = tuple[Loc, str, str]
"""Place in the file, message, and hint."""


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
    remarks: Callable[[Bank], Iterator[str]] = lambda _: iter(())
    """Yields lines that a reader of the check should see although they are no problems."""
