"""The item health of a bank: how often each item is present in the answers of a pilot.

`pilot.csv` in a bank's folder has a row for each item and kind of answer. AI gave and graded the
answers. Kinds are `closed` (the protocol's prompt), `reference` (with facts on the topic), `sink`
(told to cover everything), and fixed policies such as `refuses`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from careeval.bank.load import Bank
from careeval.bank.row_files import read_rows
from careeval.core.scenario import Action, CareError, ItemId, Slug
from careeval.errors import BankError

FILE = "pilot.csv"
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
    rows = read_rows(bank, held_out, FILE, Presence, "row of a pilot")
    seen: set[tuple[str, str, str]] = set()
    for row in rows:
        key = (row.scenario, row.item, row.kind)
        what = f"{bank / FILE}: {' '.join(key)}"
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
