"""A study on a disk that cannot be written: a plain error says so, and a copy of it opens."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from careeval.core.rating import Rater, Role
from careeval.errors import ReviewError
from careeval.people.store import Store

Freeze = Callable[..., Path]


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


def test_a_read_only_disk(freeze: Freeze, tmp_path: Path) -> None:
    """The error says what to do; a copy has what a killed program saved, in the log alone too."""
    path = tmp_path / "study.db"
    store = Store.create(path, "study", "{}")
    store.add_rater(Rater("r01", Role.other))
    log = Path(f"{path}-wal")
    assert log.stat().st_size > 0
    frozen = freeze(path, log)
    store.close()

    with pytest.raises(
        ReviewError, match=r"study\.db: it (is read-only|cannot be opened)"
    ) as error:
        Store.open(frozen)
    assert "copy" in (error.value.hint or "")

    for file in (frozen, Path(f"{frozen}-wal")):
        shutil.copy(file, tmp_path)
    copy = Store.open(path)
    assert [rater.id for rater in copy.raters()] == ["r01"]
    copy.close()
