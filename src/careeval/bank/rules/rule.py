"""A rule of a bank, with its code, and the findings of a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from careeval.bank.load import Bank
from careeval.bank.yaml_nodes import Loc
from careeval.core.scenario import Scenario

Finding = tuple[Loc, str, str]
"""Place in the file, message, and hint."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule on one scenario of a bank, with its code."""

    code: str  # Code of the rule, `CE106` …
    find: Callable[[Scenario, Bank], Iterator[Finding]]
    """Function that yields the findings in one scenario."""
    about_probes: bool = False
    """True if the findings have places in `<id>.probes.yaml`, instead of the scenario's file."""

    @property
    def name(self) -> str:
        """The rule's name as text with spaces."""
        return self.find.__name__.replace("_", " ")

    @property
    def page(self) -> str:
        """The docstring of `find`: the rule, its reason, and an example."""
        return self.find.__doc__ or ""


RuleSet = tuple[Sequence[Rule], Mapping[str, Callable[[Bank], Iterator[Finding]]]]
"""Rules on each scenario, and code → rule on a whole bank."""
