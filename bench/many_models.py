"""A comparison of many models in one pass: what summarising it takes, and how large it is.

    python bench/many_models.py RUNS N

The tables of the runs in RUNS are repeated under other names until there are N systems. Prints
nothing: whoever measures it watches the process.
"""

from __future__ import annotations

import sys

import polars as pl

from careeval.protocol.tables import read_runs
from careeval.results.entries import entries
from careeval.results.tables import Runs


def repeated(runs: Runs, n_systems: int) -> Runs:
    """The same runs again and again, until there are so many systems."""
    systems = runs.responses["system"].unique().sort().to_list()
    parts = []
    for place in range(n_systems):
        is_one = pl.col("system") == systems[place % len(systems)]
        named = pl.lit(f"model-{place:03}").alias("system")
        parts.append(
            Runs(
                runs.responses.filter(is_one).with_columns(named),
                runs.judgments.filter(is_one).with_columns(named),
            )
        )
    return Runs.together(parts)


if __name__ == "__main__":
    found = entries(repeated(read_runs(sys.argv[1]), int(sys.argv[2])))
    assert len({summary.system for summary in found}) == int(sys.argv[2])
