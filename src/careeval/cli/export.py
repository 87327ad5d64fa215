"""`careeval export`: the results of runs as files for other programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, get_args

from cyclopts import App, Parameter

from careeval.cli.app import OK, say
from careeval.cli.shared.options import Out, SelectionOptions
from careeval.cli.shared.people import AuditOptions
from careeval.core.response import Grader
from careeval.errors import UsageError
from careeval.files import write_text
from careeval.modes import MODES
from careeval.modes.prompts import load_prompts
from careeval.results.findings import Findings
from careeval.results.parts import Breakdown
from careeval.sheets.data_files import TableForm, write_tables
from careeval.sheets.every_eval_ever import Relationship, write_evaluation_log
from careeval.sheets.latex import latex
from careeval.sheets.markup import markdown
from careeval.sheets.summary import data_tables, summary_document

EXAMPLES = """\
Examples:

  careeval export runs --to csv parquet -o results   every table, both ways
  careeval export runs --to md latex -o results      tables for a page, a paper
  careeval export runs --to svg png -o results       the report's figures
  careeval export runs --to eee -o results --organisation "Our lab"

Tables go to csv/ and parquet/; columns.md says what each column holds. Figures
go to figures/. Every Eval Ever 0.3.0 wants its files in data/, which lies in
eee/. Nothing is written to a run: its logs are Inspect's own already, for
inspect view and its data frames.
"""

app = App(name="export", help_epilogue=EXAMPLES)

FigureForm = Literal["svg", "png"]
ExportForm = Literal["csv", "parquet", "md", "latex", "svg", "png", "eee"]


@app.default
def export(
    *folders: Path,
    to: Annotated[
        tuple[ExportForm, ...], Parameter(consume_multiple=True, negative=(), show_default=False)
    ] = (),
    out: Out | None = None,
    organisation: str = "not stated",
    relationship: Relationship = "other",
    prompts: Path | None = None,
    audits: AuditOptions = AuditOptions(),
    selection: SelectionOptions = SelectionOptions(),
) -> int:
    """Write the results of runs as files for other programs.

    Args:
        folders: Folders that `careeval run -o` wrote, or archives of submissions, one or more.
        to: One or more of csv, parquet, md, latex, svg, png, eee.
        out: The folder to write to; files of the same names are replaced.
        organisation: For Every Eval Ever: who ran the evaluation.
        relationship: For Every Eval Ever: the organisation's relationship to the models' makers.
        prompts: For Every Eval Ever: the folder of the grader's prompts, if not careeval's.
        audits: What is known of the graders.
        selection: Which systems and graders.
    """
    if not folders:
        raise UsageError("name the folder of a run", hint=_HINT)
    if not to:
        raise UsageError("--to is missing: no format to write", hint=_HINT)
    if out is None:
        raise UsageError("--out is missing: no folder to write to", hint=_HINT)
    runs = selection.read(folders, _HINT, graded=True)
    results = audits.findings(runs)
    for note in runs.notes:
        say(note)
    written = list(_write(results, to, out))
    if "eee" in to:
        texts = _grader_prompts({s.grader for s in results.entries}, prompts)
        for s in results.entries:
            prompt = texts.get(s.grader, "")
            written += write_evaluation_log(s, out / "eee", organisation, relationship, prompt)
    size = sum(path.stat().st_size for path in written)
    say(f"Written: {len(written)} files, {size / 1e6:.1f} MB, in {out}")
    return OK


_HINT = "careeval export runs --to csv parquet -o results"


def _write(results: Findings, to: Sequence[ExportForm], out: Path) -> Iterator[Path]:
    """Write the tables and figures; yield the path of each file."""
    out.mkdir(parents=True, exist_ok=True)
    tables: list[TableForm] = [form for form in get_args(TableForm) if form in to]
    if tables:
        yield from write_tables(data_tables(results), out, tables, _description(results))
    for form, name, as_text in (("md", "results.md", markdown), ("latex", "results.tex", latex)):
        if form in to:
            parts = tuple(Breakdown)
            document = summary_document(results.entries, parts, results.rankings, in_detail=True)
            write_text(out / name, as_text(document))
            yield out / name
    figures: list[FigureForm] = [form for form in get_args(FigureForm) if form in to]
    if figures:
        from careeval.report.documents import write_figures

        yield from write_figures(results, out / "figures", figures)


def _grader_prompts(graders: Iterable[str], folder: Path | None) -> dict[str, str]:
    """Return grader → prompt, for graders whose prompts are careeval's own, or in the folder."""
    modes = [mode for mode in MODES.values() if mode.models_grade]
    by_hash = {prompts.grade_hash: prompts for prompts in (load_prompts(m, folder) for m in modes)}
    texts: dict[str, str] = {}
    for name in graders:
        grader = Grader(name)
        if prompts := by_hash.get(grader.prompt):
            suffix = "-scenario" if grader.with_scenario else ""
            parts = (prompts.texts["grade-system.md"], prompts.texts[f"grade-request{suffix}.md"])
            texts[name] = "\n\n".join(parts)
    return texts


def _description(results: Findings) -> str:
    banks = {f"{s.bank} {s.bank_version}: {s.bank_provenance}" for s in results.entries}
    return f"Results of careeval. Bank {' '.join(sorted(banks))}"
