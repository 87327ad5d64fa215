"""Write the figures of the pilot of worlds: what today's judge makes of its plans and answers.

    python pilot/worlds/figures.py            print them
    python pilot/worlds/figures.py --write    write figures.md, here and in pictures/
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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from careeval.cli.app import OK, run

# ruff: noqa: T201  (a script prints)

HERE = Path(__file__).parent
FOLDERS = (HERE, HERE / "pictures")
NAME = "AI, authors' family"
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


def figures(folder: Path, *options: str) -> str:
    """Return the tables of all plans and answers in a folder, as Markdown."""
    with tempfile.TemporaryDirectory() as place:
        runs = Path(place) / "runs"
        for condition, how in CONDITIONS.items():
            rows = _rows(folder, condition)
            if not rows:
                continue
            file = Path(place) / f"{condition}.jsonl"
            file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
            answered = sorted({row["scenario"] for row in rows})
            ids = [word for id in answered for word in ("--scenario", id)]
            words = ["run", "--bank", "plans", *how, "--name", NAMES.get(condition, NAME), *ids]
            _printed([*words, "--responses", str(file), "-o", str(runs / condition), *options])
        return _printed(["summary", str(runs), "--detail", "--format", "md"])


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
    if arguments[:1] == ["--held-out"]:
        print(figures(Path(arguments[1]), "--split", "held-out"))
        return
    for folder in FOLDERS:
        page, path = HEADS[folder] + TAIL + figures(folder), folder / "figures.md"
        if arguments == ["--write"]:
            path.write_text(page, encoding="utf-8")
        elif arguments == ["--check"]:
            if path.read_text(encoding="utf-8") != page:
                sys.exit(f"{path} is not what the plans give: pilot/worlds/figures.py --write")
        else:
            print(page)


if __name__ == "__main__":
    main(sys.argv[1:])
