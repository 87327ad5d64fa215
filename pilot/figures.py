"""Recompute every figure of the pilot from its answers and gradings.

    python pilot/figures.py            # the figures, as Markdown
    python pilot/figures.py --write    # figures.md, and the pilot.csv of today's bank
    python pilot/figures.py --check    # whether both are what the answers give
    python pilot/figures.py --held-out # over the whole bank, figures-whole.md; needs its key

All is about bank 3-A as it was frozen, which `bank-3.tar.xz` keeps. `answers/KIND.jsonl` holds the
answers of one kind, a line each: scenario, epoch, response. `gradings/KIND.jsonl` holds who graded
what, a line each: scenario, epoch, grader, item, present.
Everybody here is an AI of one family, the authors' own: these are no results of a system.
"""

from __future__ import annotations

import argparse
import json
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t

from careeval.bank import Bank, bank_folder, load_bank
from careeval.bank.coverage import PILOT_FILE, Presence
from careeval.bank.reader import rows_text
from careeval.bank.sealed import KEY_VARIABLE, held_out_key, unseal
from careeval.core.scenario import Action, CareError, Group, Origin, Rubric, Scenario, Split
from careeval.results.entries import entries
from careeval.results.entry import Entry
from careeval.results.graded_rubric import Errors
from careeval.results.metrics import DIRECTIONS
from careeval.results.probe_check import LabelledJudgment, ProbeAgreement
from careeval.results.tables import Runs
from careeval.sheets.kinds import ESTIMATE, Form
from careeval.stats.intervals import linearised_ratio

sys.path.append(str(Path(__file__).parents[1] / "tools"))
from readings import weighted_kappa

HERE = Path(__file__).parent
FROZEN = HERE / "bank-3.tar.xz"
"""Bank 3-A, which was answered and graded."""

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
PROBES = "probes"
"""The bank's probes, which a grader judged as if they were answers."""

FIRST = "first"
"""Who graded every answer; `second` graded a part of them again."""


SEALED: dict[str, str] = {}
"""Texts of the pilot's files over the held-out split, by file name, once they are opened."""


def frozen_bank(key: str | None = None) -> Bank:
    """Return bank 3-A as it was frozen; with the key, its held-out scenarios too."""
    with tempfile.TemporaryDirectory() as folder, tarfile.open(FROZEN) as files:
        files.extractall(folder, filter="data")
        # the set of rules has another name today
        about = Path(folder) / "bank.yaml"
        text = about.read_text(encoding="utf-8")
        about.write_text(text.replace("rules: careeval-3", "rules: careeval"), encoding="utf-8")
        return load_bank(Path(folder), key)


def unchanged(bank: Bank, frozen: Bank) -> set[tuple[str, str]]:
    """Return the acts, by scenario and item, that read in a bank as they did when it was frozen."""
    before = {(s.id, s.text, act.id, act.text) for s in frozen.scenarios for act in s.actions}
    return {
        (s.id, act.id)
        for s in bank.scenarios
        for act in s.actions
        if (s.id, s.text, act.id, act.text) in before
    }


def rows(folder: str, kind: str) -> list[dict[str, Any]]:
    """The lines of a file, and after them those of the held-out split where it is open."""
    name = f"{folder}/{kind}.jsonl" if folder else f"{kind}.jsonl"
    text = (HERE / name).read_text(encoding="utf-8") + SEALED.get(name, "")
    return [json.loads(line) for line in text.splitlines()]


@cache
def assignment() -> dict[str, Any]:
    """How slots were drawn, of the first 20 and of the others."""
    text = (HERE / "assignment.json").read_text(encoding="utf-8")
    drawn: dict[str, Any] = json.loads(text)
    return drawn


Rows = Callable[[str, str], Sequence[Mapping[str, Any]]]
"""Returns the lines of a file, by its folder and kind, as `rows` does."""


def run_of(kind: str, bank: Bank, keep: Iterable[Scenario], rows: Rows = rows) -> Runs:
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
            **action.model_dump(mode="json", include={"points", "kind", "error", "harm"}),
            "core": action.core,
        }
        for row in rows("gradings", kind)
        if row["grader"] == FIRST and (scenario := kept.get(row["scenario"]))
        for position, action in enumerate(scenario.actions)
        if action.id == row["item"]
    ]  # fmt: skip
    return Runs.of(responses, judgments)


