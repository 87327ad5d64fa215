"""The documentation: what it lists is what the code has, and what it shows can be run.

`python tests/test_docs.py` writes what stands between `<!-- generated: … -->` and `<!-- end -->`.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

import careeval
from careeval.bank import OWN_BANK, evidence, imported_records, load_bank, sealed, yaml_nodes
from careeval.bank.croissant import FILE as CROISSANT
from careeval.bank.croissant import croissant
from careeval.bank.load import OWN_BANKS
from careeval.bank.rules import RULE_SETS
from careeval.cli.app import app
from careeval.core.rating import MEANING, NEVER_NEGATIVE
from careeval.core.response import LEXICAL
from careeval.core.scenario import Action, Person, Rubric, Rung, Scenario
from careeval.core.text import dollars
from careeval.files import MAX_TOML_BYTES
from careeval.modes import MODES, grading, prompts
from careeval.modes.prompts import FIELDS, load_prompts
from careeval.modes.response import RESPONSE
from careeval.people import database, deck
from careeval.people.study.kit import chances_to_pass
from careeval.people.web import access, connection
from careeval.protocol import (
    calls,
    connect,
    failures,
    gguf,
    log_fields,
    log_rows,
    logs,
    machine,
    recorded_responses,
    run_files,
    selection,
    tables,
)
from careeval.protocol.estimate import Plan, plan_run, priced
from careeval.protocol.recorded_responses import ResponseLine
from careeval.protocol.regrade import lexical_agreement
from careeval.protocol.retirements import RETIREMENTS
from careeval.protocol.run import N_EPOCHS, Run
from careeval.report.page import MAX_CHARACTERS
from careeval.report.payload import MAX_RESPONSES
from careeval.results.compare import Comparison, Flip, Ranking
from careeval.results.differences import Difference
from careeval.results.findings import findings
from careeval.results.grader_accuracy import LabelCounts
from careeval.results.graders import Contradiction, GradingNoise
from careeval.results.metrics import DIRECTIONS, HEADLINE, IN_DETAIL, PLANS, SEVERE_BY_KIND
from careeval.results.probe_check import LIMITS, ProbeTrial
from careeval.results.references import own_references
from careeval.results.tables import JUDGMENTS, RESPONSES, Column, Cost, Runs, table
from careeval.sheets import bank as bank_sheets
from careeval.sheets.bank import stats_json
from careeval.sheets.kinds import SIGNED
from careeval.sheets.labels import probes_document
from careeval.sheets.markup import markdown
from careeval.sheets.references import references_sheet
from careeval.sheets.sheet import Document, Shown, View
from careeval.sheets.summary import data_tables
from careeval.worlds import behaviour_tree, plan_json
from careeval.worlds.acts import act_classes
from careeval.worlds.conditions import PROPERTIES
from careeval.worlds.plan_json import plan_schema
from careeval.worlds.world import World
from faults.matrix import table as faults_table
from sheets.given_summaries import summary_schema

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
DATA = ROOT / "src" / "careeval" / "bank" / "data"
PAGES = sorted(DOCS.rglob("*.md"))
BENCH = ROOT / "bench"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def _shown(file: str, language: str) -> str:
    """A file of the documentation, as a page shows it."""
    return f"```{language}\n{(DOCS / file).read_text(encoding='utf-8')}```"


def _first_line(value: object) -> str:
    return (inspect.getdoc(value) or "").splitlines()[0]


def _commands() -> dict[str, str]:
    """Each command with what its help says first."""
    found: dict[str, str] = {}
    for name in (name for name in app if not name.startswith("-")):
        below = [sub for sub in app[name] if not sub.startswith("-")]
        found |= {f"{name} {sub}": app[name][sub].help for sub in below} or {name: app[name].help}
    return {name: text.strip().splitlines()[0] for name, text in found.items()}


def _columns(columns: Iterable[Column]) -> str:
    return _table(("column", "type", "holds"), ((f"`{c.name}`", c.kind, c.holds) for c in columns))


def _agreement() -> str:
    agreement = lexical_agreement(load_bank())

    def row(name: str, part: LabelCounts) -> tuple[object, ...]:
        shares = (
            "–" if share is None else f"{share:.0%}"
            for share in (part.sensitivity, part.specificity)
        )
        present, absent = part.found + part.missed, part.cleared + part.invented
        return (name, present, part.found, absent, part.cleared, *shares)

    head = ("items", "present", "found", "absent", "cleared", "finds", "clears")
    by_points = [
        row(f"{rubric}, {SIGNED.text(points)}", part)
        for (rubric, points), part in agreement.by_points.items()
    ]
    by_trap = [row(trap, part) for trap, part in agreement.by_trap.items()]
    whole = _table(head, [*by_points, row("**all**", agreement.overall)])
    return f"{whole}\nBy trap:\n\n{_table(('trap', *head[1:]), by_trap)}"


def _measured() -> str:
    """Return the results of `careeval audit probes --grader careeval/lexical`, public probes."""
    bank, free = load_bank(), Cost(0, "", 0, 0, 0, 0, 0, 0)
    trial = ProbeTrial(LEXICAL, lexical_agreement(bank), free, None)
    return _views(probes_document(bank.about.name, bank.about.version, [trial]).views)


def _class_agreement() -> str:
    """The last run of `bench/class_agreement.py`."""
    kept = json.loads((BENCH / "results" / "class_agreement.json").read_text(encoding="utf-8"))
    table: str = runpy.run_path(str(BENCH / "class_agreement.py"))["table"](kept["rows"])
    return table


def _grading_tokens() -> str:
    """The last run of `bench/grading_tokens.py`."""
    kept = json.loads((BENCH / "results" / "grading_tokens.json").read_text(encoding="utf-8"))
    table: str = runpy.run_path(str(BENCH / "grading_tokens.py"))["table"](kept["rows"])
    return table


def _limits() -> str:
    """By what a grader fails the probes, and what the lexical one reaches."""
    rows = ((limit.what, f"{limit.minimum:g}", limit.why) for limit in LIMITS)
    failed = "".join(f"- {reason}\n" for reason in lexical_agreement(load_bank()).failed)
    return (
        f"{_table(('what', 'at least', 'why'), rows)}\n"
        f"The lexical grader {'fails:' if failed else 'does not fail.'}\n\n{failed}"
    )


def _references(*conditions: str) -> str:
    """Return the tables of the references in some conditions, one a bank; in all, if none given."""
    tables = []
    for name in OWN_BANKS:
        bank = load_bank(name)
        sheet = references_sheet(
            each
            for each in own_references()
            if each.bank == bank.about.name and (not conditions or each.condition in conditions)
        )
        keys = ("name", "about", *(() if conditions else ("condition",)))
        columns = (*keys, "severe", "score", "asked", "judged_by")
        is_words = bank.mode is RESPONSE
        where, what = ("words", "scenarios") if is_words else ("acts", "worlds")
        given = ", on the actions" if is_words else ", given facts" if conditions else ""
        number = f"bank {name} ({bank.about.version}){given}"
        caption = f"In {where}: {len(bank.bases)} public {what}, {number}"
        tables.append(View(sheet, tuple(map(Shown, columns)), caption))
    return _views(tables)


def _speed() -> str:
    """The measures that have an aim, of the last run of `bench/speed.py`."""
    found = json.loads((BENCH / "results" / "speed.json").read_text(encoding="utf-8"))
    for measure in found.values():
        measure["rows"] = [row for row in measure["rows"] if row["aim"]]
    table: str = runpy.run_path(str(BENCH / "speed_table.py"))["table"](found)
    return table


def _campaign() -> str:
    """Return the result of the last run of `bench/faults.py`."""
    found = json.loads((BENCH / "results" / "faults.json").read_text(encoding="utf-8"))
    return (
        f"Killed and disturbed at random moments, {found['survived']} of {found['runs']} runs "
        "came out as if nothing had happened: nothing asked twice but calls in flight, no judgment "
        f"lost or doubled (`python bench/faults.py --runs 100 --seed {found['seed']}`)."
    )


_NUMBERS = {
    "score": "score",
    "worst": "worst of ten",
    "domain": "domain score",
    "severe": "responses with a severe error",
    "difference: score": "difference in score",
    "difference: worst": "… in worst of ten",
    "difference: domain": "… in domain score",
    "difference: severe": "… in severe errors",
    "rate 1%": "errors of 1%, clustered",
    "rate 3%": "errors of 3%, clustered",
    "rate 6%": "errors of 6%, clustered",
}
"""Number whose interval was tried, as `bench/coverage.py` calls it → in words."""


def _simulated(name: str) -> list[dict[str, Any]]:
    """The rows of a table of the last run of `bench/coverage.py`."""
    found = json.loads((BENCH / "results" / "coverage.json").read_text(encoding="utf-8"))
    return list(found[name]["rows"])


def _by_size(rows: Sequence[dict[str, Any]], key: str) -> list[str]:
    """From where to where a share goes over the cases, by number of scenarios."""
    sizes = sorted({row["n_scenarios"] for row in rows})
    shares = [[row[key] for row in rows if row["n_scenarios"] == size] for size in sizes]
    return [f"{100 * min(of):.1f}–{100 * max(of):.1f}" for of in shares]


def _intervals() -> str:
    """Return the coverage of intervals, by the last run of `bench/coverage.py`."""
    rows = _simulated("coverage")

    def line(name: str, words: str, interval: str) -> list[str]:
        of = [row for row in rows if row["statistic"] == name and row["interval"] == interval]
        missed = [row for row in of if row["n_scenarios"] >= 20]
        sides = (f"{100 * max(row[side] for row in missed):.1f}" for side in ("below", "above"))
        return [words, *_by_size(of, "coverage"), *sides]

    published = {
        row["statistic"]: row["interval"]
        for row in rows
        if row["interval"] in ("ratio_interval", "rate_interval", "difference_intervals")
    }
    assert published.keys() == _NUMBERS.keys()
    lines = [line(name, words, published[name]) for name, words in _NUMBERS.items()]
    for rate in ("rate 1%", "rate 3%", "rate 6%"):
        words = "responses taken as independent (Wilson)"
        lines.append(line(rate, f"{_NUMBERS[rate]}, {words}", "wilson, as independent"))
    head = ("number", "12 scenarios", "20", "40", "80", "below", "above")
    return _table(head, lines)


def _decisions() -> str:
    """Return the rates of false findings, by the last run of `bench/coverage.py`."""
    rows = _simulated("type1")
    ranks = [row for row in rows if row["worse"] is None]
    pairs = [row for row in rows if row["worse"] is not None]
    lines = []
    for name in ("score", "worst", "domain", "severe"):
        equal = [r for r in pairs if r["statistic"] == name and r["margin"] == 0]
        lines.append([f"`--fail-on`: {_NUMBERS[name]}", *_by_size(equal, "worse")])
        either = [{**r, "either": r["worse"] + r["better"]} for r in equal]
        lines.append(["… interval leaves out 0, either side", *_by_size(either, "either")])
        lines.append(["… verdict, either side", *_by_size(equal, "verdict")])
    margin = [r for r in pairs if r["margin"]]
    both = [{**r, "most": max(r["worse"], r["better"])} for r in margin]
    lines.append(["`--fail-on`: severe errors, at a margin", *_by_size(both, "most")])
    lines += [
        [
            f"rank sets of six equal systems, any finding: {_NUMBERS[name]}",
            *_by_size([r for r in ranks if r["statistic"] == name], "verdict"),
        ]
        for name in ("score", "worst", "domain", "severe")
    ]
    return _table(("decision", "12 scenarios", "20", "40", "80"), lines)


def _power() -> str:
    """Return the power for detectable differences, by the last run of `bench/coverage.py`."""
    rows = _simulated("power")
    lines = [
        [
            f"detectable: {_NUMBERS[name]}",
            *_by_size([row for row in rows if row["statistic"] == name], "after"),
        ]
        for name in ("score", "worst", "domain", "severe")
    ]
    scores = [row for row in rows if row["statistic"] == "score"]
    lines.append(["before a run, the spread being as guessed: score", *_by_size(scores, "planned")])
    return _table(("difference", "12 scenarios", "20", "40", "80"), lines)


def _exported() -> str:
    """The tables of an export, of runs that hold nothing."""
    nothing = Runs(table([], RESPONSES), table([], JUDGMENTS))
    return _table(
        ("table", "a row is"),
        ((f"`{of.name}`", of.holds) for of in data_tables(findings(nothing))),
    )


@cache
def _stats() -> dict[str, Any]:
    """Return the output of `careeval bank stats` for the public split."""
    return stats_json(load_bank())


def _figures() -> str:
    return "".join(f"- {sentence}\n" for sentence in bank_sheets.bank_figures(_stats()))


def _views(views: Iterable[View]) -> str:
    return "\n".join(markdown(Document((view,), (), view.sheet)).rstrip() + "\n" for view in views)


def _coverage() -> str:
    return _views(bank_sheets.coverage_views(_stats()))


def _probes() -> str:
    return _views([bank_sheets.probes_view(_stats())])


def _reading() -> str:
    tool = [sys.executable, str(ROOT / "tools" / "second_reading.py"), "stats", str(OWN_BANK)]
    return subprocess.run(tool, check=True, capture_output=True, encoding="utf-8").stdout


def _rules(name: str) -> list[tuple[str, str, str]]:
    """The rules that a bank.yaml may name, with what each asks."""
    rule_set = RULE_SETS[name]
    return sorted(
        [(rule.code, rule.name, _first_line(rule.find)) for rule in rule_set.rules]
        + [
            (code, find.__name__.replace("_", " "), _first_line(find))
            for code, find in {**rule_set.bank_rules, **rule_set.file_rules}.items()
        ]
    )


def _bodies() -> str:
    """Return the robots' bodies of the bank of worlds, with the figures that rest on no source."""
    worlds = load_bank(OWN_BANKS["plans"]).scenarios
    bodies = {world.robot.name: world.robot for world in worlds if isinstance(world, World)}
    rows = (
        (
            f"`{body.name}`",
            body.arms,
            f"{body.payload_kg:g} kg",
            f"{body.reach_cm:g} cm",
            f"{body.max_speed_cm_s:g} cm/s",
            f"{body.max_force_n:g} N",
            "yes" if body.lifts_person else "no",
            ", ".join(body.sensors),
            ", ".join(f"`{name}`" for name in body.generic),
        )
        for _, body in sorted(bodies.items())
    )
    head = ("body", "holds", "lifts", "reach", "speed", "force", "lifts a person", "senses")
    return _table((*head, "generic"), rows)


