"""Write the figures of the pilot of worlds: what today's judge makes of its plans and answers.

    python pilot/worlds/figures.py            print them
    python pilot/worlds/figures.py --write    write figures.md
    python pilot/worlds/figures.py --check    tell whether figures.md is what the plans give

With the key of the held-out split (`CAREEVAL_HELD_OUT_KEY`) and `--held-out FOLDER`, a folder with
the same files about the sealed worlds, it prints their figures.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from careeval.cli.app import OK, run

# ruff: noqa: T201  (a script prints)

HERE = Path(__file__).parent
PAGE = HERE / "figures.md"
CONDITIONS = {
    "facts": ("--given", "facts", "--twins"),
    **{given: ("--given", given) for given in ("told", "padded", "questions")},
    "step": ("--step",),
}
"""Name of a file → the words by which its responses are judged."""
NAME = "AI, authors' family"

HEAD = """\
# Figures of the pilot of worlds

What today's judge makes of the [pilot](README.md)'s plans and answers. **They are no result of a
system and no validation**: AI of the family that wrote the worlds answered.

"""


def figures(folder: Path, *options: str) -> str:
    """Return the tables of all plans and answers in a folder, as Markdown."""
    with tempfile.TemporaryDirectory() as place:
        runs = Path(place) / "runs"
        for condition, how in CONDITIONS.items():
            file = folder / f"{condition}.jsonl"
            if file.exists():
                words = ["run", "--bank", "plans", *how, "--name", NAME]
                words += ["--responses", str(file), "-o", str(runs / condition), *options]
                _printed(words)
        return _printed(["summary", str(runs), "--detail", "--format", "md"])


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
    page = HEAD + figures(HERE)
    if arguments == ["--write"]:
        PAGE.write_text(page, encoding="utf-8")
    elif arguments == ["--check"]:
        if PAGE.read_text(encoding="utf-8") != page:
            sys.exit(f"{PAGE} is not what the plans give: python pilot/worlds/figures.py --write")
    else:
        print(page)


if __name__ == "__main__":
    main(sys.argv[1:])
