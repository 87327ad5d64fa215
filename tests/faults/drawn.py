"""The runs and strikes that a campaign of faults draws from its seed."""

from __future__ import annotations

import random
from dataclasses import dataclass

from careeval.protocol.ledger import CALLS_FILE, SPENT_FILE
from faults.damage import DAMAGES, LOG


@dataclass(frozen=True)
class Shape:
    """The systems, scenarios and samples of a run; runs of one shape share an undisturbed run."""

    models: tuple[str, ...]
    n_scenarios: int
    n_samples: int


SHAPES = (Shape(("a",), 3, 4), Shape(("a",), 5, 3), Shape(("a", "b"), 3, 3), Shape(("b",), 4, 4))

KILLS = ("kill parent", "kill worker", "kill all", "two SIGINT")
SIGNALS = ("SIGTERM", "SIGINT", "SIGTERM worker")
FULL = "full disk"
SET_UP = "setting up"
MOMENTS = ("starting", SET_UP, "answered", "answered", "answered", "ending")
FILES = (LOG, CALLS_FILE, SPENT_FILE)


@dataclass(frozen=True)
class Strike:
    """One strike at a process."""

    kind: str  # what happens
    # As the process starts, as its folder is set up, when a share is answered, or at its very end
    moment: str
    share: float  # of the calls, or of the span of time that the moment leaves
    damage: tuple[tuple[str, str], ...] = ()  # files that are damaged afterwards, and how
    hasty: bool = False  # whether the run is resumed at once, while workers may live

    @property
    def damages(self) -> tuple[str, ...]:
        """Names of the kinds of damage."""
        return tuple(f"{name.partition('.')[0]} {how}" for name, how in self.damage)

    def __str__(self) -> str:
        named = {"starting": "at start", SET_UP: "at set-up", "ending": "at end"}
        when = named.get(self.moment, f"{self.share:.0%}")
        return " -".join((f"{self.kind} {when}", *self.damages))


@dataclass(frozen=True)
class Drawn:
    """All that is to happen in one run."""

    number: int  # of the run in its campaign
    shape: Shape  # what is asked
    latency: float  # seconds before each reply of the server
    asking: tuple[Strike, ...] = ()  # what happens to the run and its resuming, one after the other
    grading: tuple[Strike, ...] | None = None  # the same of a later grading; `None` without one
    # Whether the server fails now and then, and repeats in some errors what it got
    unsteady: bool = False
    # Share of the whole cost at which the money runs out; `None` without a budget
    budget: float | None = None

    @property
    def needs_a_disk(self) -> bool:
        """Tell whether the run needs a disk of its own, which can be filled."""
        return any(strike.kind == FULL for strike in (*self.asking, *(self.grading or ())))

    def __str__(self) -> str:
        parts = [", ".join(map(str, self.asking))] if self.asking else []
        if self.grading is not None:
            parts.append("grade: " + (", ".join(map(str, self.grading)) or "undisturbed"))
        parts += ["server errors"] * self.unsteady
        parts += [f"budget {self.budget:.0%}"] if self.budget else []
        return "; ".join(parts)


def draw(seed: int, number: int) -> Drawn:
    """Return the n-th run of a campaign."""
    rng = random.Random(f"{seed}:{number}")

    def strike() -> Strike:
        kind = rng.choice([*KILLS[:3], *KILLS, *SIGNALS, FULL, FULL])
        damage = tuple(
            (name, rng.choice(list(DAMAGES)))
            for name in FILES
            if kind in KILLS and rng.random() < 0.25
        )
        hasty = kind == "kill parent" and rng.random() < 0.4
        return Strike(kind, rng.choice(MOMENTS), rng.random(), () if hasty else damage, hasty)

    def strikes(n: int) -> tuple[Strike, ...]:
        return tuple(strike() for _ in range(n))

    return Drawn(
        number,
        rng.choice(SHAPES),
        rng.uniform(0.1, 0.3),
        strikes(rng.choice([1, 1, 1, 2, 2, 3])),
        strikes(rng.choice([1, 1, 2])) if rng.random() < 0.35 else None,
        rng.random() < 0.4,
        rng.uniform(0.2, 0.9) if rng.random() < 0.2 else None,
    )