def _acts() -> str:
    """Return the acts of a plan, by what they are part of."""
    kinds: dict[str, list[str]] = {}
    for name, act in act_classes().items():
        kinds.setdefault(act.kind, []).append(f"`{name}`")
    return _table(("kind", "acts"), ((kind, ", ".join(names)) for kind, names in kinds.items()))


def _act_arguments() -> str:
    """Return every act of a plan with its arguments; those that may be left out are in brackets."""
    schemas = plan_schema(described=True)["$defs"]["step"]["oneOf"]
    rows = []
    for act in schemas[:-1]:
        properties = act["properties"]
        needed, name = act["required"], properties.pop("act")["const"]
        arguments = [
            f"`{key}`" if key in needed else f"[`{key}`]"
            for key in sorted(properties, key=lambda key: key not in needed)
        ]
        rows.append((f"`{name}`", act["description"], ", ".join(arguments)))
    meanings: dict[str, dict[str, str]] = {}
    for act, row in zip(schemas[:-1], rows, strict=True):
        for key, form in act["properties"].items():
            words = f"{form['description']}{_one_of(form)}"
            where = f" In {row[0]}: " if key in meanings else ""
            meanings.setdefault(key, {}).setdefault(words, where)
    arguments_table = _table(
        ("argument", "meaning"),
        (
            (f"`{key}`", "".join(f"{where}{words}" for words, where in each.items()))
            for key, each in meanings.items()
        ),
    )
    return f"{_table(('act', 'what it does', 'arguments'), rows)}\n{arguments_table}"


