"""The measures: their contestants, and the rows of their results."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from asked import write_large
from contestants import CAREEVAL, MODEL, Asked, Bench
from findings import Aim, Measured, Numbers, interleaved, medians, row
from processes import HERE, Server, serving

SECOND_MODEL = "openai-api/fake/b"

READ = "import sys; from careeval.protocol.tables import read_runs; read_runs(sys.argv[1])"
"""Logs into tables, with no summary."""
PARSE = """
import json, pathlib, sys, zipfile
if sys.version_info < (3, 14):
    import zipfile_zstd
for path in pathlib.Path(sys.argv[1]).rglob("*.eval"):
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            json.loads(file.read(name))
"""
"""The floor of `READ`: unpacking and parsing, and nothing made of it."""


def first_call(bench: Bench) -> Measured:
    """Measure the time from the command to its first call, with the own bank."""
    with serving(bench.size.instant) as server:
        singles = interleaved(
            bench.rounds,
            {
                "careeval": lambda: bench.careeval(server, MODEL, asked=bench.own),
                "by hand": lambda: bench.by_hand(server, MODEL, asked=bench.own),
            },
        )
    first = {name: numbers["first_call"] for name, numbers in medians(singles).items()}
    made = row(
        "command to first call",
        first["careeval"],
        "s",
        "Inspect by hand",
        first["by hand"],
        Aim("≤", 1.3),
    )
    return Measured([made], singles)


def recorded(bench: Bench) -> Measured:
    """Measure the grading of four recorded answers by comparing words."""
    singles = interleaved(
        bench.rounds,
        {"careeval": bench.recorded, "by hand": bench.recorded_by_hand},
    )
    wall = {name: numbers["wall"] for name, numbers in medians(singles).items()}
    made = row(
        "four recorded answers, lexical grader",
        wall["careeval"],
        "s",
        "Inspect by hand",
        wall["by hand"],
        Aim("≤", 5, of="value"),
    )
    return Measured([made], singles)


def latency(bench: Bench) -> Measured:
    """Measure a run with a slow server, against the least time that the server allows."""
    size = bench.size
    # every connection of the asking stage is always busy, and the last response is then graded
    ideal = size.slow * (size.n_responses / size.n_connections + 1)
    with serving(size.slow) as server:
        singles = interleaved(
            bench.rounds,
            {
                "careeval": lambda: bench.careeval(server, MODEL),
                "floor": lambda: bench.floor(server),
            },
        )
    found = medians(singles)
    ours, floor = found["careeval"], found["floor"]
    what = f"{size.slow:g} s a reply, {size.n_connections} connections"
    return Measured(
        [
            row(f"{what}: whole command", ours["wall"], "s", "ideal", ideal, Aim("≤", 1.2)),
            row(
                "… first request to last answer",
                ours["answering"],
                "s",
                "ideal",
                ideal,
                Aim("≤", 1.1),
            ),
            row("… whole command", ours["wall"], "s", "bare client", floor["wall"]),
            row(
                "… first request to last answer",
                ours["answering"],
                "s",
                "bare client",
                floor["answering"],
            ),
        ],
        singles,
    )


def cpu(bench: Bench) -> Measured:
    """Measure the processor time of a call, against Inspect set up by hand to be as durable."""
    size = bench.size
    with serving(size.fast) as server:
        singles = interleaved(
            bench.rounds,
            {
                "careeval": lambda: bench.careeval(server, MODEL),
                "by hand": lambda: bench.by_hand(server, MODEL),
                "floor": lambda: bench.floor(server),
                "careeval, one": lambda: bench.careeval(server, MODEL, asked=bench.one),
                "by hand, one": lambda: bench.by_hand(server, MODEL, asked=bench.one),
            },
        )
    found = medians(singles)
    n_calls = 2 * size.n_responses
    cost = {name: 1000 * numbers["cpu"] / n_calls for name, numbers in found.items()}
    rate = {name: n_calls / numbers["answering"] for name, numbers in found.items()}
    # two calls are in what it takes to begin and to end
    beyond = {
        name: (cost[name] - cost[f"{name}, one"]) * n_calls / (n_calls - 2)
        for name in ("careeval", "by hand")
    }
    return Measured(
        [
            row(
                f"CPU a call, {n_calls:,} calls",
                cost["careeval"],
                "ms",
                "Inspect by hand",
                cost["by hand"],
                Aim("≤", 1.15),
            ),
            row(
                "… beyond starting up",
                beyond["careeval"],
                "ms",
                "Inspect by hand",
                beyond["by hand"],
            ),
            row("… whole", cost["careeval"], "ms", "bare client", cost["floor"]),
            row(
                f"rate at {size.fast:g} s a reply",
                rate["careeval"],
                "calls/s",
                "Inspect by hand",
                rate["by hand"],
            ),
        ],
        singles,
    )


def two_models(bench: Bench) -> Measured:
    """Measure two models in one command, in one process, and one after the other."""
    size = bench.size
    both = (MODEL, SECOND_MODEL)

    def in_turn(server: Server) -> Numbers:
        first, second = (bench.careeval(server, model) for model in both)
        return {name: first[name] + second[name] for name in ("wall", "answering", "cpu")}

    with serving(size.instant) as server:
        singles = interleaved(
            bench.rounds,
            {
                "careeval": lambda: bench.careeval(server, *both),
                "by hand": lambda: bench.by_hand(server, *both),
                "in turn": lambda: in_turn(server),
            },
        )
    rate = {
        name: 4 * size.n_responses / numbers["wall"] for name, numbers in medians(singles).items()
    }
    ours = rate["careeval"]
    return Measured(
        [
            row(
                "two models, one command",
                ours,
                "calls/s",
                "Inspect by hand, one process",
                rate["by hand"],
                Aim("≥", 1.5),
            ),
            row("… one command", ours, "calls/s", "careeval, one after the other", rate["in turn"]),
        ],
        singles,
    )


def embedded(bench: Bench) -> Measured:
    """Measure the embedded model, against its engine alone."""
    size = (2, 100)
    singles = interleaved(
        bench.rounds,
        {"careeval": lambda: bench.embedded(*size), "engine": lambda: bench.engine(*size)},
    )
    rate = {name: numbers["tokens_a_second"] for name, numbers in medians(singles).items()}
    made = row(
        "embedded model",
        rate["careeval"],
        "tokens/s",
        "engine alone",
        rate["engine"],
        Aim("≥", 0.9),
    )
    return Measured([made], singles)


def help_(bench: Bench) -> Measured:
    """Measure the time of `careeval --help`."""
    singles = interleaved(
        bench.size.n_help,
        {
            "careeval": lambda: bench.command(CAREEVAL, "--help"),
            "python": lambda: bench.command(sys.executable, "-c", "pass"),
        },
    )
    wall = {name: numbers["wall"] for name, numbers in medians(singles).items()}
    made = row(
        "`careeval --help`",
        wall["careeval"],
        "s",
        "`python -c pass`",
        wall["python"],
        Aim("<", 0.25, of="value"),
    )
    return Measured([made], singles)


def memory(bench: Bench) -> Measured:
    """Measure the memory of a run, and its growth."""
    n = bench.size.n_responses
    larger = Asked(bench.whole.bank, bench.whole.n_scenarios, 4 * bench.whole.n_samples)
    with serving(bench.size.instant) as server:
        singles = interleaved(
            bench.rounds,
            {
                "careeval": lambda: bench.careeval(server, MODEL, poll=True),
                "careeval, larger": lambda: bench.careeval(server, MODEL, asked=larger, poll=True),
            },
        )
    found = medians(singles)
    at, larger_at = found["careeval"], found["careeval, larger"]
    slope = 1000 * (larger_at["largest_mb"] - at["largest_mb"]) / (3 * n)
    return Measured(
        [
            row(
                f"largest process, {n:,} responses",
                at["largest_mb"],
                "MB",
                aim=Aim("<", 300, of="value"),
            ),
            row("… all processes", at["all_mb"], "MB"),
            row(f"… largest process, {4 * n:,} responses", larger_at["largest_mb"], "MB"),
            row("… each 1,000 responses more", slope, "MB"),
        ],
        singles,
    )


def logs(bench: Bench) -> Measured:
    """Measure the reading of nine models' logs into the two tables."""
    size = bench.size
    made = _made_logs(bench, size.n_models)

    def read() -> Numbers:
        _forget_tables()
        return bench.command(sys.executable, "-c", READ, made)

    singles = interleaved(
        bench.rounds,
        {
            "careeval": read,
            "careeval, again": lambda: bench.command(sys.executable, "-c", READ, made),
            "parsing": lambda: bench.command(sys.executable, "-c", PARSE, made),
        },
    )
    wall = {name: numbers["wall"] for name, numbers in medians(singles).items()}
    found = row(
        f"{size.n_models} logs of {size.n_responses:,} responses into tables",
        wall["careeval"],
        "s",
        "parsing alone",
        wall["parsing"],
        Aim("<", 3, of="value"),
    )
    again = row("… again, from the tables that a run leaves", wall["careeval, again"], "s")
    return Measured([found, again], singles)


