"""Reading of a page of the documentation: its commands, and the output that it shows.

Marks are comments before a block, which a reader of the page does not see:

- `<!-- file: NAME -->`: the block is a file that the reader writes.
- `<!-- given: NAME, NAME -->`: what `given.py` makes before the commands of the block are run.
- `<!-- not run: WHY -->`: no command of the block is run.
- `<!-- not run, WORDS: WHY -->`: none of it that has these words is run.
- `<!-- status: 3, WORDS -->`: a command with these words ends with this exit status, and not 0.
- `<!-- output of: COMMAND -->`: the block is what this command prints.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page.relative_to(ROOT).as_posix()
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
)

_BLOCK = re.compile(
    r"^(?P<marks>(?:<!-- [^\n]* -->\n)*)```(?P<language>\w+)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_MARK = re.compile(r"<!-- (file|given|not run|status|output of)(?:, ([^:]*))?: (.*) -->")
_REDRAWN = re.compile(r"^.*: [\d,]+ of [\d,]+ responses \(\d+%\).*\n", re.MULTILINE)
"""A line of progress: in a pipe it stands among the output, in a terminal it goes."""

ELLIPSIS = "…"


@dataclass(frozen=True)
class Command:
    """One command of a page."""

    typed: str  # as the reader types it, in one line
    shown: str  # the output below it; empty where the page shows none
    span: tuple[int, int]  # where `shown` stands in the page
    not_run: str = ""  # why it is not run; empty where it is
    status: int = 0  # the exit status that it ends with

    @property
    def words(self) -> list[str]:
        """Its words, as a shell splits them, without the folder that its program is in."""
        program, *rest = shlex.split(self.typed, comments=True)
        return [program.removeprefix(".venv/bin/"), *rest]


@dataclass(frozen=True)
class File:
    """A file that a page has its reader write."""

    name: str
    text: str


@dataclass(frozen=True)
class Given:
    """Files that a page expects to exist: a name of `given.py`."""

    name: str


@dataclass(frozen=True)
class Code:
    """Python that a page shows; `shown` is what it prints, and where that stands."""

    source: str
    shown: str
    span: tuple[int, int]
    not_run: str = ""


Step = Command | File | Given | Code


def steps(page: str) -> list[Step]:
    """Return the steps of a page, in order.

    Args:
        page: Its path, from the project's folder.
    """
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = list(_BLOCK.finditer(text))
    page_steps: list[Step] = []
    for block, after in zip_longest(blocks, blocks[1:]):
        marks = [(kind, words or "", what) for kind, words, what in _MARK.findall(block["marks"])]
        page_steps += [
            Given(n) for kind, _, what in marks if kind == "given" for n in what.split(", ")
        ]
        page_steps += (File(what, block["body"]) for kind, _, what in marks if kind == "file")
        at = block.start("body")
        match block["language"]:
            case "console":
                commands = list(_console(block["body"], at))
            case "sh":
                commands = [Command(line, "", (at, at)) for line in _lines(block["body"])]
            case "yaml":
                commands = [Command(line, "", (at, at)) for line in _workflow(block["body"])]
            case "text":
                commands = [
                    Command(what, block["body"], block.span("body"))
                    for kind, _, what in marks
                    if kind == "output of"
                ]
            case "python":
                between = text[block.end() : after.start() if after else block.end()]
                printed = after if after and after["language"] == "text" else None
                shown = printed if printed and not between.strip() else None
                page_steps.append(
                    Code(
                        block["body"],
                        shown["body"] if shown else "",
                        shown.span("body") if shown else (at, at),
                        next((what for kind, _, what in marks if kind == "not run"), ""),
                    )
                )
                continue
            case _:
                commands = []
        page_steps += (_marked(command, marks) for command in commands)
    return page_steps


def unused_marks(page: str) -> list[str]:
    """Words that marks of a page name, and no command of their block has."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        words
        for block in _BLOCK.finditer(text)
        for kind, which, what in _MARK.findall(block["marks"])
        if kind in ("not run", "status")
        for words in [what.partition(", ")[2] if kind == "status" else which]
        if words not in block["body"]
    ]


def _console(body: str, at: int) -> Iterator[Command]:
    """The commands of a block in which each line that is typed begins with a dollar."""
    for typed in re.finditer(r"^\$ ((?:.*\\\n)*.*\n)((?:(?!\$ ).*\n)*)", body, re.MULTILINE):
        start, end = typed.span(2)
        yield Command(typed[1].replace("\\\n", " ").strip(), typed[2], (at + start, at + end))


def _lines(body: str) -> list[str]:
    lines = body.replace("\\\n", " ").splitlines()
    return [line for line in lines if shlex.split(line, comments=True)]


def _workflow(body: str) -> list[str]:
    """The commands of careeval in a workflow's steps."""
    jobs = (yaml.safe_load(body.replace(f"{ELLIPSIS}\n", "\n")) or {}).get("jobs", {})
    typed = [step.get("run", "") for job in jobs.values() for step in job["steps"]]
    lines = [line.strip() for each in typed for line in _lines(each)]
    return [line for line in lines if line.startswith("careeval ")]


def _marked(command: Command, marks: list[tuple[str, str, str]]) -> Command:
    not_run, status = "", 0
    for kind, words, what in marks:
        if kind == "not run" and words in command.typed:
            not_run = what
        if kind == "status" and what.partition(", ")[2] in command.typed:
            status = int(what.partition(", ")[0])
    return Command(command.typed, command.shown, command.span, not_run, status)


def tidy(output: str) -> str:
    """Output as a page shows it: no line of progress, and no space at a line's end."""
    return re.sub(r" +$", "", _REDRAWN.sub("", output), flags=re.MULTILINE)


def agrees(shown: str, output: str) -> bool:
    """Tell whether a page shows the output; an ellipsis stands for anything.

    A line that is an ellipsis alone stands for any number of lines.
    """
    pattern = "".join(
        r"(?:.*\n)*?"
        if line.strip() == ELLIPSIS
        else ".*?".join(map(re.escape, line.split(ELLIPSIS))) + "\n"
        for line in shown.rstrip("\n").splitlines()
    )
    return re.fullmatch(rf"\n*{pattern}\n*", output.rstrip("\n") + "\n") is not None


def abridged(shown: str, output: str) -> str:
    """The output as the page would show it: the parts that it shows today, as they are now.

    Between two ellipses there are as many lines as before, from the line that is most like the
    first; after the last ellipsis, all lines to the end.
    """
    now = output.strip("\n").splitlines()
    parts = [part.splitlines() for part in re.split(rf"^ *{ELLIPSIS}\n", shown, flags=re.MULTILINE)]
    lines: list[str] = []
    at = 0
    for place, part in enumerate(parts):
        if place:
            lines.append(ELLIPSIS)
        if not part:
            continue
        if place:
            like = [SequenceMatcher(None, part[0], line).ratio() for line in now[at:]]
            at += like.index(max(like)) if like else 0
        end = len(now) if place == len(parts) - 1 else at + len(part)
        for old, new in zip([*part, *[""] * (end - at)], now[at:end], strict=False):
            # a line with an ellipsis in it stays, where it still holds
            lines.append(old if old and agrees(old, new) else new)
        at = end
    return "".join(f"{line}\n" for line in lines)
