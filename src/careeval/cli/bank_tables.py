"""What `careeval bank` prints of scenarios: lists, one to read, and counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from careeval.bank import Bank
from careeval.bank.coverage import (
    Cells,
    ProbeCounts,
    action_points,
    coverage,
    domain_shares,
    lengths,
    probe_counts,
    shares_of,
)
from careeval.bank.pilot import Presence, health
from careeval.bank.second_reading import Consistency, LabelRead, PointsRead, SecondReading, misread
from careeval.core.scenario import Adl, Rubric, RubricItem, Scenario, Split
from careeval.core.text import plain
from careeval.sheets.terminal import console, new_table, print_table

SELF_CONSISTENCY = "AI self-consistency: no validation, no agreement of experts, no reliability."
PILOT = "Answers of AI, graded by AI: no result of a system, and no validation."


def signed(points: int) -> str:
    """Points as people write them."""
    return f"{points:+d}".replace("-", "−").replace("+0", "0")


def listed(scenario: Scenario) -> dict[str, Any]:
    """One line of the list."""
    return {
        "id": scenario.id,
        "condition": scenario.condition,
        "assistance": scenario.assistance,
        "situation": list(scenario.situation),
        "actor": scenario.actor,
        "split": scenario.split.value,
        **({"twin_of": scenario.twin_of} if scenario.twin_of else {}),
        "words": len(scenario.text.split()),
        "actions": len(scenario.actions),
        "status": scenario.status.value,
    }


def print_list(scenarios: Iterable[Scenario]) -> None:
    """A row for each scenario."""
    rows = [listed(scenario) for scenario in scenarios]
    made = new_table("", list(rows[0]) if rows else ["id"], ())
    for row in rows:
        made.add_row(*(_cell(value) for value in row.values()))
    console().print(made)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return escape(plain(", ".join(map(str, value)) if isinstance(value, list) else str(value)))


def print_scenario(scenario: Scenario, bank: Bank, *, points: bool) -> None:
    """A scenario as a person reads it; without points, its items in no telling order."""
    out = console()
    level = f"{scenario.assistance.name} assistance" if scenario.assistance else None
    about = (scenario.part, scenario.condition, level, ", ".join(scenario.situation),
             f"{scenario.actor} acts" if scenario.actor else None, scenario.split,
             f"group {scenario.group}" if scenario.group else None, _twin(scenario))  # fmt: skip
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
            _print_items(out, items if points else _untold(items), points=points)
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


def _twin(scenario: Scenario) -> str | None:
    """Whose twin or control a scenario is."""
    if scenario.twin_of is None:
        return None
    return f"{scenario.control or 'twin'} of {scenario.twin_of}"


def _untold(items: Sequence[RubricItem]) -> list[RubricItem]:
    """In an order that says nothing of their points, the same each time."""
    return sorted(items, key=lambda item: sha256(item.text.encode()).digest())


def _facts(item: RubricItem) -> str:
    """Return an item's kind, direction, harm and origin in words; empty where not said."""
    facts = [getattr(item, name, None) for name in ("kind", "error", "harm", "origin")]
    marks = [name for name in ("core", "sentinel") if getattr(item, name, False)]
    return ", ".join(str(fact) for fact in (*facts, *marks) if fact)


def _print_items(out: Console, items: Iterable[RubricItem], *, points: bool) -> None:
    made = Table.grid(padding=(0, 2))
    for item in items:
        text = Text(plain(item.text))
        if points:
            domains = ", ".join(f"{name} {level}" for name, level in item.domains.items())
            why = getattr(item, "why", "")
            sources = ", ".join(getattr(item, "sources", ()))
            notes = [domains.replace("_", " "), _facts(item), why, sources, "of " + ", ".join(
                getattr(item, "of", ())) if getattr(item, "of", ()) else ""]  # fmt: skip
            text.append("".join(f"\n{plain(note)}" for note in notes if note), style="dim")
        made.add_row(*([signed(item.points)] if points else ["·"]), text)
    out.print(Padding(made, (0, 0, 0, 2)))