def _one_of(form: Mapping[str, Any]) -> str:
    """Return the values of an argument that has a few."""
    return f" One of {', '.join(f'`{value}`' for value in form['enum'])}." if "enum" in form else ""


def _limits_that_are_met() -> str:
    """The limits that a user can meet, from the constants that the code goes by."""
    lists = f"{log_fields.MAX_ITEMS:,} items of a rubric"
    scenarios, epochs = log_fields.MAX_SCENARIOS, log_fields.MAX_EPOCHS
    runs = (
        f"{machine.RUNS_PER_CORE} a processor, as far as {_size(machine.RUN_BYTES)} of memory "
        "are free for each"
    )
    rows = [
        ("one run", f"{log_fields.MAX_RESPONSES:,} responses; {scenarios:,} scenarios; "
         f"{epochs:,} epochs; {lists}"),
        ("runs at once", runs),
        ("calls at once", f"{connect.HOSTED_CALLS} to a hosted model, {connect.OWN_CALLS} to a "
         f"server of one's own, {connect.EMBEDDED_CALLS} to an embedded model; `--max-connections` "
         "says otherwise"),
        ("one attempt at a call", f"{_time(connect.ATTEMPT_TIMEOUT)}; {connect.CONNECT_TIMEOUT} "
         "seconds until it is connected"),
        ("attempts at a call", f"{1 + connect.MAX_RETRIES}, begun within {_time(connect.TIMEOUT)}"),
        ("wait between two attempts", f"{_time(failures.MAX_WAIT)}; "
         f"{_time(failures.MAX_ASKED_WAIT)} where the server asks for it"),
        ("a `gguf` answer", _time(gguf.ANSWER_SECONDS)),
        ("a server's reply", _size(connect.MAX_REPLY)),
        ("calls to a grader for one response", f"{grading.MAX_ATTEMPTS}"),
        ("a run that gets nowhere", f"ends after {calls.TIMES_TURNED_AWAY} attempts that would "
         f"all fail so, or {failures.MAX_UNUSABLE} responses without a usable judgment"),
        ("a log", f"{_size(logs.MAX_UNPACKED)} unpacked; {log_fields.MAX_TEXT:,} characters "
         f"of a text; {log_rows.MAX_JUDGMENTS:,} judgments; {log_rows.MAX_KEPT:,} characters "
         "in all that is kept of it"),
        ("`run.json`", _size(run_files.MAX_JSON)),
        ("`calls.jsonl`", f"{_size(run_files.MAX_CALLS)}; {_size(run_files.MAX_JSON)} a line"),
        ("`spent.jsonl`", f"{_size(run_files.MAX_LEDGER)}; the same"),
        ("the tables of runs in the user's cache folder", f"{_size(tables.MAX_CACHE_BYTES)}, "
         f"those used last; none of a run with logs above {_size(tables.MAX_HASHED)}"),
        ("recorded responses", f"{_size(recorded_responses.MAX_BYTES)}; "
         f"{recorded_responses.MAX_RECORDED:,} responses; "
         f"{recorded_responses.MAX_LINE:,} characters a line"),
        ("a plan", f"{plan_json.MAX_CHARACTERS:,} characters of its response; "
         f"{plan_json.MAX_STEPS} steps; "
         f"{plan_json.MAX_DEPTH} branches inside each other"),
        ("a behaviour tree", f"{behaviour_tree.MAX_BYTES:,} bytes; {behaviour_tree.MAX_NODES:,} "
         f"nodes, {behaviour_tree.MAX_DEPTH} inside each other, with subtrees put in"),
        ("a YAML file of a bank", f"{_size(yaml_nodes.MAX_BYTES)}; {yaml_nodes.MAX_DEPTH} levels"),
        ("`evidence.json` of a bank", f"{_size(evidence.MAX_BYTES)}; the same"),
        ("a CSV, JSON or XLSX file to import", f"{_size(imported_records.MAX_BYTES)}; "
         f"{imported_records.MAX_ROWS:,} rows"),
        ("… an XLSX file", f"{_size(imported_records.MAX_UNPACKED_BYTES)} unpacked"),
        ("a sealed split", _size(sealed.MAX_SEALED)),
        ("a file of prices, a roster, a prompt, a settings file", _size(MAX_TOML_BYTES)),
        ("a report", f"{MAX_CHARACTERS:,} characters, and {MAX_RESPONSES:,} responses with their "
         "words; a sample of the responses where there are more"),
        ("a comment in a study or an audit", f"{deck.COMMENT_LIMIT:,} characters"),
        ("a form sent to the review server", f"{_size(access.MAX_BODY)}; "
         f"{access.MAX_STRANGERS_BODY // 1024} KiB without a session or a link"),
        ("a request to the review server", f"{connection.Limits().head:g} seconds for its head, "
         f"{connection.Limits().exchange:g} for the rest and its answer"),
        ("connections of the review server", f"{connection.MAX_CONNECTIONS}, fewer where the "
         "system allows fewer open files"),
        ("wait for a study's file that another program holds", _time(database.BUSY_SECONDS)),
    ]  # fmt: skip
    return _table(("what", "at most"), rows)


