"""The truth of each judgment from people's labels, and the judgments that need adjudication."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from careeval.core.rating import Label, Reading
from careeval.errors import ReviewError
from careeval.people.audit.sample import AuditSample
from careeval.results.people_audit import Waiting


@dataclass(frozen=True, slots=True)
class Truth:
    """The truth about one item, and how it was settled."""

    present: bool | None  # True or false; `None` if it has none
    how: str
    """`adjudicated`; `majority` of the raters who are sure; `single` if one rater is sure; if there
    is no truth, `tied` or `unsure`."""


def by_judgment(sample: AuditSample, labels: Iterable[Label]) -> dict[str, list[Label]]:
    """Return judgment → its labels, in the order given.

    Raises:
        ReviewError: A label is for a judgment outside the sample, or a rater labelled a judgment
            twice, or it was adjudicated twice.
    """
    in_sample = {each.judgment for each in sample.hidden.drawn}
    labelled: dict[str, list[Label]] = {}
    seen: set[tuple[str, str]] = set()
    for label in labels:
        if label.judgment not in in_sample:
            raise ReviewError(
                f"{label.rater} labels {label.judgment!r}, which is not in this sample",
                hint="give the labels together with the sample that they were made for",
            )
        author = "" if label.adjudicated else label.rater
        if (author, label.judgment) in seen:
            raise ReviewError(
                f"{label.judgment} was adjudicated twice"
                if label.adjudicated
                else f"{label.rater} labels {label.judgment} twice",
                hint="keep one of the two",
            )
        seen.add((author, label.judgment))
        labelled.setdefault(label.judgment, []).append(label)
    return labelled


def truth_of(labels: Sequence[Label]) -> Truth:
    """Return the adjudicated truth of a judgment, else that of most raters who are sure."""
    for label in labels:
        if label.adjudicated:
            if label.says is Reading.unsure:
                return Truth(None, "unsure")
            return Truth(label.says is Reading.present, "adjudicated")
    present, absent = (
        sum(label.says is reading for label in labels)
        for reading in (Reading.present, Reading.absent)
    )
    if present == absent:
        return Truth(None, "tied" if present else "unsure")
    return Truth(present > absent, "single" if present + absent == 1 else "majority")


def waiting(labels: Mapping[str, Sequence[Label]], truths: Mapping[str, Truth]) -> Waiting:
    """Return the numbers of judgments that wait for adjudication.

    Args:
        labels: Judgment → its labels.
        truths: Judgment → its truth.
    """
    open_ = [
        truths[judgment].how
        for judgment, own in labels.items()
        if not any(label.adjudicated for label in own)
        and (len(readings := {label.says for label in own}) > 1 or Reading.unsure in readings)
    ]
    return Waiting(*(open_.count(how) for how in ("tied", "unsure", "single", "majority")))