def stats(bank: Bank, reading: SecondReading) -> dict[str, Any]:
    """All that `bank stats` tells, for machines."""
    scenarios = bank.bases
    texts, counts = lengths(scenarios), probe_counts(bank)
    return {
        "bank": bank.about.name,
        "version": bank.about.version,
        "provenance": bank.about.provenance,
        "n_scenarios": len(scenarios),
        "n_twins": sum(s.twin_of is not None and s.control is None for s in bank.scenarios),
        "n_controls": sum(s.control is not None for s in bank.scenarios),
        "shares": shares_of(scenarios),
        "n_held_out": sum(scenario.split is Split.held_out for scenario in scenarios),
        "coverage": {
            name: {row: {adl.value: n for adl, n in cells.items()} for row, cells in found.items()}
            for name, found in coverage(scenarios).items()
        },
        "domain_shares": {domain.value: s for domain, s in domain_shares(scenarios).items()},
        "action_points": {str(p): n for p, n in sorted(action_points(scenarios).items())},
        "words": texts.words if texts else None,
        "reading_grade": texts.grade if texts else None,
        "probes": {
            "n": counts.probes,
            "n_labels": counts.labels,
            "n_present": counts.present,
            "n_severe_present": counts.severe_present,
            "by_trap": dict(counts.by_trap),
            "scores": {
                name: {"n": counts.n[name]} | {rubric.value: s for rubric, s in found.items()}
                for name, found in counts.scores.items()
            },
        },
        "second_reading": {
            "what": SELF_CONSISTENCY,
            "points": {name: _consistency(read) for name, read in reading.points.items() if read},
            "labels": {name: _labels(read) for name, read in reading.labels.items() if read},
            "misread": list(misread(bank, reading)),
        },
    }


def _consistency(read: Sequence[PointsRead]) -> dict[str, Any]:
    found = Consistency.of(read)
    return {
        "n": found.n,
        "weighted_kappa": found.kappa,
        # a reader who gives five rungs the five grades can hardly but agree on them
        "weighted_kappa_actions": Consistency.of(r for r in read if r.rubric == "actions").kappa,
        "n_equal": found.equal,
        "n_sign_flips": len(found.flips),
        "n_two_or_more_apart": len(found.far),
        "open": [f"{item.scenario} {item.item}" for item in found.far],
    }


def _labels(read: Sequence[LabelRead]) -> dict[str, Any]:
    differ = [row for row in read if row.author != row.reader]
    return {
        "n": len(read),
        "n_equal": len(read) - len(differ),
        "open": [f"{row.scenario} {row.probe} {row.item}" for row in differ],
    }


def print_stats(bank: Bank, reading: SecondReading) -> None:
    """The same, to be read."""
    out = console()
    told = stats(bank, reading)
    held_out = told["n_held_out"]
    out.print(
        Text(plain(f"{bank.about.title} · {bank.about.name} {bank.about.version}"), style="bold")
    )
    split = f", {held_out} of them held out" if held_out else ", the public split"
    beside = f", {told['n_twins']} twins, {told['n_controls']} controls" if told["n_twins"] else ""
    out.print(f"{told['n_scenarios']} scenarios{split}{beside}")
    for words in told["shares"]:
        out.print(Text(f"  {words}"))
    out.print(Text(plain(bank.about.provenance), style="dim"))
    for name, cells in coverage(bank.bases).items():
        out.print(_coverage(name, cells))
    shares = ", ".join(f"{d.replace('_', ' ')} {s:.0%}" for d, s in told["domain_shares"].items())
    out.print(f"Positive points of the actions by domain: {shares or '–'}")
    points = ", ".join(f"{n} of {signed(int(p))}" for p, n in told["action_points"].items())
    out.print(f"Actions: {points or '–'}")
    if told["words"]:
        low, middle, high = told["words"]
        grades = " to ".join(f"{grade:.0f}" for grade in told["reading_grade"][::2])
        middle_grade = told["reading_grade"][1]
        out.print(
            f"Texts: {low} to {high} words, half of them {middle:.0f} or fewer; "
            f"Coleman–Liau grade {grades}, half of them {middle_grade:.1f} or less"
        )
    _print_probes(out, probe_counts(bank))
    _print_second_reading(out, told["second_reading"])


