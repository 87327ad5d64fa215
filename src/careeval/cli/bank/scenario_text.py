"""The text of a scenario as `careeval bank show` prints it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from careeval.bank import Bank
from careeval.core.scenario import Rubric, RubricItem, Scenario
from careeval.core.text import plain
from careeval.sheets.kinds import SIGNED
from careeval.sheets.terminal import console


def print_scenario(scenario: Scenario, bank: Bank, *, points: bool) -> None:
    """Print a scenario as a person reads it.

    With `points`, also points, domains, reasons and sources; without, the items are in an order
    that does not give their points away.
    """
    out = console()
    about = (
        scenario.part,
        scenario.condition,
        scenario.assistance and f"{scenario.assistance.name} assistance",
        ", ".join(scenario.situation),
        scenario.actor and f"{scenario.actor} acts",
        scenario.split,
        scenario.group and f"group {scenario.group}",
        scenario.twin_of and f"{scenario.control or 'twin'} of {scenario.twin_of}",
    )
    out.print(Text(scenario.id, style="bold"), Text(" · ".join(str(a) for a in about if a)))
    out.print()
    for paragraph in scenario.text.split("\n\n"):
        out.print(Padding(Text(plain(" ".join(paragraph.split()))), (0, 4, 1, 2)))
    if scenario.role or scenario.helpers:
        out.print(Text(plain(f"You: {scenario.role}. Who else: {scenario.helpers}."), style="dim"))
    for rubric in Rubric:
        items = scenario.rubric(rubric)
        if items:
            out.print()
            out.print(Text(rubric.value.capitalize(), style="bold"))
            _print_items(out, items if points else _shuffled(items), points=points)
    if points and (probes := bank.probes.get(scenario.id)):
        out.print()
        out.print(Text(plain("Probes: " + ", ".join(f"{p.id} ({p.trap})" for p in probes))))
    if points:
        keys = dict.fromkeys(key for action in scenario.actions for key in action.sources)
        for key in keys:
            source = bank.sources.get(key)
            words = (
                f"{source.organisation}. {source.document}." if source else "not in sources.yaml"
            )
            year = f" {source.year}." if source and source.year else ""
            out.print(Text(plain(f"  {key}: {words}{year}"), style="dim"))


def _shuffled(items: Sequence[RubricItem]) -> list[RubricItem]:
    """Return items in an order that is fixed but does not depend on their points."""
    return sorted(items, key=lambda item: sha256(item.text.encode()).digest())


def _facts(item: RubricItem) -> str:
    facts = [getattr(item, name, None) for name in ("kind", "error", "harm", "origin")]
    marks = [name for name in ("core", "sentinel") if getattr(item, name, False)]
    return ", ".join(str(fact) for fact in (*facts, *marks) if fact)


def _print_items(out: Console, items: Iterable[RubricItem], *, points: bool) -> None:
    table = Table.grid(padding=(0, 2))
    for item in items:
        text = Text(plain(item.text))
        if points:
            domains = ", ".join(f"{name} {level}" for name, level in item.domains.items())
            why = getattr(item, "why", "")
            sources = ", ".join(getattr(item, "sources", ()))
            notes = [domains.replace("_", " "), _facts(item), why, sources, "of " + ", ".join(
                getattr(item, "of", ())) if getattr(item, "of", ()) else ""]  # fmt: skip
            text.append("".join(f"\n{plain(note)}" for note in notes if note), style="dim")
        table.add_row(*([SIGNED.text(item.points)] if points else ["·"]), text)
    out.print(Padding(table, (0, 0, 0, 2)))
