"""Runs and samples for the tests of audits: responses, judgments and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random

from careeval.core.rating import Label, Reading
from careeval.people.audit.sample import AuditSample, DrawnJudgment, Stratum
from careeval.results.tables import Runs
from results.authored import Marks, judgments, responses


def judged(systems: Mapping[str, Marks], split: str = "public") -> Runs:
    """Systems whose answers have words, judged on the paper's five points."""
    said = {"text": "I wait.", "scenario_text": "She sits on the bed.", "split": split}
    return Runs.of(
        [row for name, marks in systems.items() for row in responses(marks, system=name, **said)],
        [
            {**row, "item_text": f"Does {row['item']}."}
            for name, marks in systems.items()
            for row in judgments(marks, system=name)
        ],
    )


def at_random(seed: int, n_scenarios: int, n_epochs: int, chance: float = 0.5) -> Marks:
    """Scenarios whose five items are each present with one chance."""
    random = Random(seed)
    return {
        f"eating-{k}": [
            "".join("1" if random.random() < chance else "0" for _ in range(5))
            for _ in range(n_epochs)
        ]
        for k in range(n_scenarios)
    }


def read_by(
    sample: AuditSample, says: Callable[[DrawnJudgment, Stratum], bool | None], *raters: str
) -> Iterator[Label]:
    """Labels of some raters who all say the same; `None` is unsure."""
    for each in sample.hidden.drawn:
        said = says(each, sample.hidden.strata[each.stratum])
        reading = Reading.unsure if said is None else (Reading.absent, Reading.present)[said]
        for rater in raters or ("ann", "ben"):
            yield Label(rater, each.judgment, reading)
