"""`careeval bank export`: the public scenarios as tables for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from careeval.cli.app import OK, say
from careeval.errors import UsageError

ExportForm = Literal["jsonl", "parquet"]


def export(
    folder: Path | None = None,
    *,
    to: Annotated[
        tuple[ExportForm, ...], Parameter(consume_multiple=True, negative=(), show_default=False)
    ] = (),
    out: Annotated[Path | None, Parameter(name=("--out", "-o"))] = None,
) -> int:
    """Write a bank's public scenarios, items and probes as tables, with a Croissant file.

    Held-out scenarios are never written. Each row has the bank's canary. columns.md says what the
    columns hold; croissant.json describes the tables for programs, such as mlcroissant.

    Args:
        folder: The bank's folder, or 2, 3 or plans for careeval's own; 3 if not given.
        to: One or more of jsonl, parquet.
        out: The folder to write to; files of the same names are replaced.
    """
    # imported here, since --help does not need these packages
    from careeval.bank import load_bank
    from careeval.sheets.bank_tables import write_bank

    if not to:
        raise UsageError("--to is missing: no format to write", hint=_HINT)
    if out is None:
        raise UsageError("--out is missing: no folder to write to", hint=_HINT)
    written = write_bank(load_bank(folder), out, to)
    size = sum(path.stat().st_size for path in written)
    say(f"Written: {len(written)} files, {size / 1e6:.1f} MB, in {out}")
    return OK


_HINT = "careeval bank export --to jsonl parquet -o FOLDER"
