"""Printing of a document, or writing it to a file, in the format that was asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cyclopts import Parameter

from careeval.cli.app import say
from careeval.cli.shared.options import Json
from careeval.errors import UsageError
from careeval.files import write_text

if TYPE_CHECKING:
    from careeval.sheets.sheet import Document

Format = Literal["table", "md", "latex", "csv", "parquet", "json"]
"""A table for people, Markdown, LaTeX, CSV, Parquet or JSON."""


@Parameter(name="*")
@dataclass(frozen=True)
class Printing:
    """Options for the format of a document."""

    format: Format = "table"
    """A table for people, Markdown, LaTeX, CSV, Parquet or JSON."""
    as_json: Json = False
    """The same as --format json."""

    def print(
        self, document: Document, as_json: Callable[[], Any], out: Path | None = None
    ) -> None:
        """Print a document, or write it to a file, as `print_in` does."""
        print_in("json" if self.as_json else self.format, document, as_json, out)


def print_in(
    format: Format, document: Document, as_json: Callable[[], Any], out: Path | None
) -> None:
    """Print a document, or write it to a file; in a file, "table" is Markdown.

    Raises:
        UsageError: Parquet would be printed on a terminal.
    """
    if format == "table" and out is None:
        from careeval.sheets.terminal import print_document

        print_document(document)
    elif format == "parquet":
        from careeval.results.tables import write_parquet

        frame = document.data.data.frame
        if out is not None:
            write_parquet(out, frame)
        elif sys.stdout.isatty():
            raise UsageError(
                "Parquet is binary and cannot be shown on a terminal",
                hint="write it to a file: > FILE.parquet",
            )
        else:
            frame.write_parquet(sys.stdout.buffer)
    elif out is not None:
        write_text(out, _text(format, document, as_json))
    else:
        print(_text(format, document, as_json), end="")
    if out is not None:
        say(f"Written: {out}")


def _text(format: Format, document: Document, as_json: Callable[[], Any]) -> str:
    match format:
        case "json":
            import json

            return json.dumps(as_json(), indent=1, ensure_ascii=False) + "\n"
        case "latex":
            from careeval.sheets.latex import latex

            return latex(document)
        case "csv":
            from careeval.sheets.data_files import csv_text

            return csv_text(document.data.data.frame)
        case _:
            from careeval.sheets.markup import markdown

            return markdown(document)
