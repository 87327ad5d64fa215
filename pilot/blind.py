"""Lay out what the pilot's answerers and graders are given, so that none sees what it may not.

    python pilot/blind.py answers DIR     # a folder for each answerer, of texts not yet answered
    python pilot/blind.py take DIR        # what they wrote, into answers/
    python pilot/blind.py gradings DIR [KIND …]
                                          # a folder for each grader, of answers not yet graded
    python pilot/blind.py collect DIR     # what they wrote, into gradings/

An answerer sees no two texts of one family, and nothing but texts, with the cards that it is to
have. A grader sees answers and items in an order drawn by a seed, without points, scenario, kind of
answer or item names. With the key of the held-out split its scenarios are laid out, too, in the
folder that is named; what is gathered of them goes into `pilot/held-out.age` alone.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from figures import FIRST, HERE, KINDS, PROBES, SEALED, frozen_bank, rows

from careeval.bank import Bank
from careeval.bank.sealed import KEY_VARIABLE, has_sealed, held_out_key, seal, unseal
from careeval.core.scenario import Scenario, Split
from careeval.modes.prompts import load_prompts
from careeval.modes.response import RESPONSE

SEED = 15
TEXTS_AN_ANSWERER = 24
ANSWERS_A_GRADER = 60
POLICIES = ("refuses", "complies", "vague")
OPEN_BOOK = ("reference", "placebo", "sink")


def words(scenario: Scenario) -> str:
    """A text on one line."""
    return " ".join(scenario.text.split())


def write_lines(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    """Write JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


def answered(kind: str) -> set[str]:
    """Ids of the texts that have answers of a kind."""
    return {row["scenario"] for row in rows("answers", kind)}


def sets(bank: Bank, texts: Sequence[Scenario]) -> list[list[Scenario]]:
    """Sets of texts for one answerer each, no two of one family in the same."""
    parts: list[list[Scenario]] = [[], [], []]
    for n, base in enumerate(bank.bases):
        family = [s for s in texts if s.family == base.id]
        family.sort(key=lambda s: (s.twin_of is not None, s.control is not None))
        for place, scenario in enumerate(family):
            parts[(n + place) % 3].append(scenario)
    rng = random.Random(SEED)
    for part in parts:
        rng.shuffle(part)
    return [
        part[k::n]
        for part in parts
        for n in (max(1, round(len(part) / TEXTS_AN_ANSWERER)),)
        for k in range(n)
    ]


def card(slot: str) -> str:
    """The facts of a card, without its line on the twin and without its sources."""
    name = f"cards/{slot}.md"
    text = SEALED.get(name) or (HERE / name).read_text(encoding="utf-8")
    facts = text.partition("facts:\n")[2]
    return re.sub(r" (?:\[[^\]]*\]|\((?:seen|fact sheet)[^)]*\))", "", facts).strip()