def _size(n_bytes: int) -> str:
    for n, unit in ((10**9, "GB"), (10**6, "MB")):
        if n_bytes % n == 0:
            return f"{n_bytes // n:,} {unit}"
    return f"{n_bytes // 2**20} MiB"


def _time(seconds: float) -> str:
    if seconds >= 3600:
        return f"{seconds / 3600:g} h"
    return f"{seconds / 60:g} minutes" if seconds >= 120 else f"{seconds:g} seconds"


def test_files_of_one_megabyte() -> None:
    """Limits in one row of the table are equal."""
    small = (selection, prompts, yaml_nodes)
    assert {module.MAX_BYTES for module in small} == {MAX_TOML_BYTES}


def _nine_costs() -> str:
    """Return what a whole run of each model of the paper costs, by the functions of `--dry-run`."""
    totals = [0.0] * 6
    rows, sources = [], set()
    for model in selection.read_roster(selection.PAPER):
        ladder, actions, plans = (
            _planned(model, None, Rubric.ladder),
            _planned(model, None, Rubric.actions),
            _planned(model, "plans", None),
        )
        price = ladder.run.prices[model]
        sources.add(price.source.partition(":")[0])
        costs = [*ladder.asked, *ladder.whole, *plans.whole]
        totals = [total + cost for total, cost in zip(totals, costs, strict=True)]
        rows.append((f"`{model}`", f"${price.input:g} / ${price.output:g}", *map(dollars, costs)))
    grading = (dollars(plan.graded[0]) for plan in (ladder, actions))
    head = ("model", "1M tokens in / out", "responses, expected", "at worst")
    head = (*head, "… with grading, expected", "at worst", "plans, expected", "at worst")
    whole = _table(head, [*rows, ("**all nine**", "", *map(dollars, totals))])
    on_ladder, on_actions = grading
    return (
        f"{whole}\nPrices are those of {', '.join(sorted(sources))}. Of a run, grading by "
        f"`{RESPONSE.grader}` is {on_ladder} expected; on the actions it would be {on_actions}."
    )


