"""Labels that somebody types for a labeller, from paper or from the telephone.

The labels are in a CSV file with the columns `rater`, `judgment`, `label`, `evidence` and `note`,
such as the sheet of `careeval audit sample` once it is filled in. The labels are checked as the app
checks those that labellers send, against the part of the audit that labellers may see.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from careeval.core.rating import Reading
from careeval.people.audit.labels import HANDED_IN, has_handed_in, label_questions, label_task
from careeval.people.audit.plan import BlindPlan, LabelSeat
from careeval.people.filled_forms import read_rows
from careeval.people.paper.typed_ratings import TypedPage, TypedPages
from careeval.people.store import Store
from careeval.people.workbench import FINISHED

NEEDED = ("rater", "judgment", "label")
COLUMNS = (*NEEDED, "evidence", "note")

_READINGS = {short: reading.value for reading in Reading for short in (reading.value, reading[0])}
_SHORT = re.compile(r"([a-z]+)0*([0-9]+)", re.IGNORECASE)


def read_typed_labels(
    path: Path, blind: BlindPlan, store: Store, *, replace: bool = False, hand_in: bool = False
) -> tuple[TypedPage, ...]:
    """Return the labels of a file, checked against the audit and against earlier answers.

    A row without label, evidence and note counts as not labelled yet.

    Args:
        path: The file, separated by commas or semicolons.
        blind: The part of the audit that labellers may see.
        store: The audit's.
        replace: Whether earlier answers may be replaced by different ones.
        hand_in: Whether the labellers whose labels are in the file hand in with it.

    Raises:
        ReviewError: A row cannot be used; the message names the line of each problem.
    """
    pages = TypedPages(store, replace=replace)
    reader = _LabelReader(blind, store, pages)
    read_rows(path, NEEDED, COLUMNS, reader.take)
    if hand_in:
        for rater in sorted({page.rater for page in pages.filled()}):
            pages.page(rater, FINISHED, None).values[HANDED_IN] = "yes"
    return pages.filled()


class _LabelReader:
    def __init__(self, blind: BlindPlan, store: Store, pages: TypedPages) -> None:
        self.blind, self.pages = blind, pages
        self.done = {name for name, work in store.all_work().items() if has_handed_in(work)}
        self.by_short = {_shortened(name): name for name in blind.judgments}

    def take(self, line: int, row: Mapping[str, str]) -> None:
        """Note the label of a row.

        Raises:
            ValueError: The row is not a valid label of this audit, or a duplicate.
        """
        label = row["label"].lower()
        answers = {"says": _READINGS.get(label, label)}
        answers |= {name: row[name] for name in ("evidence", "note")}
        if not any(answers.values()):
            return
        seat = self._seat(row["rater"])
        name = self.by_short.get(_shortened(row["judgment"]), "")
        if name not in seat.judgments:
            raise ValueError(f"{row['judgment']!r} is not a judgment of {seat.id}")
        if label and label not in _READINGS:
            short = ", ".join(reading[0] for reading in Reading)
            raise ValueError(
                f"label must be one of {', '.join(Reading)}, or {short}, not {row['label']!r}"
            )
        page = self.pages.page(seat.id, label_task(name), seat.judgments.index(name) + 1)
        for question in label_questions(self.blind.judgments[name].response):
            column = "label" if question.field == "says" else question.field
            self.pages.note(page, question, answers[question.field], line, column)

    def _seat(self, rater: str) -> LabelSeat:
        seat = self.blind.seat(rater) if self.pages.has(rater) else None
        if seat is None:
            raise ValueError(f"{rater!r} is not a labeller of this audit, or has withdrawn")
        if rater in self.done:
            raise ValueError(
                f"{rater} has handed in, so their labels can no longer be changed: remove the row"
            )
        return seat


def _shortened(judgment: str) -> str:
    """Return the short form of a judgment's name, in lower case: j12 for j00012 and for J12."""
    match = _SHORT.fullmatch(judgment)
    return f"{match[1]}{match[2]}".lower() if match else judgment