def entry_of(kind: str, bank: Bank, keep: Iterable[Scenario], rows: Rows = rows) -> Entry:
    """Return the entry of a kind of answer over some scenarios; `rows` as in `run_of`."""
    (entry,) = entries(run_of(kind, bank, keep, rows))
    return entry


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
    sums = {kind: entry_of(kind, bank, bases) for kind in KINDS}
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
            (
                name,
                str(s.n_responses),
                ESTIMATE.text(s.score, Form.whole),
                _errors(s.severe),
                _errors(s.mild),
            )
            for kind, name in KINDS.items()
            for s in (sums[kind],)
        ),
    )
    yield ""
    yield "## The first 20 bases, and those written by the corrected method"
    yield ""
    first = {scenario.id for scenario in bases} & set(assignment()["first"]["group"])
    parts = {
        "first 20": [s for s in bases if s.id in first],
        "the others": [s for s in bases if s.id not in first],
    }
    yield from table(
        ("answers", *(f"{name}, score %" for name in parts), "the others − first 20"),
        ((name, *_by_part(kind, bank, list(parts.values()))) for kind, name in KINDS.items()),
    )
    yield ""
    yield "## Too little and too much care, vagueness, the easy core"
    yield ""
    heads = [m.head for m in DIRECTIONS if m.key in sums["closed"].directions]
    yield from table(
        ("answers", *heads),
        (
            (
                name,
                *(
                    f"{ESTIMATE.text(rate.share, Form.whole)} (n {rate.n})"
                    for rate in sums[kind].directions.values()
                ),
            )
            for kind, name in KINDS.items()
        ),
    )
    yield ""
    yield "## Written from sources (S) and informed by a pilot (P)"
    yield ""
    yield from table(
        ("answers", "S, score %", "P, score %", "P − S"),
        (
            (name, *_by_part(kind, bank, [groups[Group.sources], groups[Group.pilot]]))
            for kind, name in KINDS.items()
        ),
    )
    yield ""
    yield "## Twins and controls, closed book"
    yield ""
    of_all = entry_of("closed", bank, bank.scenarios)
    yield from table(
        ("number", "n", "share %"),
        (
            (f"{m.head}: {m.holds}", str(rate.n), ESTIMATE.text(rate.share, Form.whole))
            for m in DIRECTIONS
            if m.key in ("adapted", "stuck", "neither", "changed", "same_text")
            and (rate := of_all.directions.get(m.key))
        ),
    )
    yield ""
    if of_all.twins:
        yield from table(
            ("base", "adapted", "stuck", "neither"),
            (
                (p.base, *(f"{share.value:.0%}" for share in (p.adapted, p.stuck, p.neither)))
                for p in of_all.twins.pairs
                if bank.scenario(p.base).split is Split.public
            ),
        )
        yield ""
        yield from table(
            ("control", "kind", "changed", "by chance"),
            (
                (c.control, c.kind, f"{c.changed:.0%}",
                 "–" if c.same_text is None else f"{c.same_text:.0%}")
                for c in of_all.twins.controls
                if bank.scenario(c.base).split is Split.public
            ),
        )  # fmt: skip
        yield ""
    yield from _bad_acts(bank)
    yield from _second_grading()
    yield from _on_probes(bank)
    yield from _readings()


def _errors(errors: Errors) -> str:
    return f"{ESTIMATE.text(errors.share, Form.whole)} ({errors.count} of {errors.n})"


def _by_part(kind: str, bank: Bank, parts: Sequence[Sequence[Scenario]]) -> Iterator[str]:
    """Yield the scores of two parts of the bank, and the second less the first."""
    shares = []
    for members in parts:
        (entry,) = entries(run_of(kind, bank, members))
        yield ESTIMATE.text(entry.score, Form.whole)
        points = {s.id: sum(a.points for a in s.actions if a.points > 0) for s in members}
        means = np.nanmean(entry.graded.earned.value, axis=1)
        earned = dict(zip(entry.graded.scenarios, means.tolist(), strict=True))
        shares.append(
            linearised_ratio(
                np.array(list(earned.values())),
                np.array([float(points[name]) for name in earned]),
            )
        )
    (one, error_one), (other, error_other) = shares
    df = min(map(len, parts)) - 1
    margin = float(t.ppf(0.975, df)) * (error_one**2 + error_other**2) ** 0.5
    low, high = (100 * (other - one + sign * margin) for sign in (-1, 1))
    yield f"{100 * (other - one):+.1f} [{low:.1f}, {high:.1f}]"


