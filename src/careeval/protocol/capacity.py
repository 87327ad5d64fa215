"""How much may run at once."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

RUN_BYTES = 250_000_000
"""Memory of the process of one run: most of it is Inspect and the clients of providers."""

RUNS_PER_CORE = 2
"""Runs on one processor: they wait for replies most of the time."""


def n_cores() -> int:
    """The processors this process may use: fewer than the machine has under Slurm or taskset."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def runs_at_once() -> int:
    """Runs that may go on side by side, by the processors and the memory that is free; 1 at least.

    The others wait.
    """
    most = RUNS_PER_CORE * n_cores()
    free = free_memory()
    return max(1, most if free is None else min(most, free // RUN_BYTES))


def free_memory(root: Path = Path("/")) -> int | None:
    """Bytes of memory that this process and what it starts may still take; `None` if unknown.

    A container or a Slurm job may have less than the machine.
    """
    free: list[int] = []
    with suppress(OSError, ValueError, IndexError):
        for line in (root / "proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                free.append(1024 * int(line.split()[1]))
    with suppress(OSError, ValueError):
        group = root / "sys/fs/cgroup"
        most = int((group / "memory.max").read_text(encoding="ascii"))
        free.append(most - int((group / "memory.current").read_text(encoding="ascii")))
    return max(0, min(free)) if free else None
