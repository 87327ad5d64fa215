"""Logs that somebody else wrote: whatever stands in one, it is read, or refused in a sentence."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from careeval.errors import CareEvalError
from careeval.protocol.tables import read_runs
from careeval.results.entries import entries
from support.eval_files import COMPLETE

HEADER, SAMPLE = "header.json", "samples/dressing-001_epoch_1.json"

READ = {
    HEADER: [
        ("eval", "model"),
        ("eval", "created"),
        ("eval", "dataset"),
        ("eval", "config", "epochs"),
        ("eval", "metadata"),
        ("eval", "model_roles"),
        ("eval", "scorers"),
    ],
    SAMPLE: [
        ("id",),
        ("epoch",),
        ("input",),
        ("metadata",),
        ("store",),
        ("output", "model"),
        ("output", "choices"),
        ("output", "usage"),
        ("output", "time"),
        ("scores", "careeval", "metadata", "rubrics", "ladder"),
        ("error",),
    ],
}
"""What is read of each member, with all below it."""

DEEP: list[Any] = []
for _ in range(900):
    DEEP = [DEEP]

HOSTILE: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**9,
    10**30,
    1e23,
    math.nan,
    "\ud800",
    "x" * 1_100,
    [],
    {},
    DEEP,
)
"""What a field may hold instead."""


def members(log: Path = COMPLETE) -> dict[str, bytes]:
    """The members of a stored log."""
    with zipfile.ZipFile(log) as file:
        return {name: file.read(name) for name in file.namelist()}


def write(folder: Path, content: dict[str, bytes], how: int = zipfile.ZIP_STORED) -> Path:
    """A log of these members in a folder of its own; the log's path."""
    folder.mkdir(exist_ok=True)
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", how) as file:
        for name, text in content.items():
            file.writestr(name, text)
    return path


def changed(content: dict[str, bytes], member: str, *way: Any, to: Any) -> dict[str, bytes]:
    """The same members, with another value at one place of one."""
    document = json.loads(content[member])
    inside = document
    for step in way[:-1]:
        inside = inside[step]
    inside[way[-1]] = to
    return {**content, member: json.dumps(document).encode()}


