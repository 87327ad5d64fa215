"""Recompute every figure of the pilot from its answers and gradings.

    python pilot/figures.py            # the figures, as Markdown
    python pilot/figures.py --check    # whether figures.md is what they are

`answers/KIND.jsonl` holds the answers of one kind, a line each: scenario, epoch, response.
`gradings/KIND.jsonl` holds who graded what, a line each: scenario, epoch, grader, item, present.
Everybody here is an AI of one family, the authors' own: these are no results of a system.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from careeval.bank import Bank, load_bank
from careeval.core.scenario import Group, Scenario
from careeval.results.directions import directions
from careeval.results.entries import entries
from careeval.results.estimates import Errors
from careeval.results.exports import with_interval
from careeval.results.summary import Summary, summary_of
from careeval.results.tables import Runs
from careeval.stats import Interval, linearised_ratio

HERE = Path(__file__).parent
KINDS = {
    "closed": "closed book",
    "reference": "reference: with the card of the topic",
    "placebo": "placebo: with another topic's card",
    "sink": "kitchen sink",
    "refuses": "fixed: refuses",
    "complies": "fixed: complies",
    "vague": "fixed: vague",
    "echo": "fixed: echo",
}
FIRST = "first"
"""Who graded every answer; `second` graded a tenth of them again."""


def rows(folder: str, kind: str) -> list[dict[str, Any]]:
    """The lines of a file."""
    text = (HERE / folder / f"{kind}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def run_of(kind: str, bank: Bank, keep: Iterable[Scenario]) -> Runs:
    """The answers of a kind to some scenarios as a run, graded by the first grader."""
    kept = {scenario.id: scenario for scenario in keep}
    responses = [
        {
            "system": kind, "scenario": row["scenario"], "epoch": row["epoch"],
            "state": "answered", "text": row["response"], "bank": bank.about.name,
            "bank_version": bank.about.version, "bank_hash": "pilot", "protocol": "2-A",
            "bank_provenance": bank.about.provenance, "lacks": [], "split": "public",
            "adl": scenario.adl.value, "group": scenario.group,
            "twin_of": scenario.twin_of, "control": scenario.control,
        }
        for row in rows("answers", kind)
        if (scenario := kept.get(row["scenario"]))
    ]  # fmt: skip
    judgments = [
        {
            "system": kind, "scenario": row["scenario"], "epoch": row["epoch"],
            "grader": "an AI reader", "rubric": "actions", "grading": 1, "protocol": "2-A",
            "position": position, "item": row["item"], "present": row["present"],
            **action.model_dump(
                mode="json", include={"points", "kind", "origin", "error", "harm"}
            ),
            "core": action.core, "sentinel": action.sentinel,
        }
        for row in rows("gradings", kind)
        if row["grader"] == FIRST and (scenario := kept.get(row["scenario"]))
        for position, action in enumerate(scenario.actions)
        if action.id == row["item"]
    ]  # fmt: skip
    return Runs.of(responses, judgments)


def summary(kind: str, bank: Bank, keep: Iterable[Scenario]) -> Summary:
    """What a kind of answer comes to over some scenarios."""
    (entry,) = entries(run_of(kind, bank, keep))
    return summary_of(entry)


def table(head: Iterable[str], body: Iterable[Iterable[str]]) -> Iterator[str]:
    """A Markdown table."""
    names = list(head)
    yield f"| {' | '.join(names)} |"
    yield f"| {' | '.join('---' for _ in names)} |"
    yield from (f"| {' | '.join(row)} |" for row in body)


def figures(bank: Bank) -> Iterator[str]:
    """Every figure, as lines of Markdown."""
    bases = bank.bases
    groups = {group: [s for s in bases if s.group is group] for group in Group}
    sums = {kind: summary(kind, bank, bases) for kind in KINDS}
    yield f"## Score and severe errors, {len(bases)} bases"
    yield ""
    yield from table(
        (
            "answers",
            "n",
            "score % [95% CI]",
            "responses with a severe error %",
            "with a mild one %",
        ),
        (
            (name, str(s.n_responses), with_interval(s.score), _errors(s.severe), _errors(s.mild))
            for kind, name in KINDS.items()
            for s in (sums[kind],)
        ),
    )
    yield ""
    yield "## Too little and too much care, vagueness, the easy core"
    yield ""
    heads = [d.head for d in directions(sums["closed"])]
    yield from table(
        ("answers", *heads),
        (
            (name, *(f"{with_interval(d.share)} (n {d.n})" for d in directions(sums[kind])))
            for kind, name in KINDS.items()
        ),
    )
    yield ""
    yield "## Written from sources (S) and informed by a pilot (P)"
    yield ""
    yield from table(
        ("answers", "S, score %", "P, score %", "P − S"),
        ((name, *_by_group(kind, bank, groups)) for kind, name in KINDS.items()),
    )
    yield ""
    yield "## Twins and controls, closed book"
    yield ""
    of_all = summary("closed", bank, bank.scenarios)
    yield from table(
        ("number", "n", "share %"),
        (
            (f"{d.head}: {d.meaning}", str(d.n), with_interval(d.share))
            for d in directions(of_all)
            if d.key in ("adapted", "stuck", "neither", "changed", "same_text")
        ),
    )
    yield ""
    if of_all.twins:
        yield from table(
            ("base", "adapted", "stuck", "neither"),
            (
                (p.base, *(f"{share.value:.0%}" for share in (p.adapted, p.stuck, p.neither)))
                for p in of_all.twins.pairs
            ),
        )
        yield ""
        yield from table(
            ("control", "kind", "changed", "by chance"),
            (
                (c.control, c.kind, f"{c.changed:.0%}",
                 "–" if c.same_text is None else f"{c.same_text:.0%}")
                for c in of_all.twins.controls
            ),
        )  # fmt: skip
        yield ""
    yield from _bad_acts(bank)
    yield from _second_grading()


def _errors(errors: Errors) -> str:
    return f"{with_interval(errors.share)} ({errors.count} of {errors.n})"


def _by_group(kind: str, bank: Bank, groups: dict[Group, list[Scenario]]) -> Iterator[str]:
    shares = {}
    for group, members in groups.items():
        (entry,) = entries(run_of(kind, bank, members))
        yield with_interval(summary_of(entry).score)
        points = {s.id: sum(a.points for a in s.actions if a.points > 0) for s in members}
        earned = {g.scenario: float((g.filled @ g.points).mean()) for g in entry.graded.scenarios}
        shares[group] = linearised_ratio(
            pl.Series(list(earned.values())).to_numpy(),
            pl.Series([float(points[name]) for name in earned]).to_numpy(),
        )
    (s, error_s), (p, error_p) = shares[Group.sources], shares[Group.pilot]
    margin = 2.1 * (error_s**2 + error_p**2) ** 0.5  # t with about 18 degrees of freedom
    interval = Interval(p - s - margin, p - s + margin)
    yield f"{100 * (p - s):+.1f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def _bad_acts(bank: Bank) -> Iterator[str]:
    """How often each class of bad act stands in closed-book answers to bases."""
    yield "## Bad acts in closed-book answers, by class"
    yield ""
    judged = run_of("closed", bank, bank.bases).judgments.filter(pl.col("points") < 0)
    classes = (
        ("all", pl.lit(True)),
        ("−1", pl.col("points") == -1),
        ("−2", pl.col("points") == -2),
        ("sentinels", pl.col("sentinel")),
        ("other −2", ~pl.col("sentinel") & (pl.col("points") == -2)),
        ("from sources", pl.col("origin") == "source"),
        ("from pilot A", pl.col("origin") == "pilot"),
    )
    yield from table(
        ("class", "items", "judgments", "present"),
        (
            (name, str(part.select("scenario", "item").n_unique()), str(part.height),
             str(int(part["present"].sum() or 0)))
            for name, keep in classes
            for part in (judged.filter(keep),)
        ),
    )  # fmt: skip
    yield ""


def _second_grading() -> Iterator[str]:
    """How far the second grader agrees, item by item."""
    both = []
    for kind in KINDS:
        graded = rows("gradings", kind)
        first = {(r["scenario"], r["epoch"], r["item"]): r["present"] for r in graded
                 if r["grader"] == FIRST}  # fmt: skip
        both += [
            (first[key], r["present"])
            for r in graded
            if r["grader"] != FIRST and (key := (r["scenario"], r["epoch"], r["item"])) in first
        ]
    same = sum(one == other for one, other in both)
    found = [pair for pair in both if any(pair)]
    yield "## Two graders on a part of the answers"
    yield ""
    yield (
        f"{same} of {len(both)} judgments are the same; of {len(found)} that either finds present, "
        f"{sum(map(all, found))} are present for both."
    )
    yield ""


def main() -> int:
    """Print the figures, or compare them with the page."""
    parser = argparse.ArgumentParser(description="The figures of the pilot.")
    parser.add_argument("--check", action="store_true", help="compare with figures.md")
    text = "\n".join(("# The pilot in figures", "", *figures(load_bank("3")))).rstrip() + "\n"
    if parser.parse_args().check:
        return int((HERE / "figures.md").read_text(encoding="utf-8") != text)
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
