"""How much may run at once."""

from __future__ import annotations

import os


def n_cores() -> int:
    """The processors this process may use: fewer than the machine has under Slurm or taskset."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