def _made_logs(bench: Bench, n_models: int) -> Path:
    """Make logs of so many models, of the full size; return their folder."""
    size, made = bench.size, bench.folder()
    sizes = {"models": n_models, "scenarios": size.n_scenarios, "epochs": size.n_samples}
    options = [word for name, number in sizes.items() for word in (f"--{name}", str(number))]
    bench.command(sys.executable, HERE / "make_logs.py", made, *options)
    return made


def _forget_tables() -> None:
    """Delete the kept tables, so that the logs are read; `speed.py` gives each measure a cache."""
    shutil.rmtree(Path(os.environ["XDG_CACHE_HOME"]) / "careeval", ignore_errors=True)


def results(bench: Bench) -> Measured:
    """Measure the summary, page and leaderboard of a comparison of nine models."""
    size = bench.size
    made = _made_logs(bench, size.n_models)
    page, site = bench.folder() / "page.html", bench.folder() / "site"

    def cold() -> Numbers:
        _forget_tables()
        return bench.command(CAREEVAL, "summary", made)

    def written() -> Numbers:
        found = bench.command(CAREEVAL, "report", made, "-o", page)
        return {**found, "mb": page.stat().st_size / 1e6}

    def published() -> Numbers:
        found = bench.command(CAREEVAL, "site", made, "-o", site)
        files = [path.stat().st_size for path in site.rglob("*") if path.is_file()]
        return {**found, "mb": sum(files) / 1e6}

    singles = interleaved(
        bench.rounds,
        {
            "summary, cold": cold,
            "summary": lambda: bench.command(CAREEVAL, "summary", made),
            "loading": lambda: bench.command(sys.executable, "-c", READ, made),
            "report": written,
            "site": published,
        },
    )
    found = medians(singles)
    wall = {name: numbers["wall"] for name, numbers in found.items()}
    loading = "tables alone", wall["loading"]
    models = f"{size.n_models} models × {size.n_responses:,} responses"
    return Measured(
        [
            row(f"summary of {models}, from logs", wall["summary, cold"], "s", *loading,
                Aim("<", 6, of="value")),
            row("… from the cached tables", wall["summary"], "s", *loading,
                Aim("<", 1, of="value")),
            row("report with all responses", wall["report"], "s", *loading,
                Aim("<", 10, of="value")),
            row("… its size", found["report"]["mb"], "MB", aim=Aim("<", 25, of="value")),
            row("site", wall["site"], "s", *loading),
            row("… its size", found["site"]["mb"], "MB"),
        ],
        singles,
    )  # fmt: skip