def answers(bank: Bank, folder: Path) -> None:
    """A folder for each answerer: `a` gives one answer to each text, `b` two."""
    rng = random.Random(SEED)
    ask = f"{load_prompts(RESPONSE).ask_system.strip()}\n\n---\n\n{{scenario}}\n"

    def lay_out(who: str, of: Sequence[tuple[str, Scenario]]) -> None:
        lines = [
            {"scenario": f"t{place:02}", **({"before": before} if before else {}), "text": words(s)}
            for place, (before, s) in enumerate(of)
        ]
        write_lines(folder / who / "scenarios.jsonl", lines)
        (folder / who / "prompt.md").write_text(ask, encoding="utf-8")
        key = {line["scenario"]: s.id for line, (_, s) in zip(lines, of, strict=True)}
        (folder / f"{who}.key.json").write_text(json.dumps(key), encoding="utf-8")

    new = [s for s in bank.scenarios if s.id not in answered("closed")]
    for n, part in enumerate(sets(bank, new), 1):
        for who in "ab":
            lay_out(f"closed-{n}{who}", [("", s) for s in rng.sample(part, len(part))])
    prompts = {
        kind: (HERE / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()
        for kind, name in (("reference", "reference"), ("sink", "kitchen-sink"))
    }
    for kind in OPEN_BOOK:
        bases = [s for s in bank.bases if s.id not in answered(kind)]
        rng.shuffle(bases)
        half = len(bases) // 2
        parts = [bases[:half], bases[half:]]
        for n, (part, other) in enumerate(zip(parts, parts[::-1], strict=True), 1):
            if kind == "sink":
                lay_out(f"{kind}-{n}", [(prompts["sink"], s) for s in part])
                continue
            # whoever has a placebo has cards of texts that another answerer was given
            cards = (
                part if kind == "reference" else [other[k % len(other)] for k in range(len(part))]
            )
            before = [prompts["reference"].replace("{card}", card(s.id)) for s in cards]
            lay_out(f"{kind}-{n}", list(zip(before, part, strict=True)))


def policies(bank: Bank) -> list[tuple[str, dict[str, Any]]]:
    """The fixed answers that are not there yet, by kind."""
    made = []
    for kind in (*POLICIES, "echo"):
        for s in bank.bases:
            if s.id in answered(kind):
                continue
            text = words(s)
            if kind != "echo":
                text = (HERE / "prompts" / f"{kind}.md").read_text(encoding="utf-8").strip()
            made.append((kind, {"scenario": s.id, "epoch": 1, "response": text}))
    return made


def take(bank: Bank, folder: Path) -> None:
    """Gather the answers that were written, and the fixed ones."""
    new = policies(bank)
    for path in sorted(folder.glob("*.key.json")):
        who = path.name.removesuffix(".key.json")
        key = json.loads(path.read_text(encoding="utf-8"))
        file = folder / who / "answers.jsonl"
        if set(key.values()) <= answered(who.partition("-")[0]) or not file.exists():
            sys.stderr.write(f"{who}: left out\n")
            continue
        text = file.read_text(encoding="utf-8")
        given = [json.loads(line) for line in text.splitlines() if line.strip()]
        if missing := set(key) - {row["scenario"] for row in given}:
            sys.exit(f"{who}: no answer to {', '.join(sorted(missing))}")
        new += [
            (who.partition("-")[0], {"scenario": key[row["scenario"]], "epoch": int(row["epoch"]),
                                     "response": row["response"].strip()})
            for row in given
        ]  # fmt: skip
    for kind in KINDS:
        add(bank, f"answers/{kind}.jsonl", [row for of, row in new if of == kind])


def add(bank: Bank, name: str, new: Sequence[Mapping[str, Any]]) -> None:
    """Add rows to a file: those of the held-out split to its sealed one.

    A row whose scenario is not known to be public is never written in the clear.
    """
    splits = {s.id: s.split for s in bank.scenarios}
    if unknown := sorted({row["scenario"] for row in new} - set(splits)):
        sys.exit(
            f"{name}: {', '.join(unknown[:5])}: not in the open bank; "
            f"with the held-out split's key ({KEY_VARIABLE}) its scenarios are"
        )
    old = (HERE / name).read_text(encoding="utf-8").splitlines()
    for split in (Split.public, Split.held_out):
        there = old if split is Split.public else SEALED.get(name, "").splitlines()
        every = [json.loads(line) for line in there]
        known = {_place(row) for row in every}
        added = [row for row in new if splits[row["scenario"]] is split]
        if twice := [row for row in added if _place(row) in known]:
            sys.exit(f"{name}: {len(twice)} rows are there already, such as {_place(twice[0])}")
        every = sorted([*every, *added], key=_place)
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in every)
        if split is Split.held_out:
            SEALED[name] = text
        else:
            (HERE / name).write_text(text, encoding="utf-8")


def _place(row: Mapping[str, Any]) -> tuple[str, str, int, str]:
    """What there is one row of: an answer, or a grader's judgment of an item in it."""
    return row.get("grader", ""), row["scenario"], row["epoch"], row.get("item", "")


def probes(bank: Bank) -> Iterator[dict[str, Any]]:
    """The bank's probes as answers; the epoch is the probe's place in its scenario, from 1."""
    for scenario, some in bank.probes.items():
        for n, probe in enumerate(some, 1):
            yield {"scenario": scenario, "epoch": n, "response": probe.text, "trap": probe.trap}