def ways(value: Any, way: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The way to a value, and those to all that is in it; of a list, to the first."""
    yield way
    steps: Any = value if isinstance(value, dict) else range(min(len(value), 1)) if (
        isinstance(value, list)) else ()  # fmt: skip
    for step in steps:
        yield from ways(value[step], (*way, step))


def places(member: str) -> list[tuple[Any, ...]]:
    """Every place of a member that is read."""
    document = json.loads(members()[member])
    found = []
    for start in READ[member]:
        value = document
        for step in start:
            value = value.get(step) if isinstance(value, dict) else None
        found += ways(value, start)
    return found


@pytest.mark.parametrize("member", READ)
@pytest.mark.parametrize("kind", range(len(HOSTILE)))
def test_any_field_may_hold_anything(tmp_path: Path, member: str, kind: int) -> None:
    """A hostile value in a field is read for what it is or refused; no other error escapes.

    Each kind is tried in every third field, so that a field holds several: all would take a minute.
    """
    hostile = HOSTILE[kind]
    content = members()
    document = json.loads(content[member])
    for number, way in enumerate(places(member)[kind % 3 :: 3]):
        other = deepcopy(document)
        inside = other
        for step in way[:-1]:
            inside = inside[step]
        inside[way[-1]] = hostile
        folder = tmp_path / str(number)
        write(folder, {**content, member: json.dumps(other).encode()})
        refused = attempt(folder, f"{member}: {way}")
        assert not refused or str(folder) in refused
        assert len(refused) < 1_000


def attempt(folder: Path, what: str) -> str:
    """Return the error on a folder that cannot be read; empty if it can be."""
    try:
        entries(read_runs(folder))
    except CareEvalError as error:
        return str(error)
    except Exception as error:
        raise AssertionError(f"{what}: {error!r}"[:300]) from error
    return ""


@pytest.mark.parametrize(
    ("member", "way", "value", "said"),
    [
        (HEADER, ("eval", "config", "epochs"), 10**9, "less than or equal to 10000 (found 10000"),
        (HEADER, ("eval", "config", "epochs"), 0, "greater than or equal to 1 (found 0)"),
        (HEADER, ("eval", "model"), "x" * 1_001, "at most 1000 characters (found text of 1,001"),
        (HEADER, ("eval", "dataset", "sample_ids"), ["a"] * 50, "50 scenarios, 9,999 responses"),
    ],
)
def test_what_a_header_may_not_say(
    tmp_path: Path, member: str, way: tuple[str, ...], value: Any, said: str
) -> None:
    """A header beyond its limits is refused by the log's name, what was found and the limit."""
    content = changed(members(), HEADER, "eval", "config", "epochs", to=9_999)
    log = write(tmp_path / "run", changed(content, member, *way, to=value))
    with pytest.raises(CareEvalError) as refused:
        read_runs(log.parent)
    assert str(refused.value).startswith(f"left out: {log}: ")
    assert said in str(refused.value)


ITEM = ("metadata", "rubrics", "ladder", 0)


@pytest.mark.parametrize(
    ("way", "value", "said"),
    [
        ((*ITEM, "points"), 1e23, "found 1e+23"),
        ((*ITEM, "points"), 3, "less than or equal to 2 (found 3)"),
        ((*ITEM, "domains"), {"user_agency": -1}, "greater than or equal to 0 (found -1)"),
        (("metadata", "rubrics", "ladder"), [{}] * 501, "metadata.rubrics.ladder"),
        (("epoch",), 10**30, "found a number of more than 30 digits"),
        (("store", "careeval_response", "text"), "x" * 2_000_001, "found text of 2,000,001"),
        (("input",), DEEP, "nested too deeply"),
    ],
)
def test_what_a_sample_may_not_say(
    tmp_path: Path, way: tuple[Any, ...], value: Any, said: str
) -> None:
    """A sample beyond its limits is missing, with what was found, and the others count."""
    log = write(tmp_path / "run", changed(members(), SAMPLE, *way, to=value))
    runs = read_runs(log.parent)
    (note,) = runs.notes
    assert note.startswith(f"{log}: 1 of its samples cannot be read; the first, dressing-001 ")
    assert said in note
    assert runs.responses["state"].to_list() == ["missing", "answered", "answered", "answered"]


@pytest.mark.parametrize("count", [-1, math.nan, 1e23, "many", 10**13])
def test_a_count_that_cannot_be_is_unknown(tmp_path: Path, count: Any) -> None:
    """A response whose provider counted nonsense is kept, and what it took is unknown."""
    content = changed(members(), SAMPLE, "output", "usage", "output_tokens", to=count)
    log = write(tmp_path / "run", content)
    runs = read_runs(log.parent)
    assert set(runs.responses["state"]) == {"answered"}
    assert runs.responses["output_tokens"].to_list() == [None, 5, 5, 5]
    (note,) = runs.notes
    assert note.startswith(f"{log}: 1 of its samples have an impossible count, ")
    assert "dressing-001 epoch 1: usage.output_tokens: " in note


@pytest.mark.parametrize("count", [-1, math.nan, 1e23, "many"])
def test_a_count_of_a_grading_that_cannot_be_is_unknown(tmp_path: Path, count: Any) -> None:
    """A grading whose provider counted nonsense is kept, and what it took is unknown."""
    usage = {"input_tokens": 9, "output_tokens": count, "cost_usd": 0.5, "seconds": 1.5}
    way = ("scores", "careeval", "metadata", "rubrics", "ladder", "usage")
    log = write(tmp_path / "run", changed(members(), SAMPLE, *way, to=usage))
    runs = read_runs(log.parent)
    judged = runs.judgments.filter(scenario="dressing-001", epoch=1, rubric="ladder")
    assert judged["present"].null_count() == 0
    amounts = judged.select("input_tokens", "output_tokens", "cost_usd")
    assert {*amounts.rows()} == {(None, None, None)}
    (note,) = runs.notes
    assert "have an impossible count" in note


def zeros(n_blocks: int) -> bytes:
    """Zstd of 128 KiB of zeros for each block, which takes four bytes."""
    block = ((131_072 << 3) | 2).to_bytes(3, "little") + bytes(1)
    last = ((131_072 << 3) | 3).to_bytes(3, "little") + bytes(1)
    return b"\x28\xb5\x2f\xfd\x00\x38" + block * (n_blocks - 1) + last


def packed(log: Path, name: str, secret: bytes, n_bytes: int, how: int = 93) -> None:
    """Replace a member by packed bytes that are said to be so many when unpacked."""
    write(log.parent, {**members(), name: secret})
    content = bytearray(log.read_bytes())
    with zipfile.ZipFile(log) as file:
        local, listed = file.getinfo(name).header_offset, file.start_dir
        for each in file.namelist():
            if each == name:
                break
            listed = content.index(b"PK\x01\x02", listed + 4)
    for begins, method, size in ((local, 8, 22), (listed, 10, 24)):
        content[begins + method : begins + method + 2] = how.to_bytes(2, "little")
        content[begins + size : begins + size + 4] = n_bytes.to_bytes(4, "little")
    log.write_bytes(content)


@pytest.mark.parametrize(
    ("secret", "n_bytes", "how", "said"),
    [
        (b"x", 1_500_000_000, 8, f"{SAMPLE} has 1,500,000,000 bytes, at most 32,000,000"),
        (b"x", 100, 77, "compression method is not supported"),
        (b"x", 100, 93, "zstd"),
        (b"x", 100, 8, ""),
        (zeros(100), 1_000, 93, ""),
    ],
)
def test_a_member_packed_otherwise(
    tmp_path: Path, secret: bytes, n_bytes: int, how: int, said: str
) -> None:
    """A sample that is too long, or packed in an unknown way, is missing; the note says why."""
    log = write(tmp_path / "run", members())
    packed(log, SAMPLE, secret, n_bytes, how)
    (note,) = read_runs(log.parent).notes
    assert note.startswith(f"{log}: 1 of its samples cannot be read; ")
    assert said in note


def test_members_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log of more members than any run has is refused."""
    monkeypatch.setattr("careeval.protocol.logs.MAX_MEMBERS", 3)
    log = write(tmp_path / "run", members())
    with pytest.raises(CareEvalError, match=r"has \d+ members, at most 3"):
        read_runs(log.parent)


@pytest.mark.parametrize("limit", ["MAX_JUDGMENTS", "MAX_KEPT"])
def test_too_much_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """A log of many samples, each within its limits, is refused once they are too much together."""
    monkeypatch.setattr(f"careeval.protocol.log_rows.{limit}", 20)
    log = write(tmp_path / "run", members())
    with pytest.raises(CareEvalError, match="is too large: more than") as refused:
        read_runs(log.parent)
    assert str(refused.value).startswith(str(log))
    assert refused.value.hint == "split the scenarios over several runs, or use fewer --samples"


def test_members_that_stand_twice(tmp_path: Path) -> None:
    """Of a sample that stands twice in a log, one counts, once."""
    log = write(tmp_path / "run", members())
    with zipfile.ZipFile(log, "a") as file:
        file.writestr(f"samples/x_epoch_{'9' * 5_000}.json", "{}")
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr(SAMPLE, members()[SAMPLE])
    runs = read_runs(log.parent)
    assert (runs.responses.height, runs.judgments.height) == (4, 24)


def test_memory_is_bounded(tmp_path: Path) -> None:
    """A sample of 13 GB in 400 kB, and a header of 10^9 epochs, are refused within 1.5 GiB."""
    bomb = write(tmp_path / "bomb", members())
    packed(bomb, SAMPLE, zeros(100_000), 20_000_000)
    many = write(
        tmp_path / "many", changed(members(), HEADER, "eval", "config", "epochs", to=10**9)
    )
    code = """
import resource, sys
from careeval.errors import CareEvalError
from careeval.protocol.tables import read_runs
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 1_500 * 2**20,) * 2)
for folder in sys.argv[1:]:
    try:
        print(*read_runs(folder).notes)
    except CareEvalError as error:
        print(error)
"""
    command = [sys.executable, "-c", code, str(bomb.parent), str(many.parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert "1 of its samples cannot be read" in first
    assert "MemoryError" not in first
    assert "less than or equal to 10000 (found 1000000000)" in second
