"""The engines that carry out cells: processes of this machine, or a Ray cluster.

An engine gets paths and numbers and returns numbers: no scenario, response or reason reaches Ray's
object store, its spilled files or its logs. Keys come from the environment of each node.
"""

from __future__ import annotations

import os
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

from careeval.errors import ProtocolError
from careeval.protocol.machine import max_parallel_runs
from careeval.protocol.sweep_cells import CellState, Lease
from careeval.sweep.cells import carry_out_cell, grading_problem
from careeval.sweep.description import Cell

HERE = "local"
RAY = "ray"

MAX_STARTED = 1_000
"""The most cells given to a cluster at a time, queued or at work."""


class Engine(Protocol):
    """An engine that carries out cells, each under a lease."""

    def has_room(self, cell: Cell) -> bool:
        """Tell whether the engine can start a cell now."""

    def check_gradings(self, root: Path) -> None:
        """Check, where the cells are carried out, that the graders of a sweep can be called.

        Raises:
            ProtocolError: One cannot; nothing has been sent.
        """

    def start(self, root: Path, cell: Cell, lease: Lease) -> None:
        """Start a cell."""

    def ended_leases(self, seconds: float) -> list[Lease]:
        """Wait at most `seconds` until a lease has ended; return the leases that have."""

    def close(self) -> None:
        """Release the engine's resources; all cells must have ended before."""


def engine(name: str) -> Engine:
    """Return the engine with a name: `local`, `ray`, or the address of a Ray cluster.

    Raises:
        ProtocolError: The name is unknown, Ray is not installed, or its cluster cannot be reached.
    """
    if name == HERE:
        return LocalEngine()
    if name == RAY or name.startswith("ray://"):
        return RayEngine("auto" if name == RAY else name)
    raise ProtocolError(
        f"{name!r} is not an engine that can carry out cells",
        hint="use local, ray or ray://HOST:10001",
    )


class LocalEngine:
    """An engine that carries out cells in processes of this machine."""

    def __init__(self) -> None:
        self._max_cells = max_parallel_runs()
        self._threads = ThreadPoolExecutor(self._max_cells)
        self._working: dict[Future[Lease], Cell] = {}

    def has_room(self, cell: Cell) -> bool:
        """Tell whether there is room; only one cell at a time may load a model on this machine."""
        if len(self._working) >= self._max_cells:
            return False
        return not (_is_heavy(cell) and any(map(_is_heavy, self._working.values())))

    def check_gradings(self, root: Path) -> None:
        """Check the graders of a sweep in a process of its own, which loads Inspect."""
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            _raise_for(pool.submit(grading_problem, root).result())

    def start(self, root: Path, cell: Cell, lease: Lease) -> None:
        """Start a cell in a process of its own, watched by a thread."""
        self._working[self._threads.submit(carry_out_cell, root, cell.path, lease.number)] = cell

    def ended_leases(self, seconds: float) -> list[Lease]:
        """Wait at most `seconds` until a lease has ended; return the leases that have."""
        done, _ = wait(self._working, seconds, FIRST_COMPLETED)
        for future in done:
            del self._working[future]
        return [future.result() for future in done]

    def close(self) -> None:
        """Wait until every cell has ended."""
        self._threads.shutdown()


def _is_heavy(cell: Cell) -> bool:
    return cell.asks and (cell.system.server is not None or cell.system.run.local)


class RayEngine:
    """An engine that carries out cells as tasks of a Ray cluster."""

    def __init__(self, address: str) -> None:
        # before the import: Ray would send statistics of use to its makers
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        try:
            import ray
        except ImportError as error:
            raise ProtocolError(
                "Ray is not installed", hint="pip install 'careeval[ray]', on every node"
            ) from error
        try:
            ray.init(address, log_to_driver=False, configure_logging=False)
        except (ConnectionError, ValueError) as error:
            raise ProtocolError(
                f"no Ray cluster answers at {address!r}",
                hint="start one with 'ray start --head --disable-usage-stats', "
                "or give its address: --on ray://HOST:10001",
            ) from error
        self._ray = ray
        # no retries by Ray: the driver gives the cell a new lease
        self._task: Any = ray.remote(max_retries=0, max_calls=1)(_attend_on_node)
        self._working: dict[Any, Lease] = {}

    def has_room(self, cell: Cell) -> bool:  # noqa: ARG002
        """Tell whether Ray may get one more cell; it queues those that have no room yet."""
        return len(self._working) < MAX_STARTED

    def check_gradings(self, root: Path) -> None:
        """Check the graders of a sweep on a node, which has the keys."""
        check = self._ray.remote(max_retries=0, num_cpus=1)(_grading_problem_on_node)
        _raise_for(self._ray.get(check.remote(str(root))))

    def start(self, root: Path, cell: Cell, lease: Lease) -> None:
        """Start a cell on a node that has the processors and GPUs that it needs."""
        needs = {"num_cpus": 1.0, "num_gpus": 0.0}
        if cell.asks:
            needs = {"num_cpus": cell.system.cpus, "num_gpus": cell.system.gpus}
        task = self._task.options(**needs)
        self._working[task.remote(str(root), cell.path, lease.number)] = lease

    def ended_leases(self, seconds: float) -> list[Lease]:
        """Wait at most `seconds` until a lease has ended; return the leases that have."""
        if not self._working:
            return []
        done, _ = self._ray.wait(list(self._working), timeout=seconds)
        return [self._result(task, self._working.pop(task)) for task in done]

    def _result(self, task: Any, lease: Lease) -> Lease:
        """Return a task's lease; a lost one if its process or node is gone."""
        try:
            return Lease(**self._ray.get(task))
        except self._ray.exceptions.RayError:
            return Lease(lease.cell, lease.number, CellState.lost)

    def close(self) -> None:
        """Disconnect from the cluster, which keeps running."""
        self._ray.shutdown()


def _raise_for(problem: tuple[str, str] | None) -> None:
    if problem:
        raise ProtocolError(problem[0], hint=problem[1])


def _grading_problem_on_node(root: str) -> tuple[str, str] | None:
    return grading_problem(Path(root))


def _attend_on_node(root: str, path: str, number: int) -> dict[str, Any]:
    """Carry out a cell; return the lease as plain data, without the text of a failure."""
    return asdict(carry_out_cell(Path(root), path, number)) | {"why": ""}
