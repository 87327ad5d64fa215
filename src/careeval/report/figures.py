"""Figures as SVG and PNG files, each with its title and description inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from careeval.files import write_bytes, write_text
from careeval.report import charts
from careeval.results.findings import Findings
from careeval.sheets.formats.markdown import plain_markdown

Format = Literal["svg", "png"]

_NOTE = "Each file contains its title and this text."


@dataclass(frozen=True)
class _File:
    """One figure and the file name, without suffix, that it is written under."""

    name: str
    title: str
    figure: charts.Figure


def write_figures(
    findings: Findings, folder: Path, formats: Sequence[Format] = ("svg", "png")
) -> list[Path]:
    """Write every figure to files, and `figures.md` with the description of each.

    Args:
        findings: The results to draw; no figure is written if there is no entry.
        folder: The folder to write to; created if missing.
        formats: File formats. An SVG has its title and description as first elements, a PNG in
            the chunks `Title` and `Description`.

    Returns:
        The paths written, `figures.md` last.

    Raises:
        OSError: A file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    index_lines = ["# Figures", "", _NOTE]
    for file in _files(findings):
        description = file.figure.description
        drawing = charts.standalone_svg(file.figure, file.name, file.title, description)
        paths: list[Path] = []
        for ending in formats:
            path = folder / f"{file.name}.{ending}"
            if ending == "svg":
                write_text(path, drawing + "\n")
            else:
                write_bytes(path, charts.png(drawing, file.title, description))
            paths.append(path)
        index_lines += [
            "",
            f"## {plain_markdown(file.title)}",
            "",
            ", ".join(f"`{p.name}`" for p in paths),
        ]
        index_lines += ["", plain_markdown(description)]
        written += paths
    index = folder / "figures.md"
    write_text(index, "\n".join(index_lines) + "\n")
    return [*written, index]


def _files(findings: Findings) -> Iterator[_File]:
    """Yield all figures."""
    graded, summaries = findings.graded, findings.summaries
    if not graded:
        return
    yield _File("overview", "Errors and scores", charts.overview(summaries))
    title = "Severe errors and scores, for a column of a paper"
    yield _File("column", title, charts.column(summaries))
    yield _File("worst-at-k", "The worst of k responses", charts.worst_at_k(graded))
    title = "Scores of the scenarios, by system"
    yield _File("distributions", title, charts.distributions(graded))
    yield _File("cost", "Score and cost", charts.cost_scatter(summaries))
    yield _File("worst", "Mean and worst response", charts.worst_scatter(summaries))
