"""Counts of the scenarios, items and probes of a bank, and the health of its items in a pilot."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated

from pydantic import Field

from careeval.bank.load import Bank
from careeval.bank.reader import read_rows
from careeval.core.scenario import (
    Action,
    Adl,
    CareError,
    Domain,
    ItemId,
    ItemKind,
    Origin,
    Probe,
    Rubric,
    Scenario,
    Slug,
)
from careeval.errors import BankError

Cells = Mapping[str, Mapping[Adl, int]]
"""Row of a table → activity → number of scenarios."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """Word counts and readability of the scenarios' texts."""

    words: tuple[int, float, int]  # Fewest, median and most words
    grade: tuple[float, float, float]
    """Lowest, median and highest school grade (United States) by `reading_grade`."""


@dataclass(frozen=True, slots=True)
class ProbeCounts:
    """Counts of the probes and their labels; no grader is involved."""

    probes: int  # A generic probe counts once per scenario
    labels: int  # Labels of acts; labels of rungs are not counted
    present: int  # Those that are `present`
    severe_present: int  # Those that are `present` labels of acts of −2
    by_trap: Mapping[str, int]  # Trap → number of probes
    n: Mapping[str, int]  # Trap, or id of a generic probe → number of probes
    scores: Mapping[str, Mapping[Rubric, float]]
    """Trap, or id of a generic probe → rubric → the score that a perfect grader would give: points
    of all items labelled present / all positive points."""


def coverage(scenarios: Iterable[Scenario]) -> dict[str, Cells]:
    """Return tables of counts of the scenarios: field → value of the field → activity → count.

    The fields are condition, assistance, situation and actor, and the scenarios' own
    `coverage_fields`. A scenario with several situations counts in each, as in the results.
    """
    rows = list(scenarios)
    fields: dict[str, Callable[[Scenario], tuple[str | None, ...]]] = {
        "condition": lambda s: (s.condition,),
        "assistance": lambda s: (s.assistance,),
        "situation": lambda s: s.situation or (None,),
        "actor": lambda s: (s.actor,),
    }
    common = {
        name: _cells((value or "not given", s.adl) for s in rows for value in values(s))
        for name, values in fields.items()
    }
    further = dict.fromkeys(name for s in rows for name in s.coverage_fields)
    return common | {
        name: _cells((value, s.adl) for s in rows for value in s.coverage_fields[name])
        for name in further
    }


def _cells(pairs: Iterable[tuple[str, Adl]]) -> Cells:
    counts = Counter(pairs)
    rows = sorted({row for row, _ in counts})
    return {row: {adl: counts[row, adl] for adl in Adl} for row in rows}


def rests_on_technique(scenario: Scenario) -> bool:
    """Tell whether more than half of a scenario's positive points are for acts of technique."""
    good = [action for action in scenario.actions if action.points > 0]
    technique = [action.points for action in good if action.kind is ItemKind.technique]
    return 2 * sum(technique) > sum(action.points for action in good)


def composition_lines(scenarios: Sequence[Scenario]) -> list[str]:
    """Return lines on the shares of some kinds of acts and scenarios, such as too much care.

    Empty for a bank whose acts have no `error`.
    """
    acts = [action for scenario in scenarios for action in scenario.actions]
    bad = [action for action in acts if action.points < 0]
    if not any(action.error for action in bad):
        return []
    good = [action for action in acts if action.points > 0]

    def points(chosen: Iterable[Action]) -> int:
        return sum(action.points for action in chosen)

    def count(what: str, n: int, total: int) -> str:
        return f"{what}: {n} of {total}" + (f" ({n / total:.0%})" if total else "")

    technique = [scenario for scenario in scenarios if rests_on_technique(scenario)]
    too_much = [action for action in bad if action.error is CareError.too_much]
    robots = sum(scenario.actor == "robot" for scenario in scenarios)
    return [
        count("Bad acts of too much care", len(too_much), len(bad)),
        count("Scenarios that rest on technique", len(technique), len(scenarios)),
        count("Scenarios where a robot acts", robots, len(scenarios)),
        count("Positive points of the easy core", points(a for a in good if a.core), points(good)),
        count("Bad acts from pilots", sum(a.origin is Origin.pilot for a in bad), len(bad)),
        count("Never-events", sum(a.sentinel for a in bad), len(bad)),
    ]