def _coverage(name: str, cells: Cells) -> Table:
    made = new_table(f"{name.capitalize()} by activity", ("",), [*Adl, "all"])
    for row, counts in cells.items():
        made.add_row(row, *(str(counts[adl] or "·") for adl in Adl), str(sum(counts.values())))
    sums = [sum(counts[adl] for counts in cells.values()) for adl in Adl]
    made.add_row("all", *map(str, sums), str(sum(sums)))
    return made


def _print_probes(out: Console, counts: ProbeCounts) -> None:
    if not counts.probes:
        return
    out.print(
        f"Probes: {counts.probes:,} with {counts.labels:,} labels on acts, "
        f"{counts.present:,} of them present ({counts.present / max(1, counts.labels):.0%}), "
        f"{counts.severe_present:,} on acts of −2"
    )
    made = new_table("What the probes' labels come to, %", ("probe",), ("n", *Rubric))
    for name, scores in counts.scores.items():
        cells = (f"{scores[r]:.1%}".replace("-", "−") if r in scores else "–" for r in Rubric)
        made.add_row(escape(plain(name)), str(counts.n[name]), *cells)
    out.print(made)


def _print_second_reading(out: Console, told: Mapping[str, Any]) -> None:
    if not told["points"] and not told["labels"]:
        return
    out.print(Text(f"Second reading. {told['what']}", style="bold"))
    for name, found in told["points"].items():
        kappas = ("weighted_kappa", "weighted_kappa_actions")
        kappa, of_actions = ("–" if found[k] is None else f"{found[k]:.3f}" for k in kappas)
        out.print(
            f"  points, {name} reading: {found['n']:,} items, weighted kappa {kappa} "
            f"(actions alone {of_actions}), "
            f"{found['n_equal']:,} equal, {found['n_two_or_more_apart']} two or more apart, "
            f"{found['n_sign_flips']} of them of opposite sign"
        )
    for name, found in told["labels"].items():
        out.print(f"  labels, {name} reading: {found['n_equal']:,} of {found['n']:,} equal")
    for kind in ("points", "labels"):
        if still := (told[kind].get("last") or {}).get("open"):
            out.print(Text(plain(f"  open: {', '.join(still)}"), style="dim"))
    for words in told["misread"]:
        out.print(Text(plain(f"  {words}"), style="dim"))


_UNHEALTHY = {
    "always": "good acts that stand in every closed-book answer",
    "never": "good acts that stand in no reference answer",
    "in_reference": "bad acts that stand in a reference answer",
    "unseen": "bad acts that stand in no answer of any kind",
}


def show_health(bank: Bank, rows: Sequence[Presence], *, as_json: bool = False) -> None:
    """Print how often items were present in a pilot's answers, and which tell none apart."""
    item_health = health(bank, rows)
    if as_json:
        told = {
            "bank": bank.about.name,
            "version": bank.about.version,
            "what": PILOT,
            **asdict(item_health),
            "items": [asdict(row) for row in rows],
        }
        print(json.dumps(told, indent=1, ensure_ascii=False))
        return
    out = console()
    title = f"Items of {bank.about.name} {bank.about.version} in the pilot's answers, % present"
    table = new_table(escape(plain(title)), ("class",), ("items", *item_health.kinds))
    for name, shares in item_health.shares.items():
        cells = (f"{s.present / s.n:.0%}" if s.n else "–" for s in shares.values())
        table.add_row(name, str(max(s.items for s in shares.values())), *cells)
    print_table(out, table)
    for field, what in _UNHEALTHY.items():
        ids = getattr(item_health, field)
        out.print(f"  {len(ids)} {what}")
        if field in ("never", "in_reference") and ids:
            out.print(Text(plain(f"    {', '.join(ids)}"), style="dim"))
    out.print(Text(f"  {PILOT}", style="dim"))
