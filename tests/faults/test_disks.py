"""Reading works on a disk that is full or cannot be written; an output takes its place whole."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

from careeval import files
from careeval.cli.app import OK, USAGE
from careeval.cli.app import run as command
from careeval.core.response import Response, ResponseState
from careeval.files import atomic_write, write_bytes, write_text
from careeval.protocol.evaluate import resume
from careeval.protocol.run import Run
from careeval.protocol.run_setup import prepare_recorded
from careeval.protocol.tables import KIND, cache_entry, read_run, table_key
from careeval.results.tables import files_in
from support.fakes import Fake, keyword_grader

OLD = "what was there before"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, bank: Path) -> Path:
    """Two complete runs."""
    Fake("disk-grader", keyword_grader)
    root = tmp_path_factory.mktemp("runs")
    for system in ("a", "b"):
        given = [
            Response("dressing-001", n, f"I ask {n} times.", ResponseState.answered) for n in (1, 2)
        ]
        run = Run(system, None, "fake/disk-grader", 1, {"bank": str(bank)})
        assert resume(prepare_recorded(root / system, given, run)).complete
    return root


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> Path:
    """A copy of the two runs, which may be damaged and has no cached tables."""
    return shutil.copytree(made, tmp_path / "runs", copy_function=shutil.copy2)


def refusing(code: int, below: Path) -> Callable[..., int]:
    """Return an `os.open` that fails to write new files below a folder."""
    real = os.open

    def opened(path: str | Path, flags: int, *more: int, **named: int) -> int:
        if flags & os.O_CREAT and Path(path).resolve().is_relative_to(below):
            raise OSError(code, os.strerror(code), str(path))
        return real(path, flags, *more, **named)

    return opened


READING = (
    ["status", "{runs}"],
    ["summary", "{runs}"],
    ["summary", "{runs}", "--json"],
    ["compare", "{runs}/a", "{runs}/b"],
    ["report", "{runs}", "-o", "{out}/page.html"],
    ["site", "{runs}", "-o", "{out}/site"],
    ["export", "{runs}", "--to", "csv", "parquet", "-o", "{out}/tables"],
    ["bank", "check", "{bank}"],
)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
@pytest.mark.parametrize("words", READING, ids=lambda words: " ".join(words[:1]))
def test_reading(
    words: list[str],
    code: int,
    runs: Path,
    bank: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every command that reads runs works where their folder cannot be written."""
    out = tmp_path / "out"
    monkeypatch.setattr(files.os, "open", refusing(code, runs))
    assert command([word.format(runs=runs, out=out, bank=bank) for word in words]) == OK
    assert not list(runs.rglob("*.new"))
    assert not list(runs.rglob("*.parquet"))