def domain_shares(scenarios: Iterable[Scenario]) -> dict[Domain, float]:
    """Return each domain's share of the actions' positive points; empty if there are none.

    An act about two domains gives half its points to each.
    """
    points = dict.fromkeys(Domain, 0.0)
    for scenario in scenarios:
        for action in scenario.actions:
            for domain in action.domains:
                points[domain] += max(action.points, 0) / len(action.domains)
    total = sum(points.values())
    return {domain: part / total for domain, part in points.items()} if total else {}


def action_points(scenarios: Iterable[Scenario]) -> Counter[int]:
    """Return points → number of acts that have them."""
    return Counter(action.points for scenario in scenarios for action in scenario.actions)


def reading_grade(text: str) -> float:
    """Return the Coleman–Liau index, roughly the school grade that can read the text.

    The index is 0.0588 L − 0.296 S − 15.8, with L letters and S sentences per hundred words. Other
    indices have to guess syllables. A text without words has 0.

    Source: Coleman and Liau 1975, doi:10.1037/h0076540.
    """
    words = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", text)
    if not words:
        return 0.0
    letters = sum(character.isalnum() for word in words for character in word)
    sentences = max(1, len(re.findall(r"[.!?]+(?=[\s\"'”’)]|$)", text)))
    grade: float = (5.88 * letters - 29.6 * sentences) / len(words) - 15.8
    return grade


def lengths(scenarios: Iterable[Scenario]) -> Lengths | None:
    """Return word counts and readability of the scenarios' texts; `None` without scenarios."""
    texts = [scenario.text for scenario in scenarios]
    if not texts:
        return None
    words = [len(text.split()) for text in texts]
    grades = [reading_grade(text) for text in texts]
    return Lengths(
        (min(words), median(words), max(words)), (min(grades), median(grades), max(grades))
    )


def probe_counts(bank: Bank) -> ProbeCounts:
    """Return counts of a bank's probes and their labels."""
    pairs = [(s, probe) for s in bank.scenarios for probe in bank.probes.get(s.id, ())]
    labelled = [(act, probe.labels[act.id]) for s, probe in pairs for act in s.actions]
    groups: dict[str, list[tuple[Scenario, Probe]]] = {}
    for scenario, probe in pairs:
        name = probe.id if probe.trap == "generic" else probe.trap
        groups.setdefault(name, []).append((scenario, probe))
    return ProbeCounts(
        probes=len(pairs),
        labels=len(labelled),
        present=sum(present for _, present in labelled),
        severe_present=sum(present for act, present in labelled if act.points == -2),
        by_trap=dict(sorted(Counter(probe.trap for _, probe in pairs).items())),
        n={name: len(group) for name, group in sorted(groups.items())},
        scores={name: dict(_scores(group)) for name, group in sorted(groups.items())},
    )


def _scores(group: Iterable[tuple[Scenario, Probe]]) -> Iterator[tuple[Rubric, float]]:
    pairs = list(group)
    for rubric in Rubric:
        marks = [(item.points, p.labels[item.id]) for s, p in pairs for item in s.rubric(rubric)]
        if max_points := sum(points for points, _ in marks if points > 0):
            yield rubric, sum(points for points, present in marks if present) / max_points


# The item health of a bank: how often each item is present in the answers of a pilot

PILOT_FILE = "pilot.csv"
"""Name of a file in a bank's folder, with a row for each item and kind of answer.

AI gave and graded the answers. Kinds are `closed` (the protocol's prompt), `reference` (with facts
on the topic), `sink` (told to cover everything), and fixed policies such as `refuses`.
"""
CLOSED, REFERENCE = "closed", "reference"


@dataclass(frozen=True, slots=True)
class Presence:
    """Counts of one item in one kind of answer."""

    scenario: Slug  # Id of a base, a twin or a control
    item: ItemId  # Id of an action
    kind: Slug  # The kind of answer
    n: Annotated[int, Field(ge=1)]  # Answers judged
    present: Annotated[int, Field(ge=0)]  # Answers in which the item is present


