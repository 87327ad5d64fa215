"""Figures as files: drawings and pictures that carry their own words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from careeval.files import write_bytes, write_text
from careeval.report import charts
from careeval.report.words import visible
from careeval.results.findings import Findings
from careeval.sheets.words import entry_names

Format = Literal["svg", "png"]

_NOTE = "Each file carries its title and this text in itself."


@dataclass(frozen=True)
class _File:
    """One figure and its name, without an ending."""

    name: str
    title: str
    figure: charts.Figure


def write_figures(
    findings: Findings, folder: Path, formats: Sequence[Format] = ("svg", "png")
) -> list[Path]:
    """Write every figure as files of its own, and `figures.md` with the words for each.

    Args:
        findings: What is drawn; without an entry there is no figure.
        folder: Where to; made where it is not there.
        formats: The kinds of files. An SVG is named and described by its first elements, a PNG by
            its chunks `Title` and `Description`.

    Returns:
        The files, the list of them last.

    Raises:
        OSError: A file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    listed = ["# Figures", "", _NOTE]
    for file in _files(findings):
        words = charts.alternative(file.figure)
        drawing = charts.standalone_svg(file.figure, file.name, file.title, words)
        made: list[Path] = []
        for ending in formats:
            path = folder / f"{file.name}.{ending}"
            if ending == "svg":
                write_text(path, drawing + "\n")
            else:
                write_bytes(path, charts.png(drawing, file.title, words))
            made.append(path)
        listed += ["", f"## {_plain(file.title)}", "", ", ".join(f"`{p.name}`" for p in made)]
        listed += ["", _plain(words)]
        written += made
    index = folder / "figures.md"
    write_text(index, "\n".join(listed) + "\n")
    return [*written, index]


def _files(findings: Findings) -> Iterator[_File]:
    """All figures, those of the whole first; one of an entry has its place in its name."""
    graded, summaries = findings.graded, findings.summaries
    if not graded:
        return
    yield _File("overview", "Errors and scores", charts.overview(summaries))
    yield _File("domains", "Domain profile", charts.domains(summaries))
    yield _File("worst-at-k", "The worst of k responses", charts.worst_at_k(graded))
    title = "Scores of the scenarios, by system"
    yield _File("distributions", title, charts.distributions(graded))
    yield _File("cost", "Score and cost", charts.cost_scatter(summaries))
    yield _File("worst", "Mean and worst response", charts.worst_scatter(summaries))
    for n, (name, each) in enumerate(zip(entry_names(summaries), graded, strict=True), 1):
        title = f"Scores of the scenarios: {name}"
        yield _File(f"scenarios-{n:02}", title, charts.distribution(each))


def _plain(text: str) -> str:
    """The text on one line, with nothing in it that Markdown takes for markup."""
    return "".join(
        f"\\{c}" if c in "\\`*_{}[]<>#|&!~" else c for c in visible(" ".join(text.split()))
    )
