"""Parquet files that would be large in memory."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.results.parquet_limits import MAX_FILE, check_parquet

FRAME = pl.DataFrame(
    {
        "text": [f"text {n}" for n in range(1000)],
        "list": [["x"] * (n % 3) for n in range(1000)],
        "number": [n / 3 for n in range(1000)],
        "null": pl.Series([None] * 1000, dtype=pl.Int32),
        "is": [n % 2 == 0 for n in range(1000)],
    }
)


@pytest.mark.parametrize("compression", ["lz4", "zstd", "snappy", "uncompressed"])
@pytest.mark.parametrize("version", [1, 2])
def test_a_table_within_its_limits(compression: Any, version: int, tmp_path: Path) -> None:
    """A file is read that has as many rows as it may have, whoever wrote it."""
    path = tmp_path / "table.parquet"
    if version == 1:
        FRAME.write_parquet(path, compression=compression, row_group_size=100)
    else:
        FRAME.write_parquet(
            path,
            compression=compression,
            use_pyarrow=True,
            pyarrow_options={"data_page_version": "2.0"},
        )
    check_parquet(path, 1000)
    with pytest.raises(ValueError, match="it has 1,000 rows, at most 999"):
        check_parquet(path, 999)


def test_a_small_file_of_many_rows(tmp_path: Path) -> None:
    """100 million equal values, in a quarter of a megabyte, are counted and not read."""
    path = tmp_path / "table.parquet"
    pl.select(pl.repeat(1, 100_000_000, dtype=pl.Int8)).write_parquet(path)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(ValueError, match="it has 100,000,000 rows, at most 5,000,000"):
        check_parquet(path, 5_000_000)


def test_a_small_file_that_unpacks_to_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of 50 MB, in some kilobytes, is measured and not read."""
    monkeypatch.setattr("careeval.results.parquet_limits.MAX_UNPACKED", 10_000_000)
    path = tmp_path / "table.parquet"
    pl.DataFrame({"text": ["x" * 50_000_000]}).write_parquet(path)
    assert path.stat().st_size < 100_000
    with pytest.raises(ValueError, match="bytes unpacked, at most 10,000,000"):
        check_parquet(path, 10)


def test_a_list_without_end(tmp_path: Path) -> None:
    """A row that holds a million values is counted by its values."""
    path = tmp_path / "table.parquet"
    pl.DataFrame({"list": [["x"] * 1_000_000]}).write_parquet(path)
    with pytest.raises(ValueError, match="1,000,000 values in a column, at most 40"):
        check_parquet(path, 10)


def test_a_file_of_a_terabyte(tmp_path: Path) -> None:
    """A file that is too long is refused by its length."""
    path = tmp_path / "table.parquet"
    with path.open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(ValueError, match=f"at most {MAX_FILE:,}"):
        check_parquet(path, 10)


@given(seed=st.integers(0, 2**32))
def test_a_damaged_file(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever a file holds, it is within its limits or said not to be."""
    path = tmp_path_factory.mktemp("tables") / "table.parquet"
    FRAME.head(20).write_parquet(path)
    content = bytearray(path.read_bytes())
    by_chance = random.Random(seed)
    for _ in range(by_chance.randint(1, 10)):
        content[by_chance.randrange(len(content))] = by_chance.randrange(256)
    path.write_bytes(content[: by_chance.randint(1, len(content))])
    with suppress(ValueError):
        check_parquet(path, 100)
