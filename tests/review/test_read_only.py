"""A study and an audit on a disk that cannot be written: commands that only read still do."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from careeval.cli.app import OK, run
from careeval.core.rating import Rater, Role
from careeval.errors import ReviewError
from careeval.review.store import Store
from support.bank_folder import BankFolder
from support.review_audit import audit_plan

Out = pytest.CaptureFixture[str]
Freeze = Callable[..., Path]

TERMS = ["--ethics", "none: a test", "--contact", "test@example.org"]


def _mount(*words: str) -> bool:
    """Tell whether mounting worked, which takes more rights than most have."""
    if (mount := shutil.which("mount")) is None:
        return False
    return subprocess.run([mount, *words], capture_output=True, check=False).returncode == 0


@pytest.fixture
def freeze(tmp_path: Path) -> Iterator[Freeze]:
    """Copies files to a disk that is read-only from then on; the copy of the first comes back."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if not _mount("-t", "tmpfs", "tmpfs", str(disk)):
        pytest.skip("needs the right to mount")

    def frozen(*files: Path) -> Path:
        for file in files:
            shutil.copy(file, disk)
        assert _mount("-o", "remount,ro", str(disk))
        with pytest.raises(OSError, match="Read-only"):
            (disk / "new").touch()
        return disk / files[0].name

    yield frozen
    subprocess.run(["umount", str(disk)], check=True)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for copies."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_rows_that_are_only_in_the_log(freeze: Freeze, tmp_path: Path, temporary: Path) -> None:
    """Rows that a killed program saved are read, though SQLite has not moved them to the file."""
    path = tmp_path / "study.db"
    store = Store.create(path, "study", "{}")
    store.add_rater(Rater("r01", Role.other))
    log = Path(f"{path}-wal")
    assert log.stat().st_size > 0
    frozen = freeze(path, log)
    store.close()

    read = Store.to_read(frozen)
    assert [rater.id for rater in read.raters()] == ["r01"]
    assert read.path == frozen
    (copy,) = temporary.iterdir()
    assert copy.stat().st_mode & 0o077 == 0
    read.close()

    assert list(temporary.iterdir()) == []
    with pytest.raises(ReviewError, match=r"study\.db: it (is read-only|cannot be opened)"):
        Store.open(frozen)


def test_no_room_for_a_copy(
    freeze: Freeze, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If no copy can be made, the error says where one would go."""
    Store.create(tmp_path / "study.db", "study", "{}").close()
    frozen = freeze(tmp_path / "study.db")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(ReviewError, match="nor copied for reading") as caught:
        Store.to_read(frozen)
    assert "TMPDIR" in (caught.value.hint or "")


def test_a_foreign_file(freeze: Freeze, tmp_path: Path, temporary: Path) -> None:
    """A file of another program is refused by its own name, and no copy is left."""
    (tmp_path / "study.db").write_bytes(b"no store" * 1000)
    frozen = freeze(tmp_path / "study.db")
    with pytest.raises(ReviewError, match="is not a careeval study or audit file") as caught:
        Store.to_read(frozen)
    assert str(frozen) in str(caught.value)
    assert list(temporary.iterdir()) == []


def test_a_file_that_can_be_written_is_read_where_it_is(tmp_path: Path, temporary: Path) -> None:
    """No copy is made without need."""
    Store.create(tmp_path / "study.db", "study", "{}").close()
    read = Store.to_read(tmp_path / "study.db")
    assert list(temporary.iterdir()) == []
    read.close()


def test_commands_of_a_study(freeze: Freeze, tmp_path: Path, capsys: Out) -> None:
    """Status, results, the forms to print and a backup, of a study on a read-only disk."""
    bank = BankFolder.good(tmp_path / "bank")
    (tmp_path / "terms.txt").write_text("Made up for tests.", encoding="utf-8")
    study = tmp_path / "study.db"
    new = ["study", "new", str(bank.root), "-o", str(study), "--raters", "family-caregiver:2"]
    assert run([*new, "--consent", str(tmp_path / "terms.txt"), *TERMS]) == OK
    frozen = str(freeze(study))
    of_bank = ["--bank", str(bank.root)]
    assert run(["study", "status", frozen, *of_bank]) == OK
    assert run(["study", "results", frozen, *of_bank, "-o", str(tmp_path / "out")]) == OK
    assert run(["study", "print", frozen, *of_bank, "-o", str(tmp_path / "forms")]) == OK
    assert run(["study", "backup", frozen, str(tmp_path / "copy.db")]) == OK
    assert "not fully erased yet" not in capsys.readouterr().err
    assert run(["study", "close", frozen]) != OK
    assert f"{frozen}: it " in capsys.readouterr().err


def test_commands_of_an_audit(freeze: Freeze, tmp_path: Path) -> None:
    """Status and results of an audit on a read-only disk."""
    store = Store.create(tmp_path / "audit.db", "audit", audit_plan().json_text())
    store.close()
    frozen = str(freeze(tmp_path / "audit.db"))
    assert run(["audit", "status", frozen]) == OK
    assert run(["audit", "status", frozen, "--json"]) == OK
    assert run(["audit", "results", frozen]) == OK
