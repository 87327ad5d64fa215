"""Lay out what the pilot's answerers and graders are given, so that none sees what it may not.

    python pilot/blind.py answers DIR     # a folder for each answerer
    python pilot/blind.py gradings DIR    # a folder for each grader, over the answers in answers/
    python pilot/blind.py collect DIR     # what graders wrote, back into gradings/

An answerer sees no two texts of one family, and nothing but texts. A grader sees answers and items
in an order drawn by a seed, without points, scenario, kind of answer or item names.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from figures import FIRST, HERE, KINDS, rows

from careeval.bank import Bank, load_bank
from careeval.core.scenario import Scenario
from careeval.protocol.templates import load_prompts

SEED = 15
N_GRADERS = 5
SECOND_SHARE = 0.1
POLICIES = ("refuses", "complies", "vague")


def words(scenario: Scenario) -> str:
    """A text on one line."""
    return " ".join(scenario.text.split())


def write_lines(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Write JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


def sets(bank: Bank) -> list[list[Scenario]]:
    """Three sets of texts, no two of one family in the same."""
    parts: list[list[Scenario]] = [[], [], []]
    for n, base in enumerate(bank.bases):
        family = [s for s in bank.scenarios if s.family == base.id]
        family.sort(key=lambda s: (s.twin_of is not None, s.control is not None))
        for place, scenario in enumerate(family):
            parts[(n + place) % 3].append(scenario)
    return parts


def card(slot: str) -> str:
    """The facts of a card, without its line on the twin and without its sources."""
    text = (HERE / "cards" / f"{slot}.md").read_text(encoding="utf-8")
    facts = text.partition("facts:\n")[2]
    return re.sub(r" \[[^\]]*\]", "", facts).strip()


def answers(bank: Bank, folder: Path) -> None:
    """A folder for each answerer."""
    rng = random.Random(SEED)
    prompts = load_prompts(None)
    ask = f"{prompts.ask_system.strip()}\n\n---\n\n{{scenario}}\n"
    for n, part in enumerate(sets(bank), 1):
        for who in (f"closed-{n}a", f"closed-{n}b"):
            shuffled = rng.sample(part, len(part))
            lines = [{"scenario": f"t{place:02}", "text": words(s)}
                     for place, s in enumerate(shuffled)]  # fmt: skip
            write_lines(folder / who / "scenarios.jsonl", lines)
            (folder / who / "prompt.md").write_text(ask, encoding="utf-8")
            key = {line["scenario"]: s.id for line, s in zip(lines, shuffled, strict=True)}
            (folder / f"{who}.key.json").write_text(json.dumps(key), encoding="utf-8")
    reference = (HERE / "prompts" / "reference.md").read_text(encoding="utf-8").strip()
    bases = list(bank.bases)
    others = bases[7:] + bases[:7]  # a card of another activity
    for who, cards in (("reference", bases), ("placebo", others)):
        lines = [
            {"scenario": s.id, "before": reference.replace("{card}", card(of.id)), "text": words(s)}
            for s, of in zip(bases, cards, strict=True)
        ]
        write_lines(folder / who / "scenarios.jsonl", lines)
        (folder / who / "prompt.md").write_text(ask, encoding="utf-8")
    sink = (HERE / "prompts" / "kitchen-sink.md").read_text(encoding="utf-8").strip()
    lines = [{"scenario": s.id, "before": sink, "text": words(s)} for s in bases]
    write_lines(folder / "sink" / "scenarios.jsonl", lines)
    (folder / "sink" / "prompt.md").write_text(ask, encoding="utf-8")
    for kind in POLICIES:
        text = (HERE / "prompts" / f"{kind}.md").read_text(encoding="utf-8").strip()
        fixed = [{"scenario": s.id, "epoch": 1, "response": text} for s in bases]
        write_lines(HERE / "answers" / f"{kind}.jsonl", fixed)
    echo = [{"scenario": s.id, "epoch": 1, "response": words(s)} for s in bases]
    write_lines(HERE / "answers" / "echo.jsonl", echo)


def tasks(bank: Bank) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every answer as a grader sees it, and what it is."""
    rng = random.Random(SEED + 1)
    for kind in KINDS:
        for row in rows("answers", kind):
            items = list(bank.scenario(row["scenario"]).actions)
            rng.shuffle(items)
            shown = {
                "answer": row["response"],
                "items": {str(n): item.text for n, item in enumerate(items, 1)},
            }
            key = {"kind": kind, "scenario": row["scenario"], "epoch": row["epoch"],
                   "items": [item.id for item in items]}  # fmt: skip
            yield shown, key


def gradings(bank: Bank, folder: Path) -> None:
    """A folder for each grader, and one for the second, of a tenth of all answers."""
    rng = random.Random(SEED + 2)
    prompts = load_prompts(None)
    made = list(tasks(bank))
    rng.shuffle(made)
    parts = {f"grader-{n + 1}": made[n::N_GRADERS] for n in range(N_GRADERS)}
    # graders who graded none of them first would be as many again: the second is a fresh one
    parts["second"] = rng.sample(made, round(SECOND_SHARE * len(made)))
    for who, part in parts.items():
        write_lines(
            folder / who / "answers.jsonl",
            [{"id": f"a{n:03}", **shown} for n, (shown, _) in enumerate(part)],
        )
        (folder / who / "rules.md").write_text(prompts.texts["grade-system.md"], encoding="utf-8")
        write_lines(
            folder / f"{who}.key.jsonl",
            [{"id": f"a{n:03}", **key} for n, (_, key) in enumerate(part)],
        )


def collect(folder: Path) -> None:
    """Gather what the graders wrote as lines of gradings/."""
    lines: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
    for path in sorted(folder.glob("*.key.jsonl")):
        who = path.name.removesuffix(".key.jsonl")
        keys = {key["id"]: key for key in map(json.loads, path.read_text("utf-8").splitlines())}
        found = (folder / who / "judgments.jsonl").read_text("utf-8").splitlines()
        given = {row["id"]: row["present"] for row in map(json.loads, found)}
        if missing := sorted(set(keys) - set(given)):
            sys.exit(f"{who}: {len(missing)} answers are not graded: {', '.join(missing[:5])}")
        for name, key in keys.items():
            for n, item in enumerate(key["items"], 1):
                lines[key["kind"]].append(
                    {"scenario": key["scenario"], "epoch": key["epoch"], "item": item,
                     "grader": who if who == "second" else FIRST,
                     "present": bool(given[name][str(n)])}
                )  # fmt: skip
    for kind, graded in lines.items():
        graded.sort(key=lambda row: (row["grader"], row["scenario"], row["epoch"], row["item"]))
        write_lines(HERE / "gradings" / f"{kind}.jsonl", graded)


def main() -> None:
    """Do what the command line says."""
    what, place = sys.argv[1], Path(sys.argv[2])
    if what == "collect":
        collect(place)
    else:
        {"answers": answers, "gradings": gradings}[what](load_bank("3"), place)


if __name__ == "__main__":
    main()