@dataclass(frozen=True)
class ClassPresence:
    """Counts of the items of one class in one kind of answer."""

    items: int  # Number of items
    n: int  # Judgments of all these items
    present: int  # Those that found the item


@dataclass(frozen=True)
class ItemHealth:
    """The items of base scenarios by their presence in pilot answers, without items of 0 points.

    An act is given as its scenario's id and its own, separated by a space.
    """

    kinds: tuple[str, ...]  # Kinds of answer, in the file's order
    shares: Mapping[str, Mapping[str, ClassPresence]]  # Class of items → kind → counts
    always: tuple[str, ...]  # Good acts in every `closed` answer: every system asked knows them
    never: tuple[str, ...]  # Good acts in no `reference` answer: perhaps no answer can have them
    in_reference: tuple[str, ...]  # Bad acts in a `reference` answer: perhaps not bad, or not clear
    unseen: tuple[str, ...]  # Bad acts in no answer of any kind


def read_pilot(bank: Path, held_out: Mapping[str, str]) -> list[Presence]:
    """Return the rows of a bank's pilot; empty if it had none.

    Raises:
        BankError: As for `read_rows`; an item is present more often than it was judged; or an item
            has two rows for one kind of answer.
    """
    rows = read_rows(bank, held_out, PILOT_FILE, Presence, "row of a pilot")
    seen: set[tuple[str, str, str]] = set()
    for row in rows:
        key = (row.scenario, row.item, row.kind)
        what = f"{bank / PILOT_FILE}: {' '.join(key)}"
        if row.present > row.n:
            raise BankError(
                f"{what}: present in {row.present} of only {row.n} answers",
                hint="`present` is how many of the `n` answers have the item",
            )
        if key in seen:
            raise BankError(f"{what}: has two rows", hint="keep one of the two")
        seen.add(key)
    return rows


def item_health(bank: Bank, rows: Sequence[Presence]) -> ItemHealth:
    """Return the health of a bank's items, ignoring rows of items that are not in the bank."""
    acts = {(s.id, a.id): a for s in bank.bases for a in s.actions if a.points}
    rows = [row for row in rows if (row.scenario, row.item) in acts]
    kinds = tuple(dict.fromkeys(row.kind for row in rows))
    by_item: dict[tuple[str, str], dict[str, Presence]] = defaultdict(dict)
    for row in rows:
        by_item[row.scenario, row.item][row.kind] = row

    def ids(items: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        return tuple(" ".join(item) for item in sorted(items))

    good = {item: by_item[item] for item in by_item if acts[item].points > 0}
    bad = {item: by_item[item] for item in by_item if acts[item].points < 0}
    shares: dict[str, dict[str, ClassPresence]] = {}
    for _, name in sorted({(-act.points, item_class(act)) for act in acts.values()}):
        items = [item for item in by_item if item_class(acts[item]) == name]
        shares[name] = {
            kind: _share([by_item[item][kind] for item in items if kind in by_item[item]])
            for kind in kinds
        }
    return ItemHealth(
        kinds,
        shares,
        always=ids(
            i for i, row in good.items() if CLOSED in row and row[CLOSED].present == row[CLOSED].n
        ),
        never=ids(i for i, row in good.items() if REFERENCE in row and not row[REFERENCE].present),
        in_reference=ids(
            i for i, row in bad.items() if REFERENCE in row and row[REFERENCE].present
        ),
        unseen=ids(i for i, row in bad.items() if not any(r.present for r in row.values())),
    )


def item_class(action: Action) -> str:
    """Return the class of an act: its points, and easy core, sentinel or direction of error."""
    if action.points > 0:
        return f"+{action.points}{', easy core' if action.core else ''}"
    direction = {CareError.too_little: ", too little", CareError.too_much: ", too much", None: ""}
    sentinel = ", sentinel" if action.sentinel else direction[action.error]
    return f"−{-action.points}{sentinel}"


def _share(rows: Sequence[Presence]) -> ClassPresence:
    return ClassPresence(len(rows), sum(row.n for row in rows), sum(row.present for row in rows))