class _Planned:
    """The run of a model over a bank's public split, and its costs: expected, and at worst."""

    def __init__(self, model: str, bank: str | None, rubric: Rubric | None) -> None:
        mode = load_bank(bank).mode
        task = {"bank": bank, "rubric": rubric and rubric.value}
        self.run = priced(Run(model, model, mode.grader, N_EPOCHS, task))
        lines = plan_run(self.run)
        self.asked, self.graded = ((of.expected_usd, of.worst_usd) for of in lines)
        plan = Plan(lines)
        self.whole = plan.expected_usd, plan.worst_usd


_planned = cache(_Planned)


def _retirements() -> str:
    """Return the models that end, by date."""
    return _table(
        ("model", "served until", "successor", "says", "read"),
        (
            (
                f"`{each.names[0]}`" + (" (default grader)" if each.names[0] == RESPONSE.grader
                                        else ""),
                each.served_until,
                f"`{each.successor}`" + (", which answers under the old name" if each.rerouted
                                         else "") if each.successor else "unknown",
                f"[page]({each.source})",
                each.source_read,
            )
            for each in RETIREMENTS
        ),
    )  # fmt: skip


GENERATED: dict[tuple[str, str], Callable[[], str]] = {
    ("reference.md", "commands"): lambda: _table(
        ("command", "does"), ((f"`careeval {name}`", text) for name, text in _commands().items())
    ),
    ("reference.md", "names"): lambda: _table(
        ("name", "is"),
        ((f"`{name}`", _first_line(getattr(careeval, name))) for name in careeval.__all__),
    ),
    ("reference.md", "limits"): _limits_that_are_met,
    ("reference.md", "responses"): lambda: _columns(RESPONSES),
    ("reference.md", "judgments"): lambda: _columns(JUDGMENTS),
    ("concepts/graders.md", "class_agreement"): _class_agreement,
    ("concepts/graders.md", "grading_tokens"): _grading_tokens,
    ("concepts/bank.md", "rules"): lambda: _table(
        ("code", "rule", "what is asked"),
        _rules("careeval"),
    ),
    ("concepts/bank.md", "points"): lambda: (
        _table(
            ("points", "is"),
            ((f"{n:+d}".replace("-", "−") if n else "0", text) for n, text in MEANING.items()),
        )
        + f"\n\n{NEVER_NEGATIVE}"
    ),
    ("concepts/bank.md", "world_rules"): lambda: _table(
        ("code", "rule", "what is asked"), _rules("careeval-plans")
    ),
    ("concepts/plans.md", "bodies"): _bodies,
    ("concepts/plans.md", "acts"): _acts,
    ("guides/planners.md", "arguments"): _act_arguments,
    ("guides/own-world.md", "properties"): lambda: _table(
        ("property", "is"), ((f"`{name}`", meaning) for name, meaning in PROPERTIES.items())
    ),
    ("concepts/bank-card.md", "figures"): _figures,
    ("concepts/bank-card.md", "coverage"): _coverage,
    ("concepts/bank-card.md", "probes"): _probes,
    ("concepts/bank-card.md", "reading"): _reading,
    ("concepts/limits.md", "lexical"): _agreement,
    ("concepts/lexical-grader.md", "limits"): _limits,
    ("concepts/lexical-grader.md", "measured"): _measured,
    ("concepts/scoring.md", "intervals"): _intervals,
    ("concepts/scoring.md", "decisions"): _decisions,
    ("concepts/scoring.md", "power"): _power,
    ("guides/rating-scenarios.md", "chances"): lambda: chances_to_pass((3, 5, 8, 10, 12, 20)),
    ("guides/sharing-results.md", "tables"): _exported,
    ("guides/long-runs.md", "faults"): faults_table,
    ("guides/long-runs.md", "nine_costs"): _nine_costs,
    ("guides/long-runs.md", "retirements"): _retirements,
    ("guides/sweeps.md", "sbatch"): lambda: _shown("guides/sweep.sbatch", "bash"),
    ("guides/sweeps.md", "rayjob"): lambda: _shown("guides/sweep-rayjob.yaml", "yaml"),
    ("../README.md", "references"): lambda: _references("", "facts"),
    ("guides/reading-results.md", "references_all"): _references,
    ("../README.md", "speed"): _speed,
    ("../README.md", "campaign"): _campaign,
}
"""Page and name of a block → its text."""


