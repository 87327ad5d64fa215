"""Labels of an audit: the truth that people settle for each judgment, and what waits for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from careeval.core.label import Label, Reading
from careeval.errors import ReviewError
from careeval.results.trust.audit.sample import Sample


@dataclass(frozen=True, slots=True)
class Truth:
    """Whether an item is there, as people settled it, or `None`; and how that came about."""

    present: bool | None
    how: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """Judgments on which raters differ, or somebody is unsure, and that nobody adjudicated.

    Attributes:
        tied: As many say present as absent: left out until then.
        unsure: Nobody is sure: left out until then.
        one_sure: One is sure and whoever else read it is not: what the one says counts until then.
        outvoted: More say one than the other, and somebody does not: what most say counts.
    """

    tied: int
    unsure: int
    one_sure: int
    outvoted: int

    @property
    def n(self) -> int:
        """All of them."""
        return self.tied + self.unsure + self.one_sure + self.outvoted

    @property
    def left_out(self) -> int:
        """Those that have no truth until then."""
        return self.tied + self.unsure

    def kinds(self) -> str:
        """Return how many of each kind, in words; empty where nothing waits."""
        kinds = (
            (self.tied, "tied and left out"),
            (self.unsure, "unsure to all and left out"),
            (self.one_sure, "with one sure rater, others being unsure"),
            (self.outvoted, "decided by most until then"),
        )
        return "; ".join(f"{n:,} {what}" for n, what in kinds if n)


def by_judgment(sample: Sample, labels: Iterable[Label]) -> dict[str, list[Label]]:
    """Return judgment → its labels, in the order in which they are given.

    Raises:
        ReviewError: A label is of no judgment of this sample, or there are two where there is to be
            one.
    """
    known = {each.judgment for each in sample.hidden.drawn}
    labelled: dict[str, list[Label]] = {}
    seen: set[tuple[str, str]] = set()
    for label in labels:
        if label.judgment not in known:
            raise ReviewError(
                f"{label.rater} labels {label.judgment!r}, which is not in this sample",
                hint="labels belong to the sample that they were given for",
            )
        who = "" if label.adjudicated else label.rater
        if (who, label.judgment) in seen:
            raise ReviewError(
                f"{label.judgment} was adjudicated twice"
                if label.adjudicated
                else f"{label.rater} labels {label.judgment} twice"
            )
        seen.add((who, label.judgment))
        labelled.setdefault(label.judgment, []).append(label)
    return labelled


def truth_of(labels: Sequence[Label]) -> Truth:
    """Return what was adjudicated of a judgment; else what most raters say who are sure."""
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
    """Return how many judgments wait for somebody to adjudicate, of each kind.

    Args:
        labels: Judgment → what people say of it.
        truths: Judgment → what they settled.
    """
    open_ = [
        truths[judgment].how
        for judgment, given in labels.items()
        if not any(label.adjudicated for label in given)
        and (len(readings := {label.says for label in given}) > 1 or Reading.unsure in readings)
    ]
    return Waiting(*(open_.count(how) for how in ("tied", "unsure", "single", "majority")))
