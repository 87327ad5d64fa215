"""The commands whose output is held, and how one is carried out."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from careeval.cli.app import run
from golden.files import csv_lines, file_lines, json_lines, printed
from golden.inputs import ROOT
from golden.page_reader import Page, dead_links, read_page
from golden.words import digest, steady

WIDE = 400
"""Columns of the terminal, in which no table leaves one out."""

OUT = "out"
"""What a command writes to."""

TRUST = ("--audit", "audit.db", "--probes", "probes", "--bank", "cut")
"""What is told of the grader of most runs."""

BOTH = ("cards", "twins")


@dataclass(frozen=True)
class Case:
    """One command line.

    Attributes:
        name: Of its golden.
        words: What is typed after `careeval`; `out` is where it writes to.
        columns: Of the terminal.
        copied: Inputs that it changes: it is given copies.
        folded: What paths of written files match whose lines are kept as a hash.
        labels: Whether only the labels are held, since the rest is the machine's.
    """

    name: str
    words: tuple[str, ...]
    columns: int = WIDE
    copied: tuple[str, ...] = ()
    folded: str = r"(?!)"
    labels: bool = False


def _case(name: str, line: str, *more: str, **options: object) -> Case:
    return Case(name, (*line.split(), *more), **options)  # type: ignore[arg-type]


def _forms(name: str, line: str, *more: str) -> list[Case]:
    """Return a command as a table for people, and as JSON."""
    return [_case(name, line, *more), _case(f"{name}-json", f"{line} --json", *more)]


_FEW_PAGES = r"out/(scenarios|models|compare)/(?!eating-101|closed(---planner)?[.]).*html"
"""Pages of a site that are like one another: of most a hash is enough."""

_OTHER_FILES = r"out/data/.*\.json"
"""Tables of a site that are beside it as CSV too."""

SUMMARY = [
    *_forms("summary", "summary cards twins"),
    _case("summary-narrow", "summary cards twins", columns=80),
    _case("summary-detail", "summary cards twins --detail"),
    _case("summary-detail-json", "summary twins --detail --json"),
    _case(
        "summary-by",
        "summary twins --by adl --by domain --by condition --by assistance"
        " --by situation --by actor",
    ),
    *(
        _case(f"summary-by-{sort}", f"summary cards --sort {sort}")
        for sort in ("score", "worst", "severe")
    ),
    _case("summary-md", "summary cards twins --format md"),
    _case("summary-by-md", "summary twins --format md --by situation --by actor"),
    _case("summary-latex", "summary cards twins --format latex"),
    _case("summary-csv", "summary cards twins --format csv"),
    _case("summary-detail-csv", "summary twins --format csv --detail"),
    _case("summary-by-csv", "summary twins --format csv --by actor"),
    _case("summary-by-domain-csv", "summary twins --format csv --by domain"),
    _case("summary-parquet", "summary cards twins --format parquet -o out/summary.parquet"),
    _case("summary-file", "summary cards -o out/summary.md"),
    *_forms("summary-audit", "summary twins --audit audit.db"),
    _case("summary-audit-md", "summary twins --audit audit.db --format md"),
    _case("summary-audit-latex", "summary twins --audit audit.db --format latex"),
    _case("summary-audit-csv", "summary twins --audit audit.db --format csv"),
    _case("summary-ladder", "summary cards --rubric ladder"),
    _case("summary-grader", "summary cards --grader fake/reader --system sink --system vague"),
    _case("summary-unfinished", "summary half"),
    *_forms("summary-held-out", "summary held-out"),
    _case("summary-of-several-banks", "summary cards held-out"),
    _case("summary-of-one-name-json", "summary half held-out --json"),
    _case("summary-nothing-json", "summary --json"),
]

_TEXT = ("md", "latex", "csv")

COMPARE = [
    *_forms("compare", "compare twins closed planner"),
    _case("compare-narrow", "compare twins closed planner", columns=80),
    _case(
        "compare-fail",
        "compare twins closed planner --fail-on severe --fail-on score>2"
        " --fail-on worst_at_n --fail-on mild>5",
    ),
    _case("compare-fail-json", "compare cards reference placebo --fail-on severe --json"),
    *_forms("compare-ranks", "compare cards --rubric actions --grader fake/reader"),
    *(_case(f"compare-{form}", f"compare twins closed planner --format {form}") for form in _TEXT),
    *(
        _case(f"compare-ranks-{form}", f"compare cards --rubric actions --format {form}")
        for form in _TEXT
    ),
    _case(
        "compare-parquet", "compare twins closed planner --format parquet -o out/compare.parquet"
    ),
    _case("compare-ladder", "compare cards reference sink --rubric ladder"),
    _case("compare-of-two-folders", "compare cards twins --grader fake/reader reference closed"),
    _case("compare-refused-json", "compare cards half reference robot --json"),
]

REPORT = [
    _case("report", "report cards twins -o out/report.html", *TRUST),
    _case("report-numbers", "report twins --no-responses -o out/report.html --title", "Our lab"),
    _case("report-held-out", "report held-out --bank small-bank -o out/report.html"),
]

SITE = [
    _case(
        "site",
        "site cards twins -o out --repository https://example.org/board",
        *TRUST,
        folded=f"{_FEW_PAGES}|{_OTHER_FILES}",
    ),
    _case("site-held-out", "site held-out --bank small-bank -o out", folded=r"out/data/.*"),
]

EXPORT = [
    _case("export-csv", "export cards twins --to csv -o out", *TRUST, folded=r"out/columns.md"),
    _case(
        "export-parquet",
        "export cards twins --to parquet -o out",
        *TRUST,
        folded=r"out/columns.md",
    ),
    _case("export-md-latex", "export cards twins --to md latex -o out", *TRUST),
    _case("export-figures", "export cards twins --to svg png -o out", *TRUST),
    _case("export-eee", "export twins --to eee -o out --organisation Lab --system closed"),
    _case(
        "export-held-out-csv",
        "export held-out --to csv -o out --bank small-bank",
        folded=r"out/columns.md",
    ),
]

_SAMPLE = "audit sample twins --grader fake/reader --seed 5 --n 60 -o out/sample.json"
_TERMS = ("--consent", "consent.txt", "--ethics", "none: a test", "--contact", "t@example.org")

AUDIT = [
    _case(
        "audit-probes",
        "audit probes --grader careeval/lexical --bank small-bank -o out --rubric actions",
        folded=r"out/.*",
    ),
    *_forms("audit-probes-plan", "audit probes --grader careeval/lexical --bank cut --dry-run"),
    _case("audit-sample", f"{_SAMPLE} --sheet out/labels.csv"),
    _case("audit-sample-json", f"{_SAMPLE} --rubric actions --json", folded=r"out/.*"),
    *_forms("audit-results", "audit results audit.db"),
    _case("audit-results-md", "audit results audit.db --format md"),
    _case("audit-results-csv", "audit results audit.db --format csv -o out/audit.csv"),
    _case("audit-results-of-a-sheet", "audit results sample.json labels.csv --json"),
    *_forms("audit-status", "audit status audit.db"),
    _case("audit-status-csv", "audit status audit.db --format csv"),
    _case(
        "audit-new-json",
        "audit new sample.json --labellers 3 --per-judgment 2 -o new.db --links new-links --json",
        *_TERMS,
    ),
    *_forms("audit-status-begun", "audit status begun-audit.db"),
    _case(
        "audit-import-json",
        "audit import begun-audit.db labels.csv --json --typed-by",
        "one",
        copied=("begun-audit.db",),
    ),
    _case(
        "audit-import-refused-json",
        "audit import audit.db labels.csv --json --typed-by",
        "one",
        copied=("audit.db",),
    ),
]

_STUDY = "study.db --bank small-bank"

STUDY = [
    *_forms("study-results", f"study results {_STUDY}"),
    *(
        _case(f"study-results-{form}", f"study results {_STUDY} --format {form}")
        for form in ("md", "latex", "csv")
    ),
    _case("study-results-files", f"study results {_STUDY} -o out --rule polit"),
    _case("study-results-lynn", f"study results {_STUDY} --rule lynn --cut 5 --other-cut 4"),
    *_forms("study-status", f"study status {_STUDY}"),
    _case("study-status-md", f"study status {_STUDY} --format md"),
    _case("study-print", "study print study.db r01 --bank small-bank --csv -o out"),
    _case(
        "study-print-json", "study print study.db --bank small-bank -o out --json", folded=r"out/.*"
    ),
    _case("study-apply", f"study apply {_STUDY} --yes", copied=("small-bank",)),
    _case("study-apply-json", f"study apply {_STUDY} --json"),
    _case(
        "study-new-json",
        "study new small-bank --raters occupational-therapist:2 roboticist:1"
        " --items --points --per-rater 1 -o new.db --links new-links --json",
        *_TERMS,
    ),
    _case(
        "study-import-json",
        "study import study.db ratings.csv --bank small-bank --replace --json --typed-by",
        "one",
        copied=("study.db",),
    ),
]
BANK = [
    *_forms("bank-stats", "bank stats"),
    *_forms("bank-stats-pilot", "bank stats --pilot"),
    _case("bank-stats-csv", "bank stats --format csv"),
    _case("bank-stats-pilot-latex", "bank stats --pilot --format latex"),
    *_forms("bank-list", "bank list --adl eating"),
    _case("bank-list-csv", "bank list --adl eating --format csv"),
    _case("bank-list-some", "bank list --condition stroke --situation routine --actor person"),
    _case("bank-show", "bank show eating-101"),
    _case("bank-show-points", "bank show eating-101-twin --points"),
    _case("bank-show-json", "bank show bathing-101 --json"),
    *_forms("bank-check", "bank check cut"),
    _case("bank-check-form", "bank check small-bank"),
    _case("bank-check-own-json", "bank check --json"),
    _case(
        "bank-new",
        "bank new small-bank --adl eating --condition stroke --assistance 03"
        " --situation routine --age 70 --pronoun she",
        copied=("small-bank",),
    ),
    _case("bank-import", "bank import options.csv -o out --name theirs --adl eating"),
]

OTHERS = [
    *_forms("status-of-runs", "status twins"),
    _case("status-of-gradings", "status cards"),
    _case("doctor", "doctor", labels=True),
    _case("doctor-json", "doctor --json", labels=True),
    _case(
        "run-plan",
        "run -m vendor/alpha -m vendor/beta --grader vendor/judge --limit 6"
        " --samples 3 --prices prices.toml --dry-run -o out",
    ),
    _case(
        "run-plan-unknown-price",
        "run -m vendor/gamma --grader careeval/lexical"
        " --adl eating --prices prices.toml --dry-run -o out",
    ),
    _case(
        "run-recorded",
        "run --responses answers.jsonl --grader careeval/lexical --bank small-bank -o out",
        folded=r"out/.*",
    ),
    _case(
        "grade-plan",
        "grade twins/closed --grader vendor/judge --bank 4 --part 0.5 --times 2"
        " --prices prices.toml --dry-run",
        copied=("twins",),
    ),
    _case("sweep-plan", "sweep models.toml --prices prices.toml --dry-run -o out"),
    _case("status-rename", "status cards/sink --rename basin", copied=("cards",)),
]

CASES = [*SUMMARY, *COMPARE, *REPORT, *SITE, *EXPORT, *AUDIT, *STUDY, *BANK, *OTHERS]


def carry_out(case: Case, inputs: Path, folder: Path) -> str:
    """Carry out a command in an empty folder; return what its golden holds.

    Args:
        case: The command.
        inputs: From `make_inputs`.
        folder: Where it is carried out.
    """
    for each in sorted(inputs.iterdir()):
        place = folder / each.name
        if each.name not in case.copied:
            place.symlink_to(each)
        elif each.is_dir():
            shutil.copytree(each, place)
        else:
            shutil.copy(each, place)
    (folder / OUT).mkdir() if _writes_into_out(case) else None
    stdout, stderr = io.StringIO(), io.StringIO()
    with (
        _plain_environment(case.columns),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        status = run(case.words)
    places = [(folder, "HERE"), (folder.resolve(), "HERE"), (inputs, "HERE"), (ROOT, "ROOT")]
    texts = [steady(stream.getvalue(), places) for stream in (stdout, stderr)]
    lines = [f"$ careeval {' '.join(case.words)}", f"exit status {status}"]
    for name, text in zip(("printed", "said on stderr"), texts, strict=True):
        lines += ["", f"== {name}", *(_labels(text) if case.labels else _streamed(text, case))]
    if (folder / OUT).is_dir():
        lines += _written(case, folder, places)
    return "\n".join(lines) + "\n"


def _writes_into_out(case: Case) -> bool:
    """Tell whether a file is written into the folder, which must be there."""
    return any(word.startswith(f"{OUT}/") for word in case.words)


@contextlib.contextmanager
def _plain_environment(columns: int) -> Iterator[None]:
    """Have the block run in a terminal so wide, in UTC, and without a key or a setting."""
    with patch.dict(os.environ, COLUMNS=str(columns), TZ="UTC", LC_ALL="C.UTF-8"):
        for name in [*os.environ]:
            if name.endswith("_API_KEY") or name.startswith("CAREEVAL_"):
                del os.environ[name]
        time.tzset()
        yield
    time.tzset()


def _streamed(text: str, case: Case) -> list[str]:
    """Return the lines of a stream: of a JSON document, of CSV, or of words."""
    if text.startswith(("{", "[")):
        with contextlib.suppress(json.JSONDecodeError):
            return json_lines(json.loads(text))
    if text and "csv" in case.words:
        return csv_lines(text)
    return printed(text)


def _labels(text: str) -> list[str]:
    """Return what doctor names, without how it stands."""
    if text.startswith("{"):
        return [finding["name"] for finding in json.loads(text)["findings"]]
    return [m[1].strip() for m in re.finditer(r"^(?:ok|note|problem) +(.+?)(?:  |$)", text, re.M)]


def _written(case: Case, folder: Path, places: Sequence[tuple[Path, str]]) -> Iterator[str]:
    """Yield what each written file holds, in the order of their paths."""
    paths = {
        steady(path.relative_to(folder).as_posix(), places): path
        for path in sorted((folder / OUT).rglob("*"))
        if path.is_file()
    }
    pages: dict[str, Page] = {}
    for name, path in paths.items():
        if path.suffix in (".html", ".svg"):
            pages[name] = read_page(steady(path.read_text(encoding="utf-8"), places))
        folded = re.fullmatch(case.folded, name)
        if folded and _is_private(case):
            continue
        lines = pages[name].lines if name in pages else file_lines(path, places)
        if folded:
            yield f"== {name}: {len(lines)} lines, #{digest(chr(10).join(lines))}"
        else:
            yield from ("", f"== {name}", *lines)
    if pages:
        n = sum(len(page.targets) for page in pages.values())
        yield from ("", f"== links: {n}, of which these lead nowhere", *dead_links(pages, paths))


def _is_private(case: Case) -> bool:
    """Tell whether what is written is a run's own folder, whose logs are not held."""
    return case.words[0] in ("run", "audit") and "sample" not in case.words
