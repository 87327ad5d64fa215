"""Nodes of Ray on this machine, which can be taken away."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from faults.processes import kill, processes

SIZE = {"object_store_memory": 80_000_000}


class Nodes:
    """Three nodes, the head among them."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 1, "include_dashboard": False, **SIZE}
        self._cluster = Cluster(initialize_head=True, connect=False, head_node_args=head)
        self._others: list[Any] = []
        self.bring_back()
        self.address: str = self._cluster.address  # of the head

    @property
    def session(self) -> Path:
        """Folder of all that Ray writes."""
        return Path(self._cluster.head_node.get_session_dir_path())

    def take_one_away(self) -> bool:
        """Kill a node that is not the head."""
        self._cluster.remove_node(self._others.pop(), allow_graceful=False)
        return True

    def bring_back(self) -> None:
        """Add the nodes that lack."""
        while len(self._others) < 2:
            self._others.append(self._cluster.add_node(num_cpus=1, **SIZE))

    def close(self) -> None:
        """End all of them."""
        self._cluster.shutdown()


@contextmanager
def nodes_of_ray() -> Iterator[Nodes]:
    """Have three nodes; they and their processes have the environment as it is now."""
    nodes = Nodes()
    try:
        yield nodes
    finally:
        nodes.close()


def kill_one(mark: Path, line: bytes) -> bool:
    """Kill one of the processes with these words in their command line; return whether one was."""
    pids = [pid for pid, words in processes(mark) if line in words]
    return bool(pids) and kill(random.choice(pids))
