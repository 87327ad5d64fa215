"""`careeval demo`: a small evaluation with an embedded model, offline and without a key."""

from __future__ import annotations

from itertools import chain, count
from pathlib import Path

from cyclopts import App

from careeval.bank import load_bank
from careeval.cli.app import OK, say
from careeval.cli.shared.options import Out
from careeval.cli.shared.run_costs import SpendingOptions
from careeval.cli.shared.run_execution import report_unfinished, work
from careeval.core.response import LEXICAL
from careeval.people.audit.grader_agreement import probe_agreement
from careeval.protocol.machine import check_embedded
from careeval.protocol.regrade import lexical_sentences
from careeval.protocol.run import Run, folder_name
from careeval.protocol.run_setup import prepare
from careeval.protocol.tables import read_runs
from careeval.report.page import write_page
from careeval.results.findings import findings
from careeval.sheets.summary import summary_document
from careeval.sheets.terminal import print_document

EXAMPLES = """\
Examples:

  careeval demo               a table, and a page in ./careeval-demo
  careeval demo -o try        the same in ./try
  careeval run --resume -o try
                              go on after a stop
  careeval report try -o try/report.html
                              the page once more

It needs the embedded model: careeval doctor says whether that is installed.
"""

app = App(name="demo", help_epilogue=EXAMPLES)

MODEL = "gguf/smollm2-135m"
SCENARIOS = [
    *("dressing-101", "dressing-106", "grooming-103", "grooming-109"),
    *("toileting-101", "toileting-105", "transferring-101", "transferring-103"),
    *("eating-101", "eating-112", "bathing-101", "bathing-102"),
]
"""Two of each activity, always these: a larger bank does not make the demo slower."""

SAMPLES = 5
MAX_TOKENS = 100
MIN_P = 0.1
"""Least probability of a token, relative to the likeliest. Without it so small a model rambles at
the protocol's temperature of 1."""


@app.default
def demo(*, out: Out | None = None) -> int:
    """Evaluate a small embedded model offline: 12 scenarios, five responses each.

    The model (SmolLM2-135M) and the grader (word overlap) are for seeing everything work; they say
    nothing about care. No key and no network are used, and nothing is sent anywhere.

    Args:
        out: Folder for the run and the page; careeval-demo if not given.
    """
    check_embedded()
    root = out or _free(Path("careeval-demo"))
    n = SAMPLES * len(SCENARIOS)
    say(f"Asking {MODEL.removeprefix('gguf/')} {n} questions; some two minutes on two cores …")
    task = {"scenario": SCENARIOS, "max_tokens": MAX_TOKENS}
    name = f"{MODEL.removeprefix('gguf/')} (embedded)"
    # both models run in this process, so their prices are 0
    run = SpendingOptions().with_prices(Run(name, MODEL, LEXICAL, SAMPLES, task, {"min_p": MIN_P}))
    (outcome,) = work([prepare(run, root / folder_name(name))], fresh=True)
    if not outcome.complete:
        return report_unfinished([outcome], root)
    runs = read_runs(root)
    results = findings(runs, probe_agreement(runs, load_bank(), None))
    print_document(summary_document(results.entries, more=lexical_sentences(results.entries)))
    page = root / "report.html"
    write_page(results, page)
    say(f"Open the page: {page.resolve().as_uri()}")
    say("To evaluate a real model: careeval run -m openai/gpt-5.1 -o runs/first")
    return OK


def _free(folder: Path) -> Path:
    """Return the folder, or the first of folder-2, folder-3 … that does not exist yet."""
    numbered = (folder.with_name(f"{folder.name}-{n}") for n in count(2))
    return next(each for each in chain([folder], numbered) if not each.exists())
