"""Sweeps on this machine, with real runs in real processes against a fake server."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyrage
import pytest

from careeval.bank.sealed import KEY_VARIABLE, pack, seal
from careeval.cli.app import BUDGET_REACHED, OK, USAGE, run
from careeval.protocol.sweep_cells import CellState, JournalWriter, Lease, lease_folders
from careeval.protocol.tables import read_runs
from careeval.sweep.cells import carry_out_cell, lease_reason, make_lease_folder
from careeval.sweep.description import load_sweep, read_sweep, save_sweep
from careeval.sweep.progress import sweep_progress
from faults.outcome import differences
from faults.processes import MARK, processes, wait_until
from support.fake_server import Completion, FakeServer, Request, well
from support.fakes import write_bank
from support.sweep_files import GRADER, IDS, swept, write_sweep

CELL = "openai-api-fake-a/slice-01/ask"
N_CALLS = 2 * 2 * len(IDS)
"""Two responses to each scenario, asked and graded."""


def n_answered(server: FakeServer) -> int:
    """Return how many calls a server has answered."""
    return server.n_answered("ask") + server.n_answered("grade")


def test_worked_example(
    server: FakeServer, bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sweep comes to the tables of one run; given again it asks nothing; others leave it be."""
    file, root = write_sweep(tmp_path, bank), tmp_path / "swept"
    command = ["sweep", str(file), "-o", str(root), "--yes"]
    assert run(command) == OK
    assert n_answered(server) == N_CALLS
    whole = ["run", "-m", "openai-api/fake/a", "--grader", GRADER, "--samples", "2", "--yes"]
    assert run([*whole, "--bank", str(bank), "-o", str(tmp_path / "run")]) == OK
    assert differences(swept(root), swept(tmp_path / "run")) == []
    assert run(command) == OK
    assert n_answered(server) == 2 * N_CALLS
    capsys.readouterr()
    assert run(["sweep", "status", str(root), "--json"]) == OK
    told = json.loads(capsys.readouterr().out)
    assert (told["asked"], told["graded"], told["states"]["complete"]) == (8, 8, 4)
    assert run(["summary", str(root)]) == OK
    assert run(["run", "--resume", "-o", str(root)]) == USAGE
    assert run(["grade", str(root)]) == USAGE
    assert run(["status", str(root), "--rename", "other"]) == USAGE
    assert run(["status", str(root)]) == USAGE
    assert "careeval sweep status" in capsys.readouterr().err


def test_what_no_slice_has_come_to_is_missing(
    server: FakeServer, bank: Path, tmp_path: Path
) -> None:
    """One slice of two is asked: the others' responses count as missing, and a note says so."""
    save_sweep(tmp_path, read_sweep(write_sweep(tmp_path, bank)))
    assert carry_out_cell(tmp_path, CELL, 1).state is CellState.complete
    runs = read_runs(tmp_path)
    assert runs.responses["state"].value_counts(sort=True).rows() == [
        ("answered", 4),
        ("missing", 4),
    ]
    assert runs.notes == (
        "openai-api/fake/a: 4 of 8 responses are still missing; 'careeval sweep' asks for them",
    )


