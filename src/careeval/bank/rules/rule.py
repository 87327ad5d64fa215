"""A coded rule of a bank, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from careeval.bank.load import Bank
from careeval.bank.yaml_nodes import Loc
from careeval.core.scenario import Scenario

Finding = tuple[Loc, str, str]
"""Where in the scenario's file, what, and a hint."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A coded rule over one scenario of a bank.

    Attributes:
        code: `CE106` …
        find: Every finding in one scenario, placed in the scenario's file, or in that of its
            probes where the rule is `about_probes`.
        about_probes: Whether the findings are places of `<id>.probes.yaml`.
    """

    code: str
    find: Callable[[Scenario, Bank], Iterator[Finding]]
    about_probes: bool = False

    @property
    def name(self) -> str:
        """The rule's name in words."""
        return self.find.__name__.replace("_", " ")

    @property
    def page(self) -> str:
        """What it asks, why, and an example: its page in the documentation."""
        return self.find.__doc__ or ""