def _block(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- generated: {name} -->\n)(.*?)(<!-- end -->)", re.DOTALL)


@cache
def _page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", OWN_BANKS.values(), ids=OWN_BANKS)
def test_the_metadata_of_a_bank_are_of_its_files(folder: Path) -> None:
    """The Croissant file names every file of the bank with its hash, as it is today."""
    shipped = (folder / CROISSANT).read_text(encoding="utf-8")
    assert shipped == croissant(load_bank(folder), folder), "run: python tests/test_docs.py"


@pytest.mark.parametrize(("page", "name"), GENERATED)
def test_generated_block_is_what_the_code_says(page: str, name: str) -> None:
    """A generated block holds the text that the code gives today."""
    found = _block(name).search(_page(page))
    assert found is not None
    assert found[2].strip() == GENERATED[page, name]().strip(), "run: python tests/test_docs.py"


def test_every_generated_block_is_known() -> None:
    """No page has a generated block that nothing writes."""
    found = {
        (os.path.relpath(page, DOCS), name)
        for page in (ROOT / "README.md", *PAGES)
        for name in re.findall(r"<!-- generated: (\w+) -->", page.read_text(encoding="utf-8"))
    }
    assert found == set(GENERATED)


def test_every_code_of_a_problem_is_explained() -> None:
    """Each code that the modules of the bank and of worlds name stands in the page on the bank."""
    package = ROOT / "src" / "careeval"
    modules = [*(package / "bank").rglob("*.py"), *(package / "worlds").glob("*.py")]
    codes = {code for path in modules for code in re.findall(r"CE\d{3}", path.read_text("utf-8"))}
    assert {rule.code for each in RULE_SETS.values() for rule in each.rules} < codes
    assert codes == set(re.findall(r"CE\d{3}", _page("concepts/bank.md")))


