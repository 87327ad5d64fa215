"""The commands of `careeval bank` that write files: new, import, export, seal and open."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from careeval.bank import BankProblems, Problem, bank_folder, bank_mode, load_bank
from careeval.bank.rules import check as find_problems
from careeval.bank.sealed import held_out_key
from careeval.bank.sealed import seal as seal_packed
from careeval.cli.app import CHECK_FAILED, OK, say
from careeval.cli.shared.options import BankFolder, Out
from careeval.core.registry import Registry
from careeval.core.scenario import Adl, Assistance, Condition, Control, Situation
from careeval.core.text import counted, plain
from careeval.errors import UsageError


def new(
    folder: Path,
    *,
    adl: Adl | None = None,
    condition: Condition | None = None,
    assistance: Literal["06", "05", "04", "03", "02", "01"] | None = None,
    situation: Situation | None = None,
    age: int | None = None,
    pronoun: Literal["she", "he", "they"] | None = None,
    actor: Literal["person", "robot"] = "person",
    part: Literal["upper-body", "lower-body"] | None = None,
    twin_of: str | None = None,
    control: Control | None = None,
    mode: Literal["response", "plan"] | None = None,
    body: str | None = None,
) -> int:
    """Write the skeleton of a scenario and its probes; ask for options not given.

    A folder that is new or empty becomes a bank. 'careeval bank check' then reports only what is
    marked TO WRITE, and missing generic answers if the bank has fewer than three. In a bank of the
    mode plan it writes a world, with plans that test it: a whole example, to be changed.

    Args:
        folder: The bank's folder, new or not.
        adl: Activity.
        condition: What the person lives with.
        assistance: Usual level of help, a Section GG code: 06 independent … 01 dependent.
        situation: What makes the moment hard.
        age: Age of the person in years, 18 to 110.
        pronoun: Pronoun of the person.
        actor: Who acts.
        part: Part of the body, for dressing only.
        twin_of: Write a twin of this scenario instead, with its words and points, to be changed.
        control: What the twin changes, if it is a control: one that changes no right act.
        mode: Mode of a new bank; response if not given. A bank that exists has its own.
        body: In the mode plan, write a robot's body of this name. In a bank that exists, a world
            for it is written only if --adl is given too.
    """
    from careeval.bank import skeleton

    is_bank = (folder / "bank.yaml").exists()
    has_mode = bank_mode(folder).name if is_bank else mode or "response"
    if mode not in (None, has_mode):
        raise UsageError(
            f"{folder} is a bank of the mode {has_mode}, not {mode}",
            hint="leave --mode out, or name another folder",
        )
    if has_mode in EXAMPLES:
        given = {"condition": condition, "assistance": assistance, "situation": situation,
                 "age": age, "pronoun": pronoun, "part": part, "twin-of": twin_of,
                 "control": control}  # fmt: skip
        if unused := [name for name in given if given[name] is not None]:
            raise UsageError(
                f"--{unused[0]} is for a scenario in words",
                hint="leave it out: a new world is a whole example, to be changed in its file",
            )
        files = EXAMPLES[has_mode](folder, adl, body)
        return _report_files(folder, files, "Change the example to yours")
    if body is not None:
        raise UsageError("--body is for a bank of the mode plan", hint="give --mode plan as well")
    if control is not None and twin_of is None:
        raise UsageError(
            "--control needs the scenario that the control is made from",
            hint="name it with --twin-of ID",
        )
    if twin_of is not None:
        bank = load_bank(folder)
        return _report_files(
            folder, skeleton.write_twin(bank, folder, bank.scenario(twin_of), control)
        )

    if is_bank:
        # raises for a faulty bank before the user is asked anything
        load_bank(folder)
    outline = skeleton.Outline(
        adl=Adl(adl or _ask("adl", list(Adl))),
        condition=Condition(condition or _ask("condition", list(Condition))),
        assistance=Assistance(assistance or _ask("assistance", list(Assistance))),
        situation=Situation(situation or _ask("situation", list(Situation))),
        age=age if age is not None else _ask_age(),
        pronoun=pronoun or _ask("pronoun", ["she", "he", "they"]),
        actor=actor,
        part=part,
    )
    skeleton.check_outline(outline)
    bank_files = () if is_bank else skeleton.begin_bank(folder)
    files = skeleton.write_skeleton(load_bank(folder), folder, outline)
    return _report_files(folder, (*bank_files, *files))


EXAMPLES: Registry[Callable[[Path, Adl | None, str | None], Sequence[Path]]] = Registry(
    {"plan": "careeval.worlds.example_world:write_example"}
)
"""Mode whose new banks are whole examples → what writes one, given activity and body."""


def _report_files(
    folder: Path, files: Sequence[Path], to_do: str = "Write what is marked TO WRITE"
) -> int:
    for path in files:
        print(plain(str(path)))
    say(f"{to_do}, then: careeval bank check {shlex.quote(str(folder))}")
    return OK


def _ask(name: str, choices: list[str]) -> str:
    from rich.prompt import Prompt

    if not sys.stdin.isatty():
        raise UsageError(
            f"--{name} is missing, and there is no terminal to ask on",
            hint=f"give one of {', '.join(choices)}",
        )
    return Prompt.ask(name, choices=[str(choice) for choice in choices])


def _ask_age() -> int:
    from rich.prompt import IntPrompt

    if not sys.stdin.isatty():
        raise UsageError(
            "--age is missing, and there is no terminal to ask on",
            hint="give the age in years, 18 to 110",
        )
    return IntPrompt.ask("age")


def import_(
    file: Path,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    name: str,
    columns: Annotated[
        list[str] | None, Parameter(name="--map", negative=(), consume_multiple=False)
    ] = None,
    adl: Adl | None = None,
) -> int:
    """Make a bank of a file of scenarios with graded options (JSON, JSON lines, CSV, XLSX).

    A record is one option, or a scenario with a list of options. If records cannot be imported,
    each of them is named with its number, and nothing is written.

    Args:
        file: The file to read.
        output: Folder of the new bank.
        name: The bank's name in every table and log: lower case, digits, hyphens.
        columns: FIELD=COLUMN where a column is not found by its name; fields are id, text, adl,
            condition, assistance, options, option, points, user_function, user_agency,
            communication_intent, functional_safety.
        adl: Activity of scenarios that name none.
    """
    from careeval.bank.imported_bank import import_bank

    mapping = {}
    for pair in columns or ():
        field, equals, column = pair.partition("=")
        if not equals:
            raise UsageError(
                f"--map {pair!r} is not FIELD=COLUMN", hint="write it as in --map text=Scenario"
            )
        mapping[field.strip()] = column
    imported = import_bank(file, output, name, mapping, adl)
    for note in imported.notes:
        say(note)
    sources = ", ".join(f"{field} from {column!r}" for field, column in imported.columns.items())
    say(f"Read {sources}.")
    counts = f"{imported.n_scenarios} scenarios, {imported.n_options} options"
    print(plain(f"{imported.folder}: {counts}"))
    return OK


def seal(folder: Path, *, bank: BankFolder = None) -> int:
    """Check a held-out split and encrypt it into a bank; nothing is written if there is a problem.

    The key is read from CAREEVAL_HELD_OUT_KEY; 'age-keygen' makes a new one.

    Args:
        folder: Folder of the split in clear text, outside the bank: <adl>/<id>.yaml with its
            probes, sources.yaml, evidence.json, second-reading/.
        bank: The bank's folder; careeval's own bank if not given.
    """
    from careeval.bank.sealed import HASH, SEALED, pack

    root = bank_folder(bank)
    packed = pack(folder)
    problems = _problems_with(root, packed)
    for problem in problems:
        say(str(problem))
    if problems:
        say(f"{counted(len(problems), 'problem')}; nothing was sealed")
        return CHECK_FAILED
    digest = seal_packed(packed, root, _key())
    n = len(json.loads(packed))
    print(f"{counted(n, 'file')} sealed into {plain(str(root / SEALED))}; {HASH}: {digest}")
    return OK


def _problems_with(root: Path, packed: str) -> list[Problem]:
    """Return the problems of a held-out split once it is sealed; all, if the bank does not load."""
    from careeval.bank.load import read_bank
    from careeval.bank.sealed import SEALED

    try:
        problems = find_problems(read_bank(root, json.loads(packed)))
    except BankProblems as error:
        return list(error.problems)
    return [problem for problem in problems if SEALED in Path(problem.place.path).parts]


def open_(folder: Path, *, bank: BankFolder = None) -> int:
    """Write a bank's held-out split in clear text into a new, private folder.

    Args:
        folder: A new folder, outside any git repository.
        bank: The bank's folder; careeval's own bank if not given.
    """
    from careeval.bank.sealed import unseal, write_open

    texts = unseal(bank_folder(bank), _key())
    write_open(texts, folder)
    note = "keep them private, and seal them again when done"
    print(plain(f"{len(texts)} files in {folder}: {note}"))
    return OK


def _key() -> str:
    key = held_out_key()
    if key is None:
        raise UsageError(
            "the key of the held-out split is missing",
            hint="set CAREEVAL_HELD_OUT_KEY to the key, or to the path of its file",
        )
    return key


ExportForm = Literal["jsonl", "parquet"]


def export(
    folder: Path | None = None,
    *,
    to: Annotated[
        tuple[ExportForm, ...], Parameter(consume_multiple=True, negative=(), show_default=False)
    ] = (),
    out: Out | None = None,
) -> int:
    """Write a bank's public scenarios, items and probes as tables, with a Croissant file.

    Held-out scenarios are never written. Each row has the bank's canary. columns.md says what the
    columns hold; croissant.json describes the tables for programs, such as mlcroissant.

    Args:
        folder: The bank's folder, or plans for careeval's worlds; careeval's scenarios if not
            given.
        to: One or more of jsonl, parquet.
        out: The folder to write to; files of the same names are replaced.
    """
    from careeval.sheets.bank import write_bank

    if not to:
        raise UsageError("--to is missing: no format to write", hint=_HINT)
    if out is None:
        raise UsageError("--out is missing: no folder to write to", hint=_HINT)
    written = write_bank(load_bank(folder), out, to)
    size = sum(path.stat().st_size for path in written)
    say(f"Written: {len(written)} files, {size / 1e6:.1f} MB, in {out}")
    return OK


_HINT = "careeval bank export --to jsonl parquet -o FOLDER"
