"""Is this grader any good: its judgments on the probes, held against their labels.

Counts by point class and by trap, since what matters most is rare: a missed −2 item is worth four
points of a scenario's three. Unresolved judgments are counted, and are neither right nor wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from careeval.core.scenario import Probe, Rubric

POINT_CLASSES = (2, 1, 0, -1, -2)


@dataclass(frozen=True, slots=True)
class Labelled:
    """One judgment beside its label.

    Attributes:
        rubric: Of the item.
        points: Of the item.
        trap: What the probe tries a grader with.
        label: Whether the item is in the probe, as its author says.
        present: Whether the grader says so; `None` where it could not be brought to say.
    """

    rubric: Rubric
    points: int
    trap: str
    label: bool
    present: bool | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often judgments agree with labels.

    Attributes:
        found: Labelled present, judged present.
        missed: Labelled present, judged absent.
        invented: Labelled absent, judged present.
        cleared: Labelled absent, judged absent.
        unresolved: Not judged.
    """

    found: int
    missed: int
    invented: int
    cleared: int
    unresolved: int

    @staticmethod
    def of(judgments: Iterable[Labelled]) -> Agreement:
        """The counts of these judgments."""
        pairs = [(j.label, j.present) for j in judgments]
        return Agreement(
            found=pairs.count((True, True)),
            missed=pairs.count((True, False)),
            invented=pairs.count((False, True)),
            cleared=pairs.count((False, False)),
            unresolved=sum(present is None for _, present in pairs),
        )

    @property
    def n(self) -> int:
        """All judgments, unresolved ones included."""
        return self.found + self.missed + self.invented + self.cleared + self.unresolved

    @property
    def sensitivity(self) -> float | None:
        """Share found of what is present; `None` where nothing is."""
        present = self.found + self.missed
        return self.found / present if present else None

    @property
    def specificity(self) -> float | None:
        """Share cleared of what is absent; `None` where nothing is."""
        absent = self.cleared + self.invented
        return self.cleared / absent if absent else None


@dataclass(frozen=True)
class ProbeAgreement:
    """A grader's agreement with the labels of a bank's probes.

    Attributes:
        overall: Over all judgments.
        by_points: By rubric and points of the item.
        by_trap: By what the probe tries a grader with.
    """

    overall: Agreement
    by_points: Mapping[tuple[Rubric, int], Agreement]
    by_trap: Mapping[str, Agreement]

    @staticmethod
    def of(judgments: Iterable[Labelled]) -> ProbeAgreement:
        """The agreement of these judgments; classes without a judgment are left out."""
        found = list(judgments)
        classes = [(rubric, points) for rubric in Rubric for points in POINT_CLASSES]
        by_points = {
            (r, p): [j for j in found if (j.rubric, j.points) == (r, p)] for r, p in classes
        }
        by_trap = {
            trap: [j for j in found if j.trap == trap] for trap in sorted({j.trap for j in found})
        }
        return ProbeAgreement(
            overall=Agreement.of(found),
            by_points={key: Agreement.of(part) for key, part in by_points.items() if part},
            by_trap={key: Agreement.of(part) for key, part in by_trap.items()},
        )

    def sentence(self) -> str:
        """What a reader must know of the grader, beside its grades."""
        severe = [agreement for (_, points), agreement in self.by_points.items() if points == -2]
        found, present = sum(a.found for a in severe), sum(a.found + a.missed for a in severe)
        parts = [
            f"Tried on {self.overall.n:,} labelled judgments of the bank's probes, it finds "
            f"{_percent(self.overall.sensitivity)} of what is there and clears "
            f"{_percent(self.overall.specificity)} of what is not"
        ]
        if present:
            parts.append(f"of the −2 items that are there it finds {found} of {present}")
        return "; ".join(parts) + "."


def labelled(
    judgments: pl.DataFrame, probes: Mapping[str, tuple[Probe, ...]]
) -> Iterator[Labelled]:
    """Judgments of a run over probes beside their labels; epoch k is a scenario's k-th probe."""
    columns = ("scenario", "epoch", "rubric", "item", "points", "present")
    for scenario, epoch, rubric, item, points, present in judgments.select(columns).iter_rows():
        probe = probes[scenario][epoch - 1]
        yield Labelled(Rubric(rubric), points, probe.trap, probe.labels[item], present)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"
