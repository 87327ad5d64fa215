"""References over careeval's banks: what earns nothing, what earns much, and in which way.

They are fixed texts and plans, the worlds' own safe plans, answers of AI by the bank's maker, and a
very small model. None is ranked. `references.json` in a bank's folder has them; `pilot/` has the
programs that write it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from pydantic import TypeAdapter

from careeval.bank.load import OWN_BANKS
from careeval.core.scenario import Rubric
from careeval.files import read_text
from careeval.results.entry import Entry
from careeval.results.graded_rubric import Errors
from careeval.results.tables import condition_text
from careeval.stats.estimate import Estimate

FILE = "references.json"
"""Name of the file in a bank's folder."""


class Scale(NamedTuple):
    """A scale: numbers on the same one may stand side by side, unranked."""

    bank: str
    bank_n: str  # The N of the bank's version N-X
    rubric: Rubric
    given: str | None = None  # What a system is given of a world; `None` for a bank of words
    step: bool = False  # Whether it acts one act at a time


@dataclass(frozen=True)
class Reference:
    """The numbers of one reference over scenarios of the public split of a bank."""

    bank: str
    bank_version: str
    name: str
    about: str  # A sentence on what it is
    rubric: Rubric
    given: str | None  # As in `Scale`
    step: bool
    judged_by: str
    n_scenarios: int
    n_epochs: int  # Responses to each scenario
    severe: Errors
    score: Estimate
    data: str  # Folder or file of its responses in the repository

    @property
    def condition(self) -> str:
        """Return what it was given and how it acted, in words; empty for a bank of words."""
        return condition_text(self.given, step=self.step)

    @property
    def scale(self) -> Scale:
        """Return its scale."""
        n = self.bank_version.partition("-")[0]
        return Scale(self.bank, n, self.rubric, self.given, self.step)


_FORMAT = TypeAdapter(list[Reference])


@cache
def own_references() -> tuple[Reference, ...]:
    """Return the references over careeval's banks, best score first in each bank."""
    texts = [read_text(folder / FILE) for folder in OWN_BANKS.values()]
    return tuple(each for text in texts for each in _FORMAT.validate_json(text))


def references_json(references: Iterable[Reference]) -> str:
    """Return the content of `references.json`, best score first.

    Numbers have six decimals, since more depend on the processor.
    """
    best_first = sorted(references, key=lambda each: (each.score.value is None, -_score(each)))
    text = _FORMAT.dump_json(best_first)
    content = json.loads(text, parse_float=lambda digits: round(float(digits), 6))
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _score(reference: Reference) -> float:
    return reference.score.value or 0


def scale_of(entry: Entry) -> Scale:
    """Return the scale of an entry."""
    return Scale(entry.bank, entry.bank_n, entry.rubric, entry.given, entry.step)


def by_scale(entries: Iterable[Entry]) -> dict[Scale, list[Entry]]:
    """Return scale → its entries, without entries whose scenarios may not be shown."""
    scales: dict[Scale, list[Entry]] = {}
    for each in entries:
        if each.public:
            scales.setdefault(scale_of(each), []).append(each)
    return scales


def references_beside(entries: Sequence[Entry]) -> list[Reference]:
    """Return the references on the scale of entries that share one, best score first.

    Those that were submitted, and so are among the entries, are left out.
    """
    return [
        each
        for each in own_references()
        if each.scale == scale_of(entries[0])
        and not any(_is_submission_of(entry, each) for entry in entries)
    ]


def _is_submission_of(entry: Entry, reference: Reference) -> bool:
    is_listed_apart = entry.card is not None and not entry.card.rank
    own = entry.system, entry.grader.model, entry.n_scenarios, entry.n_epochs
    return is_listed_apart and own == (
        reference.name, reference.judged_by, reference.n_scenarios, reference.n_epochs
    )  # fmt: skip