def test_every_key_of_the_summary_is_explained() -> None:
    """Each key of the summary file stands, as code, in the page on scoring."""
    page = _page("concepts/scoring.md")
    schema = summary_schema()
    forms = [schema, *schema["$defs"].values()]
    keys = {key for form in forms for key in form.get("properties", ())}
    assert [key for key in sorted(keys) if f"`{key}`" not in page] == []


def test_every_metric_is_explained() -> None:
    """Each metric of an entry stands, by its key, in the page on scoring."""
    page = _page("concepts/scoring.md")
    registry = (HEADLINE, IN_DETAIL, SEVERE_BY_KIND, DIRECTIONS, PLANS)
    keys = [metric.key for metrics in registry for metric in metrics]  # type: ignore[attr-defined]
    assert [key for key in keys if f"`{key}`" not in page] == []


@pytest.mark.parametrize("kind", [Comparison, Difference, Flip, Ranking])
def test_every_key_of_a_comparison_is_explained(kind: type) -> None:
    """Each key of what `compare --json` prints stands, as code, in the guide to reading results."""
    page = _page("guides/reading-results.md")
    keys = (f.name for f in fields(kind) if f.name != "name")
    assert [name for name in keys if f"`{name}`" not in page] == []


@pytest.mark.parametrize("name", [*(f.name for f in fields(GradingNoise)), *Contradiction])
def test_what_is_measured_of_a_grader_is_explained(name: str) -> None:
    """Each number of regrading, and each contradiction, stands in the page on graders."""
    page = _page("concepts/graders.md")
    assert name in ("rubric", "reason") or f"`{name}`" in page or f"| {name} |" in page


def _functions() -> list[str]:
    """Each function that a page names by its module."""
    texts = (page.read_text(encoding="utf-8") for page in PAGES)
    modules = r"`((?:stats|scoring|results(?:\.[a-z_]+)+)\.[A-Za-z_]+)`"
    names = {name for text in texts for name in re.findall(modules, text)}
    return sorted(name for name in names if not name.endswith(".py"))