def tasks(bank: Bank, kinds: Sequence[str]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every answer that is not graded yet, as a grader sees it, and what it is."""
    rng = random.Random(SEED + 1)
    for kind in kinds:
        graded = {(r["scenario"], r["epoch"]) for r in rows("gradings", kind)}
        for row in probes(bank) if kind == PROBES else rows("answers", kind):
            if (row["scenario"], row["epoch"]) in graded:
                continue
            items = list(bank.scenario(row["scenario"]).actions)
            rng.shuffle(items)
            shown = {
                "answer": row["response"],
                "items": {str(n): item.text for n, item in enumerate(items, 1)},
            }
            key = {"kind": kind, "scenario": row["scenario"], "epoch": row["epoch"],
                   "fixed": kind in (*POLICIES, "echo") or row.get("trap") == "generic",
                   "items": [item.id for item in items]}  # fmt: skip
            yield shown, key


def gradings(bank: Bank, folder: Path, kinds: Sequence[str]) -> None:
    """A folder for each grader; `again-…` are closed-book answers for a second one.

    Fixed answers are graded apart from the others, from which anybody would tell them.
    """
    rng = random.Random(SEED + 2)
    rules = load_prompts(RESPONSE).texts["grade-system.md"]
    made = list(tasks(bank, kinds))
    rng.shuffle(made)
    fixed = [task for task in made if task[1]["fixed"]]
    free = [task for task in made if not task[1]["fixed"]]
    closed = [task for task in free if task[1]["kind"] == "closed"]
    for name, all_of, size in (
        ("grader", free, ANSWERS_A_GRADER),
        ("grader-fixed", fixed, 2 * ANSWERS_A_GRADER),
        ("again", rng.sample(closed, len(closed)), ANSWERS_A_GRADER),
    ):
        n_parts = -(-len(all_of) // size)
        for n in range(n_parts):
            part, who = all_of[n::n_parts], f"{name}-{n + 1:02}"
            lines = [{"id": f"a{k:03}", **shown} for k, (shown, _) in enumerate(part)]
            write_lines(folder / who / "answers.jsonl", lines)
            (folder / who / "rules.md").write_text(rules, encoding="utf-8")
            keys = [{"id": f"a{k:03}", **key} for k, (_, key) in enumerate(part)]
            write_lines(folder / f"{who}.key.jsonl", keys)


def collect(bank: Bank, folder: Path) -> None:
    """Gather what the graders wrote as lines of gradings/."""
    lines: dict[str, list[dict[str, Any]]] = {kind: [] for kind in (*KINDS, PROBES)}
    done: set[tuple[str, str, str, int]] = set()
    for path in sorted(folder.glob("*.key.jsonl")):
        who = path.name.removesuffix(".key.jsonl")
        keys = {key["id"]: key for key in map(json.loads, path.read_text("utf-8").splitlines())}
        file = folder / who / "judgments.jsonl"
        if not file.exists():
            sys.stderr.write(f"{who}: left out\n")
            continue
        given = {row["id"]: row for row in map(json.loads, file.read_text("utf-8").splitlines())}
        if missing := sorted(set(keys) - set(given)):
            sys.exit(f"{who}: {len(missing)} answers are not graded: {', '.join(missing[:5])}")
        for name, key in keys.items():
            grader = FIRST if who.startswith("grader") else "second"
            answer = (grader, key["kind"], key["scenario"], key["epoch"])
            if answer in done:  # laid out twice
                continue
            done.add(answer)
            unsure = set(map(str, given[name].get("unsure", ())))
            for n, item in enumerate(key["items"], 1):
                lines[key["kind"]].append(
                    {"scenario": key["scenario"], "epoch": key["epoch"], "item": item,
                     "grader": grader,
                     "present": bool(given[name]["present"][str(n)]),
                     **({"unsure": True} if str(n) in unsure else {})}
                )  # fmt: skip
    for kind, graded in lines.items():
        add(bank, f"gradings/{kind}.jsonl", graded)


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description="Lay out the pilot, and gather it.")
    parser.add_argument("what", choices=("answers", "take", "gradings", "collect"))
    parser.add_argument("folder", type=Path, help="outside any repository")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="of answers; all if not given")
    given = parser.parse_args()
    what, place = given.what, given.folder
    if unknown := set(given.kinds) - {*KINDS, PROBES}:
        sys.exit(f"no kind {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}, {PROBES}")
    if what in ("answers", "gradings"):
        if place.exists() and any(place.iterdir()):
            sys.exit(f"{place} is not empty: what lies there would be taken for what is laid out")
        if any(
            (above / ".git").exists() for above in (place.absolute(), *place.absolute().parents)
        ):
            sys.exit(f"{place} lies in a repository: held-out texts may be laid out there")
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = held_out_key()
    if key and has_sealed(HERE):
        SEALED.update(unseal(HERE, key))
    bank = frozen_bank(key)
    if what == "gradings":
        gradings(bank, place, given.kinds or list(KINDS))
    else:
        {"answers": answers, "take": take, "collect": collect}[what](bank, place)
    if key and what in ("take", "collect"):
        seal(json.dumps(SEALED, sort_keys=True, ensure_ascii=False, indent=0) + "\n", HERE, key)


if __name__ == "__main__":
    main()
