"""Write the figures of the pilot of worlds: what today's judge makes of its plans and answers.

    python pilot/worlds/figures.py            print them
    python pilot/worlds/figures.py --write    write figures.md, here and in pictures/, and the
                                              references of the bank
    python pilot/worlds/figures.py --check    tell whether they are what the plans give

With the key of the held-out split (`CAREEVAL_HELD_OUT_KEY`) and `--held-out FOLDER`, a folder with
the same files about the sealed worlds, it prints their figures.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from careeval.bank import bank_folder, load_bank
from careeval.cli.app import OK, run
from careeval.protocol.tables import read_runs
from careeval.results.entries import entries
from careeval.results.references import FILE, Reference, references_json
from careeval.worlds.world import World

sys.path.append(str(Path(__file__).parents[2] / "tools"))
import fixed_policies

# ruff: noqa: T201  (a script prints)

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FOLDERS = (HERE, HERE / "pictures")
NAME = "AI by Anthropic"
TWIN = "-seen"
"""The end of the id of a twin with a picture."""

CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "facts": ("--given", "facts"),
    **{given: ("--given", given) for given in ("told", "padded", "questions")},
    "step": ("--step",),
    **{given: ("--given", given) for given in ("described", "seen", "sight")},
    "unseen": ("--given", "seen"),
    "swapped": ("--given", "seen"),
}
"""Name of a file → the words by which its responses are judged."""

NAMES = {
    "unseen": "the same without the picture",
    "swapped": "the same with the other picture",
}
"""Name of a file whose system is another one → its name."""

ABOUT = "Of the family that wrote the worlds; several worlds in one context"
UNTOLD = (
    f"{NAME}, not told",
    "Told the names of things and persons, and nothing of the situation",
)
"""Name of the reference of `names.jsonl`, and what it is."""

POLICIES: Mapping[str, tuple[str, str]] = {
    "nothing": ("Does nothing", "It says good morning, and leaves everything as it is"),
    "asks_and_withdraws": ("Asks, and leaves", "One plan for every world: it asks, and moves away"),
    "calls_for_help": ("Calls for help", "It asks, and calls everybody who is named, urgently"),
    "without_looking": (
        "Never looks",
        "Safe plans with every look and test taken out",
    ),
    "safe_plan": ("Safe plan", "The worlds' own safe plans: the upper end, by construction"),
}
"""Policy → name of the reference, and what it is."""

HEADS = {
    HERE: "# Figures of the pilot of worlds\n\nWhat today's judge makes of the [pilot](README.md)'s"
    " plans and answers.",
    HERE / "pictures": "# Figures of the pilot of pictures\n\nWhat today's judge makes of the"
    " [pilot](README.md)'s plans and answers.",
}
TAIL = (
    " **They are no result of a system and no validation**: AI of the family that wrote the worlds"
    " answered.\n\n"
)


def judged(folder: Path, place: Path, *options: str) -> Path:
    """Judge all plans and answers in a folder; return the folder of the runs, within `place`."""
    runs = place / "runs"
    for condition, how in CONDITIONS.items():
        if rows := _rows(folder, condition):
            _judge(rows, NAMES.get(condition, NAME), runs / condition, *how, *options)
    return runs


def figures(runs: Path) -> str:
    """Return the tables of runs, as Markdown."""
    return _printed(["summary", str(runs), "--detail", "--format", "md"])


def references(runs: Path, about: Mapping[str, str], data: str) -> list[Reference]:
    """Return the references that runs give.

    Args:
        runs: Folder of the runs.
        about: Name of a system → what it is; others are left out.
        data: Where their responses are.
    """
    return [
        Reference(
            each.bank, each.bank_version, each.system, about[each.system], each.rubric,
            each.given, each.step, each.grader.model, each.n_scenarios, each.n_epochs,
            each.severe, each.score, data,
        )
        for each in entries(read_runs(runs))
        if each.system in about
    ]  # fmt: skip


def further_references(place: Path) -> list[Reference]:
    """Return the references that are not in the figures; judge their plans in `place`.

    They are fixed policies, the worlds' safe plans, and plans without the situation.
    """
    worlds = [world for world in load_bank("plans").bases if isinstance(world, World)]
    for name, (shown, _) in POLICIES.items():
        policy = getattr(fixed_policies, name)
        rows = [
            {"scenario": world.id, "epoch": 1, "response": json.dumps(policy(world))}
            for world in worlds
        ]
        _judge(rows, shown, place / name, *CONDITIONS["facts"])
    fixed = references(place, dict(POLICIES.values()), "tools/fixed_policies.py")
    untold = place.parent / "untold"
    _judge(_rows(HERE, "names"), UNTOLD[0], untold, *CONDITIONS["facts"])
    return [*fixed, *references(untold, dict([UNTOLD]), "pilot/worlds/names.jsonl")]


def _judge(rows: Sequence[Mapping[str, Any]], name: str, run: Path, *options: str) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)
        file.flush()
        answered = sorted({row["scenario"] for row in rows})
        ids = [word for id in answered for word in ("--scenario", id)]
        words = ["run", "--bank", "plans", "--name", name, *ids, *options]
        _printed([*words, "--responses", file.name, "-o", str(run)])


def _rows(folder: Path, condition: str) -> list[dict[str, Any]]:
    """Return the rows of a file; for `swapped` the plans for the other picture of each pair."""
    file = folder / f"{'seen' if condition == 'swapped' else condition}.jsonl"
    if not file.exists():
        return []
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    if condition == "swapped":
        return [{**row, "scenario": _other(row["scenario"])} for row in rows]
    return rows


def _other(id: str) -> str:
    """Return the id of the twin of a base, or of the base of a twin."""
    return id.removesuffix(TWIN) if id.endswith(TWIN) else f"{id}{TWIN}"


def _printed(words: Sequence[str]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = run(words)
    if status != OK:
        sys.exit(f"careeval {' '.join(words)} ended with {status}")
    return out.getvalue()


def main(arguments: Sequence[str]) -> None:
    """Print, write or check the figures."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        if arguments[:1] == ["--held-out"]:
            print(figures(judged(Path(arguments[1]), place, "--split", "held-out")))
            return
        for path, content in _files(place):
            if arguments == ["--write"]:
                path.write_text(content, encoding="utf-8")
            elif arguments == ["--check"]:
                if path.read_text(encoding="utf-8") != content:
                    sys.exit(f"{path} is not what the plans give: pilot/worlds/figures.py --write")
            else:
                print(content)


def _files(place: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file with its content, judging in `place`."""
    made = further_references(place / "policies")
    for folder in FOLDERS:
        runs = judged(folder, place / folder.name)
        yield folder / "figures.md", HEADS[folder] + TAIL + figures(runs)
        by_ai = references(runs, {NAME: ABOUT}, folder.relative_to(ROOT).as_posix())
        # given facts, those of the pictured worlds alone are a part of the others
        made += [each for each in by_ai if folder == HERE or each.given != "facts"]
    yield bank_folder("plans") / FILE, references_json(made)


if __name__ == "__main__":
    main(sys.argv[1:])