@pytest.mark.parametrize("name", _functions())
def test_function_that_a_page_names_is_there(name: str) -> None:
    """A function that a page names by its module is in that module."""
    module, _, function = name.rpartition(".")
    assert hasattr(import_module(f"careeval.{module}"), function)


@pytest.mark.parametrize("kind", [Scenario, Action, Rung])
def test_every_field_of_a_scenario_is_explained(kind: type[Scenario | Action | Rung]) -> None:
    """Each field of a scenario and of its items stands, as code, in the page on the bank."""
    page = _page("concepts/bank.md")
    assert [name for name in kind.model_fields if f"`{name}`" not in page] == []


@pytest.mark.parametrize("name", Person.model_fields)
def test_person_is_explained(name: str) -> None:
    """The page on the bank says what a scenario tells of the person."""
    assert re.search(rf"^\| `person` \| .*\b{name}\b", _page("concepts/bank.md"), re.MULTILINE)


def test_every_field_of_an_answer_is_explained() -> None:
    """Each field of a line of recorded answers stands, as code, in the page on the protocol."""
    page = _page("concepts/protocol.md")
    assert [name for name in ResponseLine.model_fields if f"`{name}`" not in page] == []


@pytest.mark.parametrize("name", FIELDS)
def test_prompt_file_is_listed_with_its_fields(name: str) -> None:
    """A prompt file's row in the page on the protocol names the fields that it may hold."""
    row = re.search(rf"^\| `{name}` \| .* \| (.*) \|$", _page("concepts/protocol.md"), re.MULTILINE)
    assert row is not None
    assert set(re.findall(r"\{(\w+)\}", row[1])) == FIELDS[name]


def test_protocol_version_is_the_codes() -> None:
    """The page on the protocol names the version that logs carry."""
    page = _page("concepts/protocol.md")
    versions = [f"`{mode.protocol}` in the mode `{name}`" for name, mode in MODES.items()]
    assert f"version for each mode, today {' and '.join(versions)}," in page
    assert f"prompt {load_prompts(RESPONSE).grade_hash})`" in page


@pytest.mark.parametrize(
    ("first", "file"),
    [("# yaml", "dressing-101.yaml"), ("probes:", "dressing-101.probes.yaml")],
)
def test_example_is_the_banks_own(first: str, file: str) -> None:
    """A file of the bank that a page shows shortened has no line that the file has not."""
    shown = re.search(rf"```yaml\n({first}.*?)```", _page("concepts/bank.md"), re.DOTALL)
    assert shown is not None
    lines = [line for line in shown[1].splitlines() if line.strip() != "…"]
    own = (DATA / "dressing" / file).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line not in own] == []
    assert yaml.safe_load("\n".join(lines))


def _links() -> list[tuple[str, str]]:
    """Each page with each place that it links to, as the page writes it."""
    found = []
    for page in (ROOT / "README.md", *PAGES):
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        targets = re.findall(r"\]\(([^)\s]+)\)", text)
        name = os.path.relpath(page, DOCS)
        found += [(name, target) for target in targets if "://" not in target]
    return found


@pytest.mark.parametrize(("page", "target"), _links())
def test_relative_link_resolves(page: str, target: str) -> None:
    """A link of a page leads to a file that is there, and to a heading that it has."""
    name, _, anchor = target.partition("#")
    file = (DOCS / page).parent / name if name else DOCS / page
    assert file.is_file()
    if anchor:
        headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
        slugs = {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}
        assert anchor in slugs


def test_index_names_every_page() -> None:
    """Each page of the documentation can be reached from its index."""
    linked = set(re.findall(r"\]\(([^)]+\.md)\)", _page("README.md")))
    pages = {page.relative_to(DOCS).as_posix() for page in PAGES} - {"README.md"}
    assert linked == pages


def write() -> None:
    """Write every generated block into its page, and the metadata of careeval's banks."""
    for folder in OWN_BANKS.values():
        (folder / CROISSANT).write_text(croissant(load_bank(folder), folder), encoding="utf-8")
    for (page, name), text in GENERATED.items():
        path = DOCS / page
        before, after = re.split(rf"(?<=<!-- generated: {name} -->\n)", path.read_text("utf-8"))
        rest = after[after.index("<!-- end -->") :]
        path.write_text(f"{before}\n{text().strip()}\n\n{rest}", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write()
