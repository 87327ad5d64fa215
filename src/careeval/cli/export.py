"""`careeval export`: everything that was found, as files for other programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, get_args

from cyclopts import App, Parameter

from careeval.bank import load_bank
from careeval.cli.app import OK, say
from careeval.cli.audit.grader_agreement import people_say, probe_agreement
from careeval.cli.shared.options import Selection
from careeval.core.grader import Grader
from careeval.errors import UsageError
from careeval.files import write_text
from careeval.modes import MODES
from careeval.modes.prompts import load_prompts
from careeval.protocol.tables.run_tables import read_runs
from careeval.results.findings import Findings, findings
from careeval.results.parts import Breakdown
from careeval.sheets.entries.summary import summary_document
from careeval.sheets.every_eval_ever.evaluation_log import (
    Evaluator,
    Relationship,
    write_evaluation_logs,
)
from careeval.sheets.export_tables import data_tables
from careeval.sheets.formats.files import TableForm, write_tables
from careeval.sheets.formats.latex import latex
from careeval.sheets.formats.markdown import markdown

EXAMPLES = """\
Examples:

  careeval export runs --to csv parquet -o results   every table, both ways
  careeval export runs --to md latex -o results      tables for a page, a paper
  careeval export runs --to svg png -o results       the report's figures
  careeval export runs --to eee -o results --organisation "Our lab"

Tables go to csv/ and parquet/; columns.md and datapackage.json say what each
column holds. Figures go to figures/. Every Eval Ever 0.3.0 wants its files in
data/, which lies in eee/. Nothing is written to a run: its logs are Inspect's
own already, for inspect view and its data frames.
"""

app = App(name="export", help_epilogue=EXAMPLES)

FigureForm = Literal["svg", "png"]
Form = Literal["csv", "parquet", "md", "latex", "svg", "png", "eee"]


@app.default
def export(
    *folders: Path,
    to: Annotated[
        tuple[Form, ...], Parameter(consume_multiple=True, negative=(), show_default=False)
    ] = (),
    out: Annotated[Path | None, Parameter(name=("--out", "-o"))] = None,
    organisation: str = "not stated",
    relationship: Relationship = "other",
    prompts: Path | None = None,
    probes: Path | None = None,
    audit: Annotated[list[Path] | None, Parameter(negative=())] = None,
    bank: Path | None = None,
    selection: Selection = Selection(),
) -> int:
    """Write the results of runs as files for other programs.

    Args:
        folders: What `careeval run -o` wrote to, one or more.
        to: One or more of csv, parquet, md, latex, svg, png, eee.
        out: The folder to write to; files of the same names are replaced.
        organisation: For Every Eval Ever: who ran the evaluation.
        relationship: For Every Eval Ever: theirs to those who made the models.
        prompts: For Every Eval Ever: the folder of the grader's prompts, if not careeval's.
        probes: What `careeval audit probes -o` wrote to: how far the grader agrees with labels.
        audit: What `careeval audit new -o` wrote to: what people say of the grader.
        bank: Folder of the probes' bank; careeval's own where not given.
        selection: Which systems and graders.
    """
    if not folders:
        raise UsageError("name the folder of a run", hint=_HINT)
    if not to:
        raise UsageError("say what to export to", hint=_HINT)
    if out is None:
        raise UsageError("name the folder to write to", hint=_HINT)
    runs = selection.select(read_runs(*folders))
    found = findings(
        runs, probe_agreement(runs, load_bank(bank), probes), audits=people_say(runs, audit or ())
    )
    if not found.entries:
        raise UsageError(
            "nothing here has been graded yet", hint="careeval grade FOLDER --grader MODEL"
        )
    for note in runs.notes:
        say(note)
    evaluator = Evaluator(organisation, relationship)
    written = list(_written(found, to, out, evaluator, prompts))
    size = sum(path.stat().st_size for path in written)
    say(f"Written: {len(written)} files, {size / 1e6:.1f} MB, in {out}")
    return OK


_HINT = "careeval export runs --to csv parquet -o results"


def _written(
    found: Findings, to: Sequence[Form], out: Path, evaluator: Evaluator, prompts: Path | None
) -> Iterator[Path]:
    out.mkdir(parents=True, exist_ok=True)
    tables: list[TableForm] = [form for form in get_args(TableForm) if form in to]
    if tables:
        yield from write_tables(data_tables(found), out, tables, _about(found))
    for form, name, write in (("md", "results.md", markdown), ("latex", "results.tex", latex)):
        if form in to:
            document = summary_document(
                found.graded, tuple(Breakdown), found.rankings, in_detail=True
            )
            write_text(out / name, write(document))
            yield out / name
    figures: list[FigureForm] = [form for form in get_args(FigureForm) if form in to]
    if figures:
        # charts are slow to load
        from careeval.report.figures import write_figures

        yield from write_figures(found, out / "figures", figures)
    if "eee" in to:
        told = _told({s.grader for s in found.summaries}, prompts)
        now = datetime.now(UTC)
        yield from write_evaluation_logs(
            found, out / "eee", retrieved=now, evaluator=evaluator, prompts=told
        )


def _told(graders: Iterable[str], prompts: Path | None) -> dict[str, str]:
    """Grader → what it is told, of those whose prompts' hash is that of known prompts.

    Known are the prompts at hand, careeval's own or a folder's, in every version of the protocol.
    """
    modes = [mode for mode in MODES.values() if mode.models_grade]
    of_modes = [load_prompts(mode, prompts, version) for mode in modes for version in mode.prompts]
    known = {each.grade_hash: each for each in of_modes}
    told: dict[str, str] = {}
    for name in graders:
        grader = Grader.parse(name)
        if texts := known.get(grader.prompt):
            shown = "-scenario" if grader.with_scenario else ""
            parts = (texts.texts["grade-system.md"], texts.texts[f"grade-request{shown}.md"])
            told[name] = "\n\n".join(parts)
    return told


def _about(found: Findings) -> str:
    banks = {f"{s.bank} {s.bank_version}: {s.bank_provenance}" for s in found.summaries}
    return f"Results of careeval. Bank {' '.join(sorted(banks))}"