MAX_MB = 2_000
"""Memory that a command may take of a comparison of a hundred models."""


def many(bench: Bench) -> Measured:
    """Measure the memory of a summary of a hundred models, and its growth."""
    size, made = bench.size, _made_logs(bench, 4)
    counts = (size.n_many // 4, size.n_many // 2, size.n_many)
    program = HERE / "many_models.py"
    bench.command(sys.executable, program, made, "4")
    singles = interleaved(
        bench.rounds,
        {str(n): lambda n=n: bench.command(sys.executable, program, made, str(n)) for n in counts},
    )
    found = medians(singles)
    few, half, all_ = (found[str(n)]["largest_mb"] for n in counts)
    return Measured(
        [
            row(f"{size.n_many} models summarised in one pass: memory", all_, "MB",
                aim=Aim("<", MAX_MB, of="value")),
            row(f"… from {counts[1]} to {counts[2]}", all_ - half, "MB",
                f"twice {counts[0]} to {counts[1]}", 2 * (half - few)),
            row("… wall", found[str(size.n_many)]["wall"], "s"),
        ],
        singles,
    )  # fmt: skip


def hundred(bench: Bench) -> Measured:
    """Measure the commands that read a hundred models of 1,000 responses."""
    size = bench.size
    made = _made_logs(bench, size.n_many)
    out = bench.folder()
    page = out / "page.html"
    commands: dict[str, tuple[str | Path, ...]] = {
        "summary": ("summary", made),
        "report": ("report", made, "-o", page),
        "site": ("site", made, "-o", out / "site"),
        "export": ("export", made, "--to", "csv", "-o", out / "tables"),
    }
    bench.command(CAREEVAL, "summary", made)  # leaves the tables
    singles = interleaved(
        bench.rounds,
        {name: lambda c=words: bench.command(CAREEVAL, *c) for name, words in commands.items()},
    )
    found = medians(singles)
    rows = [
        row(f"{size.n_many} models × {size.n_responses:,} responses: size of the report",
            page.stat().st_size / 1e6, "MB", aim=Aim("<", 25, of="value")),
    ]  # fmt: skip
    for name in commands:
        numbers = found[name]
        rows += [
            row(f"… {name}: memory", numbers["largest_mb"], "MB", aim=Aim("<", MAX_MB, of="value")),
            row(f"… {name}: wall", numbers["wall"], "s"),
            row(f"… {name}: CPU", numbers["cpu"], "s"),
        ]
    return Measured(rows, singles)


LOAD = "import sys; from careeval.bank import load_bank; load_bank(sys.argv[1])"
"""A bank with its probes, and nothing made of it."""
EVENTS = """
import pathlib, sys, yaml
for path in pathlib.Path(sys.argv[1]).rglob("*.yaml"):
    for event in yaml.parse(path.read_text("utf-8"), Loader=yaml.CBaseLoader):
        pass
"""
"""The floor of `LOAD`: the same files as YAML's events, and nothing made of them."""


def large_bank(bench: Bench) -> Measured:
    """Measure loading, listing and showing of a bank of 10,000 scenarios with probes."""
    n = bench.size.n_large
    bank, shown = write_large(bench.folder() / "bank", n)
    singles = interleaved(
        bench.rounds,
        {
            "load": lambda: bench.command(sys.executable, "-c", LOAD, bank),
            "events": lambda: bench.command(sys.executable, "-c", EVENTS, bank),
            "check": lambda: bench.command(CAREEVAL, "bank", "check", bank),
            "list": lambda: bench.command(CAREEVAL, "bank", "list", "--bank", bank),
            "show": lambda: bench.command(CAREEVAL, "bank", "show", shown, "--bank", bank),
        },
    )
    found = medians(singles)
    floor = "YAML's events alone", found["events"]["cpu"]
    return Measured(
        [
            row(f"{n:,} scenarios with probes, loaded: CPU", found["load"]["cpu"], "s", *floor),
            row("… memory", found["load"]["largest_mb"], "MB"),
            *(row(f"… bank {name}: CPU", found[name]["cpu"], "s", *floor)
              for name in ("check", "list", "show")),
        ],
        singles,
    )  # fmt: skip


MEASURES: dict[str, Callable[[Bench], Measured]] = {
    "first-call": first_call,
    "recorded": recorded,
    "latency": latency,
    "cpu": cpu,
    "two-models": two_models,
    "help": help_,
    "memory": memory,
    "logs": logs,
    "results": results,
    "many": many,
    "hundred": hundred,
    "large-bank": large_bank,
    "embedded": embedded,
}