def _bad_acts(bank: Bank) -> Iterator[str]:
    """Count each class of bad act in closed-book answers to bases."""
    yield "## Bad acts in closed-book answers, by class"
    yield ""
    bad = {(s.id, a.id): a for s in bank.bases for a in s.actions if a.points < 0}
    judged = [
        (bad[place], row["present"])
        for row in rows("gradings", "closed")
        if row["grader"] == FIRST and (place := (row["scenario"], row["item"])) in bad
    ]
    before = [
        (bad[place], row["present"])
        for row in rows("gradings", "pilot-a")
        if (place := (row["scenario"], row["item"])) in bad
    ]
    classes: tuple[tuple[str, Callable[[Action], bool]], ...] = (
        ("all", lambda act: act.points < 0),
        ("−1", lambda act: act.points == -1),
        ("−2", lambda act: act.points == -2),
        ("sentinels", lambda act: act.sentinel),
        ("other −2", lambda act: act.points == -2 and not act.sentinel),
        ("too little care", lambda act: act.error is CareError.too_little),
        ("too much care", lambda act: act.error is CareError.too_much),
        ("from sources", lambda act: act.origin is Origin.source),
        ("from pilot A", lambda act: act.origin is Origin.pilot),
    )
    yield from table(
        ("class", "items", "judgments", "present", "judgments of pilot A", "present in pilot A"),
        (
            (
                name,
                str(sum(map(keep, bad.values()))),
                str(sum(keep(act) for act, _ in judged)),
                str(sum(present for act, present in judged if keep(act))),
                str(sum(keep(act) for act, _ in before)),
                str(sum(present for act, present in before if keep(act))),
            )
            for name, keep in classes
        ),
    )
    yield ""


def _second_grading() -> Iterator[str]:
    """Compare the second grader with the first, item by item."""
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


def _on_probes(bank: Bank) -> Iterator[str]:
    """Hold an AI grader's judgments of the public probes against their labels."""
    agreement = ProbeAgreement.of(
        LabelledJudgment(
            Rubric.actions, points[row["item"]], probe.trap, probe.labels[row["item"]],
            row["present"], row["scenario"], row["epoch"],
            bank.pair_of(row["scenario"], row["item"]),
        )
        for row in rows("gradings", PROBES)
        for probe in (bank.probes[row["scenario"]][row["epoch"] - 1],)
        for points in ({a.id: a.points for a in bank.scenario(row["scenario"]).actions},)
    )  # fmt: skip
    yield "## An AI grader on the public probes"
    yield ""
    yield (
        "The grader is of the family that wrote the probes and their labels, and was given neither "
        "labels, points nor scenarios; it judged actions. It stands for no system's grader."
    )
    yield ""
    parts = {f"trap: {trap}": part for trap, part in agreement.accuracy_by_trap.items()} | {
        f"points: {f'{points:+}' if points else 0}": part
        for (_, points), part in agreement.accuracy_by_points.items()
    }
    yield from table(
        ("probes", "judgments", "there", "finds % [95% CI]", "clears %", "macro F1"),
        (
            (name, f"{part.n:,}", f"{part.n_present:,}",
             ESTIMATE.text(part.sensitivity, Form.whole),
             ESTIMATE.text(part.specificity, Form.whole), f"{part.macro_f1.value:.2f}")
            for name, part in ({"all": agreement.accuracy} | parts).items()
        ),
    )  # fmt: skip
    yield ""
    failed = "; ".join(agreement.failed)
    yield (
        f"By the rule for graders it fails: {failed}."
        if failed
        else "It passes the rule for graders."
    )
    if agreement.pairs:
        yield f"Of the pairs: {agreement.pairs.sentence()}."
    yield ""