OUTPUTS = (
    (["summary", "{runs}", "--format", "md", "-o", "{out}"], "table.md"),
    (["summary", "{runs}", "--format", "parquet", "-o", "{out}"], "table.parquet"),
    (["report", "{runs}", "-o", "{out}"], "page.html"),
    (["site", "{runs}", "-o", "{folder}"], "index.html"),
    (["export", "{runs}", "--to", "csv", "-o", "{folder}"], "columns.md"),
    (["export", "{runs}", "--to", "parquet", "-o", "{folder}"], "parquet/responses.parquet"),
)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
@pytest.mark.parametrize(("words", "name"), OUTPUTS, ids=lambda each: str(each)[:22])
def test_an_output_that_finds_no_room(
    words: list[str],
    name: str,
    code: int,
    runs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The old file stays, and the message names it, the reason and a way out."""
    folder = tmp_path / "out"
    old = folder / name
    old.parent.mkdir(parents=True)
    old.write_text(OLD, encoding="utf-8")
    monkeypatch.setattr(files.os, "open", refusing(code, folder))
    line = [word.format(runs=runs, out=old, folder=folder) for word in words]
    assert command(line) == USAGE
    said = capsys.readouterr().err
    assert str(folder) in said
    assert os.strerror(code) in said
    assert "hint:" in said
    assert old.read_text(encoding="utf-8") == OLD
    assert [path for path in folder.rglob("*") if path.is_file()] == [old]


def test_a_full_output(runs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A full stdout is reported in one line."""
    import subprocess
    import sys

    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "careeval", "summary", str(runs), "--format", "csv"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == USAGE
    assert "careeval: the output: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def kept_tables(run: Path) -> Path:
    """Return the folder of the user's cache in which the tables of a run are kept."""
    key = table_key(run, run.rglob("*.eval"), run.name)
    assert key is not None
    entry = cache_entry(KIND, key)
    assert entry is not None
    return entry


def test_a_flipped_bit_in_the_tables(runs: Path) -> None:
    """One bit of the kept tables or of their notes flipped, they are read again from the logs."""
    whole = read_run(runs / "a")
    kept = [*files_in(kept_tables(runs / "a")), kept_tables(runs / "a") / "notes.json"]
    drawn = random.Random(1)
    for file in kept:
        good = file.read_bytes()
        for _ in range(20):
            bad = bytearray(good)
            bad[drawn.randrange(len(bad))] ^= 1 << drawn.randrange(8)
            file.write_bytes(bad)
            again = read_run(runs / "a")
            assert_frame_equal(again.judgments, whole.judgments)
            assert_frame_equal(again.responses, whole.responses)
            assert again.notes == whole.notes
            assert file.read_bytes() == good


def test_tables_that_were_changed_are_not_believed(runs: Path) -> None:
    """Kept tables that were changed are not used."""
    whole = read_run(runs / "a")
    file = files_in(kept_tables(runs / "a"))[1]
    whole.judgments.with_columns(present=True).write_parquet(file)
    assert_frame_equal(read_run(runs / "a").judgments, whole.judgments)


def test_a_link_and_permissions_stay(tmp_path: Path) -> None:
    """Writing to a link replaces its target, and keeps the target's permissions."""
    file, link = tmp_path / "file", tmp_path / "link"
    write_text(file, OLD)
    file.chmod(0o640)
    link.symlink_to(file)
    write_bytes(link, b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


def test_what_is_no_file_is_written_as_it_is(tmp_path: Path) -> None:
    """A pipe receives what is written, and stays a pipe."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "words")
    assert os.read(reader, 10) == b"words"
    os.close(reader)
    assert pipe.is_fifo()
    write_text(Path("/dev/null"), "words")


def test_half_a_write_leaves_the_old(tmp_path: Path) -> None:
    """A block that fails in the middle leaves the old file, and nothing beside it."""
    file = tmp_path / "file"
    write_text(file, OLD)
    with pytest.raises(UnicodeEncodeError), atomic_write(file) as beside:
        beside.write_text("half \ud800", encoding="utf-8")
    assert file.read_text() == OLD
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("content", [b"\xff\x00\n../outside\n", b"", b"a" * 5000, b"\x00" * 99])
def test_a_damaged_list_of_a_site(content: bytes, runs: Path, tmp_path: Path) -> None:
    """A site is written anew over one whose list of files is damaged, and touches nothing else."""
    site, other = tmp_path / "site", tmp_path / "outside"
    site.mkdir()
    other.write_text(OLD)
    (site / ".careeval-site").write_bytes(content)
    assert command(["site", str(runs), "-o", str(site)]) == OK
    assert other.read_text() == OLD
    assert "index.html" in (site / ".careeval-site").read_text(encoding="utf-8")


def test_a_report_of_json_is_json_still(runs: Path, tmp_path: Path) -> None:
    """A summary written to a file is the same as on stdout."""
    out = tmp_path / "summary.json"
    assert command(["summary", str(runs), "--json", "-o", str(out)]) == OK
    assert json.loads(out.read_text(encoding="utf-8"))
