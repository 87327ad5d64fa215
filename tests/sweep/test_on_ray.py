"""Tests of sweeps on three real nodes of Ray: killed work is done again, and no text leaks."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyrage
import pytest

from careeval.bank.sealed import KEY_VARIABLE, pack, seal
from careeval.cli.app import OK, run
from careeval.protocol.tables import read_runs
from careeval.sweep.progress import CellStatus, sweep_progress
from faults.outcome import differences
from faults.processes import MARK, processes, wait_until
from support.fake_server import Completion, FakeServer, Request, well
from support.fakes import write_bank
from support.sweep_files import GRADER, IDS, swept, write_sweep
from support.sweep_nodes import Nodes, kill_one, nodes_of_ray

API_KEY = "sk-planted-on-the-nodes"
SECRET = "Scenario eating-h01"


def repeated(request: Request) -> Completion:
    """Repeat what a held-out scenario asks; answer others as always."""
    said = well(request)
    return Completion(f"You said: {request.user}") if SECRET in request.user else said


@dataclass(frozen=True)
class Place:
    """Nodes of Ray, a server that they reach, and what drivers are given."""

    work: Path  # folder by which processes are marked
    nodes: Nodes  # the nodes
    server: FakeServer  # the server
    bank: Path  # the bank, whose held-out split is sealed
    held_out_key: str  # what opens the split

    def start(self, file: Path, root: Path) -> subprocess.Popen[bytes]:
        """Start a driver, which has no key of the models' and names the held-out scenarios."""
        command = [sys.executable, "-m", "careeval", "sweep", str(file), "-o", str(root)]
        with printed(root).open("wb") as log:
            return subprocess.Popen(
                [*command, "--on", "ray", "--yes"],
                env=os.environ
                | {"RAY_ADDRESS": self.nodes.address, KEY_VARIABLE: self.held_out_key},
                stderr=log,
                stdout=subprocess.DEVNULL,
            )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Have three nodes, whose environment has the keys."""
    work = tmp_path_factory.mktemp("nodes")
    key = str(pyrage.x25519.Identity.generate())
    bank = write_bank(work / "bank", IDS)
    write_bank(work / "apart", ["eating-h01"], split="held-out")
    seal(pack(work / "apart"), bank, key)
    with FakeServer(repeated, latency=0.3) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv(MARK, str(work))
        patch.setenv("FAKE_BASE_URL", server.base_url)
        patch.setenv("FAKE_API_KEY", API_KEY)
        patch.setenv(KEY_VARIABLE, key)
        with nodes_of_ray() as nodes:
            patch.delenv("FAKE_API_KEY")
            yield Place(work, nodes, server, bank, key)


def printed(root: Path) -> Path:
    """Return the file that has what a sweep's driver prints."""
    return root.with_suffix(".stderr")


def wait_for(moment: Callable[[], object], driver: subprocess.Popen[bytes], root: Path) -> None:
    """Wait for a moment of a sweep that has not ended."""
    assert wait_until(moment, driver, seconds=120), printed(root).read_text()


def test_what_is_struck_down_is_done_again(place: Place, tmp_path: Path) -> None:
    """Four cells; a task, a node and the driver are killed; the tables are those of one process."""
    file, root = write_sweep(tmp_path, place.bank), tmp_path / "swept"
    driver = place.start(file, root)
    wait_for(lambda: place.server.n_answered("ask") >= 1, driver, root)
    # its cell's own process then ends by itself
    wait_for(lambda: kill_one(place.work, b"ray::_attend_on_node"), driver, root)
    place.nodes.take_one_away()
    wait_for(lambda: place.server.n_answered("grade") >= 1, driver, root)
    driver.kill()
    driver.wait()
    place.nodes.bring_back()
    again = place.start(file, root)
    assert again.wait(240) == 0
    n_answered = place.server.n_answered("ask") + place.server.n_answered("grade")
    n_ideal, n_in_flight = 2 * 2 * len(IDS), 3 * 4
    assert n_answered <= 1.02 * n_ideal + n_in_flight
    now = sweep_progress(root)
    assert now.n(CellStatus.complete) == len(now.cells) == 4
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAKE_API_KEY", API_KEY)
        whole = ["run", "-m", "openai-api/fake/a", "--samples", "2", "--yes", "--grader", GRADER]
        assert run([*whole, "--bank", str(place.bank), "-o", str(tmp_path / "run")]) == OK
    assert differences(swept(root), swept(tmp_path / "run")) == []


def test_ray_is_told_paths_and_numbers_alone(place: Place, tmp_path: Path) -> None:
    """No key, held-out scenario or answer is in Ray's files; nobody outside is called."""
    file = write_sweep(tmp_path, place.bank, slices=1, samples=1)
    text = file.read_text().replace("[scenarios]\n", '[scenarios]\nsplit = "held-out"\n')
    file.write_text(text)
    root = tmp_path / "swept"
    driver = place.start(file, root)
    called = set[str]()
    while driver.poll() is None:
        called |= peers(place.work)
        time.sleep(0.05)
    assert driver.returncode == 0, printed(root).read_text()
    assert read_runs(root).responses["state"].to_list() == ["answered"]
    assert called
    assert called <= own_addresses()
    session = place.nodes.session
    files = [path for path in session.rglob("*") if path.is_file()]
    assert len(files) > 10
    for path in files:
        content = path.read_bytes()
        for secret in (API_KEY, place.held_out_key, SECRET, "You said"):
            assert secret.encode() not in content, (path, secret)
    assert not (session / "usage_stats.json").exists()


def peers(work: Path) -> set[str]:
    """Return the addresses that the cluster and its sweeps are connected to, or try to be."""
    inodes = set[str]()
    for pid, _ in processes(work):
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                name = str(link.readlink())
            except OSError:
                continue
            if name.startswith("socket:["):
                inodes.add(name[8:-1])
    found = set[str]()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            address, _, port = fields[2].partition(":")
            if fields[9] in inodes and int(port, 16):
                found.add(_readable(address))
    return found


def _readable(address: str) -> str:
    """An address of /proc/net, whose words of four bytes are little-endian."""
    words = [bytes.fromhex(address[i : i + 8])[::-1] for i in range(0, len(address), 8)]
    raw = b"".join(words)
    if len(raw) == 16 and raw[:12] == b"\0" * 10 + b"\xff\xff":
        raw = raw[12:]
    return socket.inet_ntop(socket.AF_INET if len(raw) == 4 else socket.AF_INET6, raw)


def own_addresses() -> set[str]:
    """Return the addresses of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        way.connect(("192.0.2.1", 9))
        return {"127.0.0.1", "::1", way.getsockname()[0]}