def _readings() -> Iterator[str]:
    """Count what readers found in the first draft, before the hash, and of planted errors."""
    yield "## Readings"
    yield ""
    points = rows("readings", "points")
    pairs = [(row["author"], row["reader"]) for row in points]
    kappa = weighted_kappa(*zip(*pairs, strict=True), levels=(-2, -1, 0, 1, 2))
    reversed_ = sum(one * other < 0 for one, other in pairs)
    apart = sum(abs(one - other) > 1 for one, other in pairs)
    yield (
        f"- Points of {len(pairs)} acts given blind: weighted kappa {kappa:.2f}, "
        f"{sum(one == other for one, other in pairs)} equal, {apart} two or more apart, "
        f"{reversed_} of opposite sign."
    )
    grades = ("no", "part", "yes")
    best: dict[tuple[str, str], int] = {}
    for row in rows("readings", "sources"):
        act = row["scenario"], row["item"]
        best[act] = max(best.get(act, 0), grades.index(row["entails"]))
    counts = {grade: list(best.values()).count(n) for n, grade in enumerate(grades)}
    yield (
        f"- Sources of {len(best)} acts of ±2: the best passage carries {counts['yes']}, "
        f"{counts['part']} in part, {counts['no']} not."
    )
    needs = [
        {row["scenario"] for row in rows("readings", f"sufficiency-{n}")
         if any(need["changes_right_act"] for need in row["needs"])}
        for n in (1, 2, 3)
    ]  # fmt: skip
    lacking = {s for s in set().union(*needs) if sum(s in each for each in needs) > 1}
    yield (
        f"- Texts in which two of three readers named a fact that would change the right act: "
        f"{len(lacking)} (mended)."
    )
    for part, of in (("planted", "the first 20"), ("planted-2", "the others")):
        planted = rows(f"readings/{part}", "key")
        places = {(s, row["item"]) for row in planted for s in _shown_in(row)}
        for n in (1, 2):
            said = {
                (row["scenario"], row["item"]) for row in rows(f"readings/{part}", f"reader-{n}")
            }
            found = [
                row for row in planted if any((s, row["item"]) in said for s in _shown_in(row))
            ]
            yield (
                f"- Errors planted in {of}, reader {n}: {len(found)} of {len(planted)} found, "
                f"{len(said - places)} named where none was planted."
            )
    findings = rows("readings", "findings")
    grades = Counter(row["grade"] for row in findings)
    became = Counter(row["became"] for row in rows("readings", "became") if row["grade"] in grades)
    yield (
        f"- Three adversarial readers of the others: {len(findings)} findings, "
        + ", ".join(f"{n} {grade}" for grade, n in grades.most_common())
        + f"; {became['mended']} mended as proposed, {became['mended otherwise']} otherwise, "
        f"{became['left']} left with a reason."
    )
    screen = Counter(row["verdict"] for row in rows("", "screen"))
    yield (
        f"- Facts that were tried before there were texts: of {sum(screen.values())}, "
        f"{screen['given']} were given unasked, {screen['part']} in part, {screen['not']} not, "
        f"{screen['against']} were contradicted."
    )


def _shown_in(planted: dict[str, Any]) -> list[str]:
    """The scenarios in which readers saw a planted error."""
    also = planted.get("also") or []
    return [planted["scenario"], *([also] if isinstance(also, str) else also)]


def presence_text(bank: Bank, frozen: Bank) -> str:
    """Return a bank's `pilot.csv`: how often each act was present, by kind of answer.

    An act is left out if it, or the text of its scenario, has changed since answers were given.
    """
    same = unchanged(bank, frozen)
    counts: dict[tuple[str, str, str], list[bool]] = {}
    for kind in KINDS:
        for row in rows("gradings", kind):
            if row["grader"] == FIRST and (row["scenario"], row["item"]) in same:
                key = (row["scenario"], row["item"], kind)
                counts.setdefault(key, []).append(row["present"])
    order = {scenario.id: place for place, scenario in enumerate(bank.scenarios)}
    found = sorted(counts.items(), key=lambda each: (order[each[0][0]], each[0][1]))
    return rows_text([Presence(*key, len(each), sum(each)) for key, each in found], Presence)


def main() -> int:
    """Print the figures, write them and the bank's pilot.csv, or compare both with the files."""
    parser = argparse.ArgumentParser(description="The figures of the pilot.")
    parser.add_argument(
        "--held-out", action="store_true", help="over the held-out split, too; needs its key"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="compare with the files")
    what.add_argument("--write", action="store_true", help="write the files")
    given = parser.parse_args()
    key = held_out_key() if given.held_out else None
    if given.held_out and key is None:
        sys.exit(f"figures.py: the held-out split needs its key: set {KEY_VARIABLE}")
    if key:
        SEALED.update(unseal(HERE, key))
    bank = frozen_bank(key)
    over = "the whole bank" if key else "the public bases"
    page = "\n".join((f"# The pilot in figures, over {over}", "", *figures(bank))).rstrip() + "\n"
    files = {HERE / ("figures-whole.md" if key else "figures.md"): page}
    if not key:
        files[bank_folder("4") / PILOT_FILE] = presence_text(load_bank("4"), bank)
    if given.write:
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
    if given.check:
        old = [path for path, text in files.items() if path.read_text(encoding="utf-8") != text]
        for path in old:
            sys.stderr.write(f"{path} is not what the files give: run pilot/figures.py --write\n")
        return len(old)
    if not given.write:
        sys.stdout.write(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
