"""Runs as commands read them: what is large and new, by several processes at once."""

from __future__ import annotations

import signal
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from careeval.protocol.cores import n_cores
from careeval.protocol.logs import cache_tables, read_runs, uncached_runs
from careeval.results.tables import Runs

WORTH_BYTES = 20_000_000
"""Logs from which further processes, which take most of a second to start, save more than that."""


def runs_in(*folders: Path | str) -> Runs:
    """As `careeval.protocol.logs.read_runs`.

    Logs that were not read since they changed are read first, each run by one of as many processes
    as there are cores; each leaves its tables beside its logs. It is for commands alone: a program
    that reads runs would have its main module loaded again in each process.
    """
    sizes = uncached_runs(*folders)
    n = min(len(sizes), n_cores())
    if n > 1 and sum(sizes.values()) > WORTH_BYTES:
        pool = ProcessPoolExecutor(n, get_context("spawn"), initializer=_leave_ctrl_c)
        try:
            list(pool.map(cache_tables, sizes))
        finally:
            pool.shutdown(cancel_futures=True)
    return read_runs(*folders)


def _leave_ctrl_c() -> None:
    """To the command, which ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
