"""The number of runs that may go on at once on this machine."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

RUN_BYTES = 250_000_000
"""Bytes of memory that one run's process needs, mostly for Inspect and the providers' clients."""

RUNS_PER_CORE = 2
"""Runs per processor; more than one, since a run waits for replies most of the time."""


def n_cores() -> int:
    """Return the number of processors that this process may use; Slurm or taskset may limit it."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def max_parallel_runs() -> int:
    """Return how many runs processors and free memory allow at the same time; at least 1."""
    n_by_cores = RUNS_PER_CORE * n_cores()
    free = free_memory()
    return max(1, n_by_cores if free is None else min(n_by_cores, free // RUN_BYTES))


def free_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes of memory that this process may still use; `None` if unknown.

    A container or a Slurm job may have less than the machine. `root` is the root of the file
    system.
    """
    free: list[int] = []
    with suppress(OSError, ValueError, IndexError):
        for line in (root / "proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                free.append(1024 * int(line.split()[1]))
    with suppress(OSError, ValueError):
        group = root / "sys/fs/cgroup"
        limit = int((group / "memory.max").read_text(encoding="ascii"))
        free.append(limit - int((group / "memory.current").read_text(encoding="ascii")))
    return max(0, min(free)) if free else None