def test_a_defect_in_one_cell_stops_no_other(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cell has failed, and its reason holds no words of what went wrong."""

    def broken(*_: object) -> Path:
        raise KeyError("words of a scenario")

    monkeypatch.setattr("careeval.sweep.cells.make_lease_folder", broken)
    save_sweep(tmp_path, read_sweep(write_sweep(tmp_path, bank)))
    lease = carry_out_cell(tmp_path, CELL, 1)
    assert lease.state is CellState.failed
    assert lease_reason(tmp_path, lease) == "unexpected KeyError"


def test_a_writer_that_lost_its_lease_changes_nothing(bank: Path, tmp_path: Path) -> None:
    """A number is given once; the next begins with the calls that are finished."""
    sweep = read_sweep(write_sweep(tmp_path, bank))
    save_sweep(tmp_path, sweep)
    cell = sweep.cell(CELL)
    first = make_lease_folder(tmp_path, sweep, cell, 1)
    (first / "calls.jsonl").write_text('{"key":"ask bathing-001 1"}\n')
    second = make_lease_folder(tmp_path, sweep, cell, 2)
    (first / "calls.jsonl").write_text("written by one that has lost its lease\n")
    assert (second / "calls.jsonl").read_text() == '{"key":"ask bathing-001 1"}\n'
    for late in (1, 2):
        assert carry_out_cell(tmp_path, CELL, late).state is CellState.lost
    assert lease_folders(tmp_path / CELL) == [first, second]


def test_a_cell_that_ended_after_its_driver_is_not_done_again(
    server: FakeServer, bank: Path, tmp_path: Path
) -> None:
    """Its folder is complete, though the journal has never heard so: nothing is asked twice."""
    root = tmp_path / "swept"
    file = write_sweep(tmp_path, bank, slices=1)
    root.mkdir()
    save_sweep(root, read_sweep(file))
    journal = JournalWriter(root)
    journal.write(Lease(CELL, 1, CellState.begun))
    journal.close()
    assert carry_out_cell(root, CELL, 1).state is CellState.complete
    assert run(["sweep", str(file), "-o", str(root), "--yes"]) == OK
    assert n_answered(server) == N_CALLS
    assert [folder.name for folder in lease_folders(root / CELL)] == ["ask-001"]
    now = sweep_progress(root)
    assert (now.done(asks=True), sum(cell.n_calls for cell in now.cells)) == ((8, 8), N_CALLS)


def test_a_process_that_is_killed_costs_the_calls_in_flight(
    server: FakeServer, bank: Path, tmp_path: Path
) -> None:
    """Its cell gets a new lease, and the tables are those of a sweep that nothing happened to."""
    server.latency = 0.3
    file, root = write_sweep(tmp_path, bank, slices=1), tmp_path / "swept"

    def kill_one() -> None:
        while server.n_answered("ask") < 2:
            time.sleep(0.01)
        (lock,) = root.glob("*/slice-01/ask-001/.lock")
        os.kill(int(lock.read_text()), signal.SIGKILL)

    striker = threading.Thread(target=kill_one)
    striker.start()
    assert run(["sweep", str(file), "-o", str(root), "--yes"]) == OK
    striker.join()
    assert [folder.name for folder in lease_folders(root / CELL)] == ["ask-001", "ask-002"]
    assert read_runs(root).responses["state"].to_list() == ["answered"] * 8
    assert n_answered(server) <= N_CALLS + 8
    cells = sweep_progress(root).cells
    assert [cell.n_leases for cell in cells] == [2, 1]
    assert sum(cell.n_calls for cell in cells) >= N_CALLS


MODELS = ("openai-api/fake/a", "openai-api/fake/b", GRADER)
FREE, DEAR = "input = 0\noutput = 0\n", "input = 100.0\noutput = 1000.0\n"


def write_prices(folder: Path, price: str) -> Path:
    """Write the file of the price that each model has."""
    (folder / "prices.toml").write_text("".join(f'["{model}"]\n{price}' for model in MODELS))
    return folder / "prices.toml"


def test_one_budget_is_kept_over_all_cells(
    server: FakeServer, bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends the sweep, which goes on with more; what was spent before counts."""
    file, root = write_sweep(tmp_path, bank, slices=1), tmp_path / "swept"
    prices = write_prices(tmp_path, DEAR)
    command = ["sweep", str(file), "-o", str(root), "--prices", str(prices)]
    assert run([*command, "--max-cost", "0.5"]) == BUDGET_REACHED
    now = sweep_progress(root)
    assert now.usd > 0
    assert n_answered(server) < N_CALLS
    assert run([*command, "--max-cost", "inf"]) == OK
    assert n_answered(server) == N_CALLS
    assert sweep_progress(root).usd > now.usd


def test_a_budget_of_the_file_is_checked_as_a_typed_one(
    server: FakeServer, bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It stands for a yes, and is refused before a call whose price nobody knows."""
    prices = write_prices(tmp_path, FREE)
    file, root = write_sweep(tmp_path, bank, max_cost=0.5, slices=1), tmp_path / "swept"
    command = ["sweep", str(file), "-o", str(root)]
    assert run(command) == USAGE
    assert "a budget cannot be kept" in capsys.readouterr().err
    assert not root.exists()
    assert run([*command, "--prices", str(prices)]) == OK
    assert n_answered(server) == N_CALLS


def test_calls_of_unknown_cost_end_a_budget_with_that_reason(
    server: FakeServer, bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sweep begins without prices, and goes on with prices and a budget: more does not help."""
    root, prices = tmp_path / "swept", write_prices(tmp_path, FREE)
    command = ["sweep", str(write_sweep(tmp_path, bank, slices=1, samples=1)), "-o", str(root)]
    assert run([*command, "--yes"]) == OK
    two = "".join(f'[[systems]]\nmodel = "{m}"\n' for m in MODELS[:2])
    write_sweep(tmp_path, bank, two, slices=1, samples=1)
    capsys.readouterr()
    assert run([*command, "--prices", str(prices), "--max-cost", "9"]) == BUDGET_REACHED
    told = capsys.readouterr().err
    assert "The cost of some calls is not known" in told
    assert "budget is reached" not in told


def test_a_budget_that_is_reached_prints_the_command_that_goes_on(
    server: FakeServer, bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the file, the folder and the prices; the sweep completes when it is typed."""
    file, root = write_sweep(tmp_path, bank, slices=1), tmp_path / "swept"
    prices = write_prices(tmp_path, DEAR)
    command = ["sweep", str(file), "-o", str(root), "--prices", str(prices)]
    assert run([*command, "--max-cost", "0.5"]) == BUDGET_REACHED
    assert run(["sweep", "status", str(root)]) == OK
    hints = re.findall(r"For the rest: careeval (.*)", capsys.readouterr().err)
    assert hints == [shlex.join([*command, "--max-cost", "MORE"])] * 2
    assert run(shlex.split(hints[0].replace("MORE", "99"))) == OK
    assert n_answered(server) == N_CALLS


def test_a_grader_that_cannot_be_called_costs_nothing(
    server: FakeServer, bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is named before anything is asked, and the file can be mended in the same folder."""
    file, root = write_sweep(tmp_path, bank, slices=1), tmp_path / "swept"
    right = file.read_text()
    file.write_text(right.replace(GRADER, "nobody/grader"))
    command = ["sweep", str(file), "-o", str(root), "--yes"]
    assert run(command) == USAGE
    assert "gradings.1: Model API nobody" in capsys.readouterr().err
    assert n_answered(server) == 0
    file.write_text(right)
    assert run(command) == OK


def test_a_grader_is_asked_at_its_own_address(bank: Path, tmp_path: Path) -> None:
    """The system's server gets no grading, and the grader's no question."""
    with pytest.MonkeyPatch.context() as patch, FakeServer() as asked, FakeServer() as graded:
        patch.setenv("FAKE_BASE_URL", asked.base_url)
        patch.setenv("FAKE_API_KEY", "planted")
        address = f'base_url = "{graded.base_url}"\n'
        file = write_sweep(tmp_path, bank, grading=address, slices=1)
        command = ["sweep", str(file), "-o", str(tmp_path / "swept"), "--yes"]
        assert run(command) == USAGE  # nobody has agreed to the file's address
        assert run([*command, "--allow-address", graded.base_url]) == OK
        assert (asked.n_answered("ask"), asked.n_answered("grade")) == (N_CALLS // 2, 0)
        assert (graded.n_answered("ask"), graded.n_answered("grade")) == (0, N_CALLS // 2)


def test_a_full_disk_is_told_with_its_path(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the disk has no room for the reason itself."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/shared/swept/run.json")

    save_sweep(tmp_path, read_sweep(write_sweep(tmp_path, bank)))
    monkeypatch.setattr("careeval.sweep.cells.prepare", full)
    monkeypatch.setattr("careeval.sweep.cells.write_text", full)
    lease = carry_out_cell(tmp_path, CELL, 1)
    assert lease.why == "/shared/swept/run.json: No space left on device"


SERVER = f"{sys.executable} tests/support/fake_server.py --port {{port}}"


@pytest.mark.skipif(sys.platform != "linux", reason="children are found in /proc")
@pytest.mark.parametrize(
    ("command", "moment"),
    [
        (SERVER, "progress.json"),
        (f"sh -c '{SERVER} & wait'", "server.log"),
        (f"sh -c 'setsid {SERVER} & wait'", "server.log"),
    ],
    ids=["itself", "forked", "session of its own"],
)
def test_a_killed_driver_takes_the_server_with_it(
    bank: Path, tmp_path: Path, command: str, moment: str
) -> None:
    """Also its children, in whatever process group; else they would keep the GPU."""
    system = f'[[systems]]\nmodel = "openai-api/fake/a"\nserver = {json.dumps(command)}\n'
    file = write_sweep(tmp_path, bank, f'{system}health = "/counts"\n', samples=500, slices=1)
    words = [sys.executable, "-m", "careeval", "sweep", str(file), "-o", str(tmp_path / "swept")]
    own = {MARK: str(tmp_path), "FAKE_API_KEY": "planted", "FAKE_BASE_URL": "http://127.0.0.1:9/v1"}
    driver = subprocess.Popen(
        [*words, "--yes"],
        cwd=Path(__file__).parents[2],
        env=os.environ | own,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def n_servers() -> int:
        return sum(b"fake_server" in words for _, words in processes(tmp_path))

    def has_come() -> bool:
        files = tmp_path.glob(f"swept/*/slice-01/ask-001/{moment}")
        return any(path.stat().st_size for path in files)

    try:
        assert wait_until(has_come, driver, seconds=120)
        assert n_servers() > 0
    finally:
        driver.kill()
        driver.wait()
    assert wait_until(lambda: n_servers() == 0)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (f"{sys.executable} tests/support/fake_server.py --port {{port}}", ""),
        (f"{sys.executable} -c {{port}}", "ended with status 0 before it was ready"),
        ("no-such-command {port}", "cannot be started"),
    ],
)
def test_a_cell_starts_its_own_server(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, why: str
) -> None:
    """The server answers while the cell asks, and is gone afterwards."""
    monkeypatch.chdir(Path(__file__).parents[2])
    monkeypatch.setenv("FAKE_API_KEY", "planted")
    system = f'[[systems]]\nmodel = "openai-api/fake/a"\nserver = {json.dumps(command)}\n'
    save_sweep(tmp_path, read_sweep(write_sweep(tmp_path, bank, f'{system}health = "/counts"\n')))
    ended = carry_out_cell(tmp_path, CELL, 1)
    assert (ended.state is CellState.complete) == (not why)
    if why:
        assert why in (tmp_path / f"{CELL}-001.why").read_text()
        return
    started = (tmp_path / f"{CELL}-001" / "server.log").read_text().splitlines()
    port = started[0].rpartition(":")[2].partition("/")[0]
    lines = [path.read_text() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not any(f"--port\0{port}\0" in line for line in lines)


def test_a_held_out_sweep_tells_numbers_and_no_words(
    server: FakeServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Even a server that repeats what it is asked, and fails, leaves no word outside `private`."""

    def whispered(request: Request) -> Completion:
        said = well(request)
        return said if request.kind == "grade" else Completion(f"I was asked: {request.user}")

    monkeypatch.chdir(tmp_path)
    write_bank(Path("bank"))
    write_bank(Path("apart"), ["eating-h01"], split="held-out")
    key = str(pyrage.x25519.Identity.generate())
    monkeypatch.setenv(KEY_VARIABLE, key)
    seal(pack(Path("apart")), Path("bank"), key)
    file = write_sweep(tmp_path, Path("bank").resolve(), slices=1)
    text = file.read_text().replace("[scenarios]\n", '[scenarios]\nsplit = "held-out"\n')
    file.write_text(text)
    server.script = whispered
    assert run(["sweep", str(file), "-o", "swept", "--yes"]) == OK
    (system,) = Path("swept/private").glob("openai*")
    assert (Path("swept/private").stat().st_mode & 0o777) == 0o700
    open_files = [path for path in Path("swept").glob("*") if path.is_file()]
    assert load_sweep(Path("swept")).scenarios == ["eating-h01"]
    for path in open_files:
        assert b"Scenario eating-h01" not in path.read_bytes()
    assert "Scenario eating-h01" not in "".join(capsys.readouterr())
    assert any(b"eating-h01" in path.read_bytes() for path in system.rglob("responses.jsonl"))
    assert read_runs(Path("swept")).responses["text"].to_list() == ["(held out)"] * 2


@pytest.mark.embedded
def test_each_cell_that_asks_has_a_llama_cpp_server_of_its_own(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two systems, served one after the other by the engine of the embedded model, are asked."""
    monkeypatch.chdir(Path(__file__).parents[2])
    monkeypatch.setenv("LLAMA_API_KEY", "none is needed")
    command = json.dumps(f"{sys.executable} tests/support/serve_embedded.py {{port}}")
    system = '[[systems]]\nmodel = "openai-api/llama/smollm2"\nname = "{}"\nserver = {}\n'
    systems = "".join(system.format(name, command) for name in ("one", "two"))
    file = write_sweep(tmp_path, bank, systems, samples=1, slices=1, max_tokens=16)
    text = file.read_text().replace(GRADER, "careeval/lexical")
    file.write_text(text.replace("[scenarios]\n", "[scenarios]\nlimit = 1\n"))
    assert run(["sweep", str(file), "-o", str(tmp_path / "swept"), "--yes"]) == OK
    responses = read_runs(tmp_path / "swept").responses
    assert responses["system"].to_list() == ["one", "two"]
    assert responses["state"].to_list() == ["answered"] * 2
    assert responses["output_tokens"].to_list() == [16, 16]
